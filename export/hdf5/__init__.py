"""Traces as HDF5 files that are netCDF-4, too."""
