"""Kernels where numba has no place for its cache: a package that cannot be written to, and no home."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import iostrata
import pytest
from iostrata.model.kernels import cached_njit

CODE = """
import sys, iostrata
assert iostrata.__file__.startswith(sys.argv[1]), iostrata.__file__
from iostrata.signals.construction import step_signal
print(step_signal([0.0], [2.0], [8.0]).sample(1.0).values.tolist())
"""


def test_signals_work_without_a_place_for_the_cache(tmp_path: Path) -> None:
    installed = Path(str(iostrata.__file__)).parent
    package = tmp_path / "iostrata"
    package.mkdir()
    shutil.copy(installed / "__init__.py", package)
    for folder in ("model", "signals"):
        shutil.copytree(installed / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__"))
        # A file in the place of the folder keeps root out as well.
        (package / folder / "__pycache__").write_bytes(b"")
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONPATH": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**environment, **nowhere},
    )
    assert (done.stdout, done.stderr) == ("[4.0, 4.0]\n", "")
    assert all((package / folder / "__pycache__").is_file() for folder in ("model", "signals"))


def test_other_errors_of_the_compiler_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("no such device")

    monkeypatch.setattr("iostrata.model.kernels.njit", refuse)
    with pytest.raises(RuntimeError, match="no such device"):
        cached_njit(nogil=True)(len)
