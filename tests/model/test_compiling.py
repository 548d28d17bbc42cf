"""The cache of compiled kernels: where there is no place for it, where it is stale, damaged or somebody else's."""

import ast
import functools
import importlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import iostrata
import pytest
from iostrata.model import compiling
from iostrata.model.compiling import cached_njit, sources_of
from numba.core import config as numba_config

PACKAGE = Path(str(iostrata.__file__)).parent
TREE = Path(__file__).parents[2]
FLOORS = sorted(folder.name for folder in TREE.iterdir() if (folder / "__init__.py").is_file())
GUARDED = "model/compiling.py"
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


@functools.cache
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


def test_a_run_and_every_kernel_work_without_a_place_for_the_cache(tmp_path: Path, fixtures: Path) -> None:
    # A decorator that wants a place fails when its module is imported: one kernel is enough to be compiled.
    package = tmp_path / "iostrata"
    package.mkdir()
    shutil.copy(PACKAGE / "__init__.py", package)
    for floor in FLOORS:
        shutil.copytree(PACKAGE / floor, package / floor, ignore=shutil.ignore_patterns("__pycache__", "compiled"))
    places = [path / "__pycache__" for path in (package, *package.rglob("*")) if path.is_dir()]
    for place in places:
        # A file in the place of the folder keeps root out as well.
        place.write_bytes(b"")
    kernels = [
        name for name, path in sources(TREE).items() if any(one.startswith("model.kernels.") for one in imported(path))
    ]
    assert {"export/report/panels/volumes.py", "export/timeline/marks_kernel.py"} < set(kernels)
    modules = [".".join(["iostrata", *Path(name).with_suffix("").parts]) for name in kernels]
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONPATH": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    command = ["info", str(fixtures / "serial1")]
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path), json.dumps(modules), *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment, **nowhere},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (note,) = done.stderr.splitlines()
    assert note.startswith("iostrata: note: ")
    assert "NUMBA_CACHE_DIR" in note
    assert "POSIX" in done.stdout
    assert all(place.is_file() for place in places)


def test_other_errors_of_the_compiler_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("no such device")

    monkeypatch.setattr(compiling, "njit", refuse)
    with pytest.raises(RuntimeError, match="no such device"):
        cached_njit(lambda: None, nogil=True)(len)


def test_the_sources_of_a_kernel_are_all_that_its_file_imports() -> None:
    for name, path in sources(TREE).items():
        assert not any(one.partition(".")[0] == "iostrata" for one in imported(path)), name
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                module = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                names = [module / f"{alias.name}.py" for alias in node.names]
                there = {file for file in (module.with_suffix(".py"), module / "__init__.py", *names) if file.is_file()}
                assert there
                assert there <= sources_of(path), name


def test_a_change_in_any_source_of_a_kernel_is_another_key(tmp_path: Path) -> None:
    for name, path in sources(TREE).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / name)
    paths = sources(tmp_path).values()
    imports = re.compile(r"^from \.+(model\.)?kernels import", re.MULTILINE)
    with_kernels = [path for path in paths if imports.search(path.read_text())]
    assert len(with_kernels) > 20

    def stamps() -> dict[Path, str]:
        return {path: compiling._stamp(path) for path in with_kernels}

    needed = {path: sources_of(path) for path in with_kernels}
    before = stamps()
    for source in set().union(*needed.values()):
        compiling._read.cache_clear()
        content = source.read_bytes()
        source.write_bytes(content + b"\n")
        changed = {path for path, stamp in stamps().items() if stamp != before[path]}
        assert changed == {path for path in with_kernels if source in needed[path]}, source
        source.write_bytes(content)
    compiling._read.cache_clear()


CALLER = """
from iostrata.model.kernels import compiled
from .called import FACTOR, increased, pair

@compiled
def total(numbers):
    return FACTOR * increased(numbers.first) + numbers.second

def run():
    return total(pair(3, 4)), sum(total.stats.cache_hits.values())
"""

CALLED = """
from typing import NamedTuple
from iostrata.model.kernels import inlined

FACTOR = 2

@inlined
def increased(number):
    return number + 1

class Pair(NamedTuple):
    first: int
    second: int

def pair(first, second):
    return Pair(first, second)
"""


def small_package(place: Path) -> Path:
    """Return the folder of a small package whose kernel in one file calls that in another."""
    folder = place / "small"
    folder.mkdir()
    for name, text in (("__init__", ""), ("caller", CALLER), ("called", CALLED)):
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return the folder of a small package of which nothing is compiled."""
    return small_package(tmp_path)


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small package whose kernel is compiled and kept."""
    folder = small_package(tmp_path_factory.mktemp("compiled"))
    assert run_kernel(folder) == (12, 0)
    return folder


@pytest.fixture
def kept(compiled_once: Path, tmp_path: Path) -> Iterator[Path]:
    """Return the same folder; what a test changes in it and in its cache is put back."""
    sound = shutil.copytree(compiled_once.parent, tmp_path / "sound")
    yield compiled_once
    shutil.rmtree(compiled_once.parent)
    shutil.copytree(sound, compiled_once.parent)


RUN = """
from iostrata.model.compiling import compiled_in_vain
from small.caller import run
print(*run(), int(compiled_in_vain()))
"""


def run_kernel(package: Path) -> tuple[int, int]:
    """Return what the kernel computes, and how often its code came out of the cache, of modules imported anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba_config, "CACHE_DIR", str(package.parent / "cache"))
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.syspath_prepend(package.parent)
        for name in ("small", "small.caller", "small.called"):
            patch.delitem(sys.modules, name, raising=False)
        compiling._read.cache_clear()
        compiling.compiled_in_vain()
        found: tuple[int, int] = importlib.import_module("small.caller").run()
        assert compiling.compiled_in_vain() == (not kept_files(package))
        for name in ("small", "small.caller", "small.called"):
            del sys.modules[name]
    return found


def kept_files(package: Path) -> list[Path]:
    """Return the files of the cache."""
    return sorted(path for path in (package.parent / "cache").rglob("*") if not path.is_dir())


def test_a_kernel_is_compiled_once(package: Path) -> None:
    assert run_kernel(package) == (12, 0)
    assert run_kernel(package) == (12, 1)


def test_what_is_compiled_and_not_kept_is_told(package: Path) -> None:
    code = (
        "from iostrata.model.kernels import on_compiling\n"
        "from small.caller import run\n"
        "told = []\n"
        "end = on_compiling(lambda: told.append(1))\n"
        "run(); end(); print(len(told))"
    )
    counts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-B", "-c", code],
            capture_output=True,
            text=True,
            cwd=package.parent,
            env={**os.environ, "NUMBA_CACHE_DIR": str(package.parent / "cache")},
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        counts.append(int(done.stdout))
    assert counts[0] > 0
    assert counts[1] == 0


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("number + 1", "number + 9", 28),
        ("FACTOR = 2", "FACTOR = 5", 24),
        ("Pair", "Couple", 12),
        ("first: int\n    second: int", "second: int\n    first: int", 13),
    ],
    ids=["function", "constant", "renamed class", "order of fields"],
)
def test_a_change_in_another_file_shows_at_once(kept: Path, old: str, new: str, result: int) -> None:
    called = kept / "called.py"
    status = called.stat()
    before = kept_files(kept)
    called.write_text(CALLED.replace(old, new))
    os.utime(called, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run_kernel(kept) == (result, 0)
    assert len(kept_files(kept)) == len(before)  # nothing is left of the old state
    assert not set(kept_files(kept)) & set(before)


def leave(_: Path) -> None:
    pass


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_link(path: Path) -> None:
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)


def let_others_write(path: Path) -> None:
    path.chmod(0o666)


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    os.chown(path, 1, 1)


@pytest.mark.parametrize(
    "damage", [cut, empty, zero, flip, put_folder, put_pipe, put_link, let_others_write, give_away, leave]
)
def test_what_was_not_written_so_is_not_used(kept: Path, damage: Callable[[Path], None]) -> None:
    files = kept_files(kept)
    assert files
    for path in files:
        damage(path)
    assert run_kernel(kept) == (12, int(damage is leave))


def test_what_was_kept_in_the_package_serves_where_nothing_can_be_written(package: Path) -> None:
    """As in an image whose kernels were compiled when it was made."""
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    command = [sys.executable, "-B", "-c", RUN]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    subprocess.run(command, check=True, capture_output=True, cwd=package.parent, env=environment)
    assert list((package / "__pycache__").glob("*.nbc"))
    mounts = 'mount -o remount,bind,ro / && cd "$0" && exec "$@"'
    nowhere = {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none"}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mounts, str(package.parent), *command],
        capture_output=True,
        text=True,
        env={**environment, **nowhere},
        check=False,
    )
    assert (done.stderr, done.stdout.split()) == ("", ["12", "1", "0"])


def test_a_cache_that_cannot_be_written_changes_nothing(package: Path) -> None:
    command = [sys.executable, "-B", "-c", RUN]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=package.parent,
        env={**os.environ, "NUMBA_CACHE_DIR": str(package.parent / "cache")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        check=False,
    )
    assert (done.stderr, done.stdout.split()) == ("", ["12", "0", "1"])
    assert kept_files(package) == []
