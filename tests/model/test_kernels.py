"""Kernels where numba has no place for its cache: a package that cannot be written to, and no home."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import iostrata
import pytest
from iostrata.model.kernels import cached_njit

PACKAGE = Path(str(iostrata.__file__)).parent
TREE = Path(__file__).parents[2]
FLOORS = sorted(folder.name for folder in TREE.iterdir() if (folder / "__init__.py").is_file())
GUARDED = "model/kernels.py"
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "jitclass"}
"""What of numba compiles; elsewhere than in `GUARDED`, it would fail where there is no cache."""

CODE = """
import importlib, json, sys
import iostrata
assert iostrata.__file__.startswith(sys.argv[1]), iostrata.__file__
from iostrata.signals.construction import step_signal
assert step_signal([0.0], [2.0], [8.0]).sample(1.0).values.tolist() == [4.0, 4.0]
modules = json.loads(sys.argv[2])
for name in modules:
    importlib.import_module(name)
from iostrata.cli import main
sys.exit(main(sys.argv[3:]))
"""


def imported(path: Path) -> set[str]:
    """Return what a file imports, anywhere in it, as ``module.name``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def sources(tree: Path) -> dict[str, Path]:
    """Return the files of the package by their paths in the tree."""
    return {str(path.relative_to(tree)): path for floor in FLOORS for path in sorted((tree / floor).rglob("*.py"))}


def unguarded(tree: Path) -> list[str]:
    """Return the files that compile by numba itself."""
    return [
        name
        for name, path in sources(tree).items()
        if name != GUARDED
        for one in imported(path)
        if one == "numba" or (one.startswith("numba.") and one.split(".")[-1] in COMPILERS)
    ]


def test_every_kernel_is_compiled_by_the_guarded_decorators() -> None:
    assert unguarded(TREE) == []


def test_a_bare_decorator_is_found(tmp_path: Path) -> None:
    for floor, text in (("model", "from numba import njit"), ("signals", "def f():\n    import numba")):
        (tmp_path / floor).mkdir()
        (tmp_path / floor / "a.py").write_text(text)
    assert sorted(unguarded(tmp_path)) == ["model/a.py", "signals/a.py"]


def test_a_report_and_every_kernel_work_without_a_place_for_the_cache(tmp_path: Path, fixtures: Path) -> None:
    package = tmp_path / "iostrata"
    package.mkdir()
    shutil.copy(PACKAGE / "__init__.py", package)
    for floor in FLOORS:
        shutil.copytree(PACKAGE / floor, package / floor, ignore=shutil.ignore_patterns("__pycache__"))
    places = [path / "__pycache__" for path in (package, *package.rglob("*")) if path.is_dir()]
    for place in places:
        # A file in the place of the folder keeps root out as well.
        place.write_bytes(b"")
    kernels = [
        name for name, path in sources(TREE).items() if any(one.startswith("model.kernels.") for one in imported(path))
    ]
    assert {"export/report/panels/heat_map.py", "export/timeline/marks_kernel.py"} < set(kernels)
    modules = [".".join(["iostrata", *Path(name).with_suffix("").parts]) for name in kernels]
    page = tmp_path / "page.html"
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONPATH": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    command = ["report", str(fixtures / "serial1"), "-o", str(page)]
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path), json.dumps(modules), *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment, **nowhere},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"wrote {page}: ")
    assert all(place.is_file() for place in places)


def test_other_errors_of_the_compiler_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("no such device")

    monkeypatch.setattr("iostrata.model.kernels.njit", refuse)
    with pytest.raises(RuntimeError, match="no such device"):
        cached_njit(nogil=True)(len)
