"""A signature in files: as a page, as netCDF-4, and as a picture."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...model.interrupts import kept_interrupts
from ...model.text import printable
from ...runs.signatures.signature import Signature
from ..atomic import atomic_file
from ..figure import write_figure
from ..hdf5.variables import GroupWriter, HDF5Storage
from ..page.html import write_page
from ..written import Written
from .signature_page import RUNS_SHOWN, signature_page


def write_signature(signature: Signature, path: Path, what: str) -> Written:
    """Write a signature as a page (.html) or as netCDF-4 (.h5, .nc), whole or not at all; raises OutputError."""
    if path.suffix.lower() in (".html", ".htm"):
        return write_page([signature_page(signature, what)], path)
    return _write_hdf5(signature, path, what)


def _write_hdf5(signature: Signature, path: Path, what: str) -> Written:
    import h5netcdf

    with atomic_file(path) as temporary:
        with (
            HDF5Storage(temporary) as storage,
            kept_interrupts(storage.interrupts),
            h5netcdf.File(storage, "w") as file,
        ):
            _write_groups(GroupWriter(file, storage), signature, what)
        size = temporary.stat().st_size
    return Written(path, size, bins=len(signature.signature), fs=1 / signature.interval_s)


def _write_groups(root: GroupWriter, signature: Signature, what: str) -> None:
    parameters = {name: value for name, value in signature.parameters.to_dict().items() if value is not None}
    root.attributes(
        Conventions="CF-1.11",
        title=f"I/O signature of {what}",
        source="iostrata",
        schema_version=1,
        **parameters,
    )
    root.dimension("time", len(signature.signature))
    root.dimension("burst", len(signature.bursts))
    root.dimension("run", len(signature.samples))
    time = (np.arange(len(signature.signature)) + 0.5) * signature.interval_s
    root.numbers("time", ("time",), time, units="s", long_name="time from the start of a run, middle of the interval")
    root.numbers(
        "signature",
        ("time",),
        signature.signature,
        units="byte s-1",
        long_name="throughput",
        cell_methods="time: mean",
    )
    columns = (
        ("start", "start_s", "s", "start of the burst"),
        ("peak", "peak_s", "s", "time before which half of the burst is written"),
        ("end", "end_s", "s", "end of the burst"),
        ("volume", "volume", "byte", "volume of the burst"),
    )
    for name, field, units, long_name in columns:
        root.floats(name, ("burst",), [getattr(burst, field) for burst in signature.bursts], units, long_name)
    root.text("run", ("run",), [sample.name for sample in signature.samples], long_name="name of the run")
    root.flags("used", ("run",), [sample.used for sample in signature.samples], "whether the run was used")
    members = [sample.name in burst.samples for burst in signature.bursts for sample in signature.samples]
    root.flags("supports", ("burst", "run"), members, "whether the run has the burst")


def write_signature_figure(signature: Signature, path: str | os.PathLike[str], what: str) -> Written:
    """Draw a signature above its runs on one axis of time, into a .png, .svg or .pdf.

    Raises MissingLibraryError where matplotlib is not installed, OutputError where the file cannot be written.
    """
    count = len(signature.prepared[:RUNS_SHOWN])
    return Written(Path(path), write_figure(lambda: _figure(signature, what), path, dpi=110), signals=1 + count)


def _figure(signature: Signature, what: str) -> Any:
    from matplotlib.figure import Figure

    shown = signature.prepared[:RUNS_SHOWN]
    picture: Any = Figure(figsize=(10, 1.6 + 1.1 * len(shown)), layout="constrained")
    axes = picture.subplots(1 + len(shown), 1, sharex=True, squeeze=False)[:, 0]
    edges = np.arange(len(signature.signature) + 1) * signature.interval_s
    axes[0].stairs(signature.signature, edges, fill=True, color="#084f8e")
    axes[0].set_title(printable(f"I/O signature of {what}"), loc="left")
    for ax, sample in zip(axes[1:], shown, strict=True):
        ax.stairs(sample.values, np.arange(len(sample.values) + 1) * sample.interval, fill=True, color="#4d5663")
        ax.set_ylabel(printable(sample.name)[:18], fontsize=8)
    for ax in axes:
        for burst in signature.bursts:
            ax.axvspan(burst.start_s, burst.end_s, color="#2b7a4b", alpha=0.18, lw=0)
        ax.set_ylim(bottom=0)
    axes[-1].set_xlabel("time (s)")
    return picture
