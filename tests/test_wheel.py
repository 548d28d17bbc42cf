"""The wheel: all modules of the tree, the mark for type checkers, and nothing else but its metadata."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

TREE = Path(__file__).parents[1]
NOT_PACKAGED = {"tests", "benchmarks", "docs", "fixtures", "build", "dist", "demo"}
"""Folders at the top that hold no module of the package; hidden folders are none either."""


def modules(tree: Path) -> set[PurePosixPath]:
    """Return the modules of the package in `tree`, as they are called in a wheel."""
    found = set()
    for path in tree.rglob("*.py"):
        relative = path.relative_to(tree)
        folders = relative.parts[:-1]
        if any(folder.startswith(".") for folder in folders) or (folders and folders[0] in NOT_PACKAGED):
            continue
        found.add(PurePosixPath("iostrata", *relative.parts))
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what a wheel is made of: a build folder in the tree would put deleted modules into it."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        heavy = (".*", "*.egg-info", "fixtures", "build", "dist", "demo") if Path(folder) == TREE else ()
        return shutil.ignore_patterns("__pycache__", *heavy)(folder, names)

    return Path(shutil.copytree(TREE, tmp_path_factory.mktemp("wheel") / "tree", ignore=left_out, symlinks=True))


def run(*command: object) -> str:
    """Run a command to its end and return what it prints."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(copy: Path) -> Path:
    """Return the wheel as the package's own build makes it of the source distribution."""
    # In isolation, because the setuptools of an environment may be older than the one that pyproject.toml asks for.
    run(sys.executable, "-m", "build", "--outdir", copy.parent, copy)
    (built,) = copy.parent.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    """Return the names of all files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_has_every_module_and_nothing_else(names: list[str]) -> None:
    expected = modules(TREE)
    assert PurePosixPath("iostrata/__init__.py") in expected
    assert PurePosixPath("iostrata/cli/__main__.py") in expected
    content = {PurePosixPath(name) for name in names}
    assert len(content) == len(names)
    metadata = {path for path in content if path.parts[0].endswith(".dist-info")}
    page = {PurePosixPath("iostrata", *path.relative_to(TREE).parts) for path in TREE.glob("export/page/browser/*.*")}
    page.add(PurePosixPath("iostrata/export/json/keys.txt"))
    sources = [path for path in TREE.glob("live/scorep/**/*") if path.is_file()]
    plugin = {PurePosixPath("iostrata", *path.relative_to(TREE).parts) for path in sources}
    assert len(page) > 10
    assert PurePosixPath("iostrata/live/scorep/plugin.c") in plugin
    assert PurePosixPath("iostrata/live/scorep/layers/Makefile") in plugin
    assert content - metadata == expected | page | plugin | {PurePosixPath("iostrata/py.typed")}


SAMPLES = """
import iostrata
from iostrata.signals.construction import step_signal
print(iostrata.__file__, step_signal([0.0], [2.0], [8.0]).sample(1.0).values.tolist())
"""


def test_an_upgrade_gives_new_results_at_once(wheel: Path, tmp_path: Path) -> None:
    """Of two wheels that differ in a kernel, the second finds what the first compiled of a caller in another file."""
    newer = tmp_path / wheel.name
    statement = "    after = total + term\n"
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(newer, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "iostrata/signals/sweep.py":
                text = content.decode()
                doubled = text.replace(statement, f"    term = term + term\n{statement}")
                assert doubled != text
                content = doubled.encode()
            after.writestr(name, content)
    home = tmp_path / "home"
    run(sys.executable, "-m", "venv", "--without-pip", home)
    python = home / "bin" / "python"
    (site,) = home.glob("lib/python3*/site-packages")
    others = site / "others.pth"

    def results(upgrade: Path) -> str:
        others.unlink(missing_ok=True)
        options = ("--quiet", "--no-compile", "--no-deps", "--no-index", "--upgrade", "--force-reinstall")
        run(sys.executable, "-m", "pip", "--python", python, "install", *options, upgrade)
        # The libraries are those of this environment; its own iostrata comes behind.
        others.write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
        file, values = run(python, "-I", "-c", SAMPLES).split(maxsplit=1)
        assert Path(file).is_relative_to(site)
        return values.strip()

    assert results(wheel) == "[4.0, 4.0]"
    compiled = site / "iostrata" / "signals" / "__pycache__"
    old = set(compiled.glob("bins.bin_volumes.*.nbc"))
    assert old
    assert results(newer) == "[8.0, 8.0]"
    assert old.isdisjoint(compiled.glob("bins.bin_volumes.*.nbc"))


def test_every_folder_of_modules_is_a_package(names: list[str]) -> None:
    content = {PurePosixPath(name) for name in names}
    for path in content:
        if path.suffix == ".py":
            assert path.parent / "__init__.py" in content, path


def test_the_metadata_has_the_licence_and_the_command(names: list[str]) -> None:
    inside = [name.split(".dist-info/", 1)[1] for name in names if ".dist-info/" in name]
    assert {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"} <= set(inside)


def test_the_source_distribution_has_what_the_readme_shows_and_no_tests(copy: Path, names: list[str]) -> None:
    assert names
    (built,) = copy.parent.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        content = {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    links = re.findall(r"\]\(([^):]+)\)", (TREE / "README.md").read_text())
    assert len(links) > 5
    assert {PurePosixPath(link.partition("#")[0]) for link in links} <= content
    assert not [path for path in content if "tests" in path.parts]
