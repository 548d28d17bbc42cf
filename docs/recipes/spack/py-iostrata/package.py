"""Spack package of iostrata; put the folder into a repository of your own.

The Python modules of OTF2 are no package of Spack: add them to its view by ``pip install --no-deps otf2``.
"""

from spack.package import *


class PyIostrata(PythonPackage):
    """Layered I/O bandwidth, periods and cross-layer numbers from Score-P/OTF2 traces and other recorders."""

    # Where the centre keeps a clone.
    git = "file:///opt/src/iostrata"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("parquet", default=True, description="Tables in Parquet: collect, convert")
    variant("plot", default=False, description="Pictures by matplotlib")

    depends_on("python@3.11:3.13", type=("build", "run"))
    depends_on("py-setuptools@77:", type="build")
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-h5py@3.15:", type=("build", "run"))
    depends_on("py-h5netcdf@1.3:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-numba@0.60:0.68", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-pyarrow@16:", type=("build", "run"), when="+parquet")
    depends_on("py-matplotlib@3.8:", type=("build", "run"), when="+plot")
