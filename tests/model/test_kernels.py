"""Loops that came compiled: called with the types that they are for, with arrays of other layouts, and with others."""

import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from iostrata.model import kernels
from iostrata.model.range_kernels import union_in_order
from numba import types

TREE = Path(__file__).parents[2]
FLOORS = sorted(folder.name for folder in TREE.iterdir() if (folder / "__init__.py").is_file())
WHOLE = 0x401


def array(dtype: str, dimensions: int = 1, flags: int = WHOLE) -> dict[str, Any]:
    return {"array": dtype, "dimensions": dimensions, "flags": flags}


def loop(*ways: tuple[list[Any], Any]) -> Any:
    def summed() -> None:
        """Add up."""

    return kernels._Loop(summed, list(ways))


@pytest.fixture(scope="module")
def ci(pytestconfig: pytest.Config) -> Any:
    """Return the module that compiles loops into C functions."""
    if pytestconfig.getoption("signatures"):
        pytest.skip("the list that this is about is being written")
    spec = spec_from_file_location("compile_kernels", TREE / ".ci" / "compile_kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_function_for_the_types_is_taken() -> None:
    chosen = loop(
        ([array("<i8"), "int64"], lambda *_: "integers"),
        ([array("<f8"), "int64"], lambda *_: "numbers"),
        ([array("<f8", 2), "none"], lambda *_: "table"),
        ([{"tuple": [array("<i8"), "uint64"], "class": "x:Y"}, "bool"], lambda *_: "pair"),
    )
    for _ in range(2):
        assert chosen(np.arange(3), 1) == "integers"
        assert chosen(np.arange(3.0), np.int32(1)) == "numbers"
        assert chosen(np.ones((2, 2)), None) == "table"
        assert chosen((np.arange(3), np.uint64(2)), True) == "pair"
        assert chosen((np.arange(3), 2), np.bool_(True)) == "pair"


@pytest.mark.parametrize(
    "arguments",
    [
        (np.arange(3, dtype=np.int32), 1),
        (np.arange(3).reshape(1, 3), 1),
        (np.arange(3), 1.5),
        (np.arange(3), None),
        (np.arange(3), "1"),
        (3, 1),
        ([0, 1, 2], 1),
        ((np.arange(3), 1), 1),
        (np.arange(3),),
    ],
    ids=str,
)
def test_no_function_is_called_with_what_it_was_not_compiled_for(arguments: tuple[Any, ...]) -> None:
    # A C function takes each argument for what it was compiled for: memory would be read that is none of it.
    with pytest.raises(TypeError, match="summed was not compiled for"):
        loop(([array("<i8"), "int64"], lambda *_: pytest.fail("called")))(*arguments)


def test_what_stands_otherwise_in_memory_is_copied_and_copied_back() -> None:
    def doubled(values: Any, factor: Any) -> None:
        assert values.flags.carray
        values *= factor

    twice = loop(([array("<i8"), "int64"], doubled))
    whole = np.arange(8)
    twice(whole[::2], 10)
    assert whole.tolist() == [0, 1, 20, 3, 40, 5, 60, 7]
    fixed = np.arange(3)
    fixed.flags.writeable = False
    twice(fixed, 10)
    assert fixed.tolist() == [0, 1, 2]


def test_what_a_loop_did_not_change_is_not_copied_back() -> None:
    def advanced(counts: Any, again: Any, whole: Any) -> None:
        whole[1] = 50
        counts[0] += 1
        again[0] += 1
        again[2] = -0.0

    taken = loop(([array("<f8"), array("<f8"), array("<f8")], advanced))
    whole = np.zeros(6)
    whole[2] = np.nan
    taken(whole[::2], whole[::2], whole)
    assert whole[[0, 1, 3, 5]].tolist() == [2, 50, 0, 0]
    assert np.isnan(whole[2])
    assert np.signbit(whole[4])


def test_a_view_that_cannot_be_written_to_takes_part_in_what_another_one_changes() -> None:
    def copied(source: Any, target: Any) -> None:
        target[0] = source[1] + 1

    whole = np.arange(8)
    fixed = whole[::2]
    fixed.flags.writeable = False
    loop(([array("<i8"), array("<i8")], copied))(fixed, whole[::2])
    assert whole.tolist() == [3, 1, 2, 3, 4, 5, 6, 7]


def test_what_the_loop_takes_as_it_is_is_not_copied() -> None:
    seen: list[Any] = []
    given = loop(
        ([array("<i8", 1, 0), {"tuple": [array("<i8", 1, 0x1)], "class": "x:Y"}], lambda *all_: seen.extend(all_))
    )
    strided, fixed = np.arange(8)[::2], np.frombuffer(bytes(25), np.uint8)[1:].view(np.int64)
    assert not fixed.flags.aligned
    given(strided, (fixed,))
    assert seen[0] is strided
    assert seen[1][0] is fixed


def test_the_list_names_every_loop_of_the_package(ci: Any) -> None:
    files = [path for path in TREE.rglob("*.py") if path.relative_to(TREE).parts[0] in FLOORS]
    for path in files:
        if "import compiled" in path.read_text():
            importlib.import_module(".".join(["iostrata", *path.relative_to(TREE).with_suffix("").parts]))
    names = [one._name.partition(".") for one in gc.get_objects() if type(one) is kernels._Loop]
    entered = {name for package, _, name in names if package == "iostrata"} or ci.dispatchers().keys()
    assert entered == ci.listed().keys()


class Pair(NamedTuple):
    """Two columns."""

    first: Any
    second: Any


def test_a_kind_is_of_one_type(ci: Any) -> None:
    record = types.Array(types.Record([("a", {"type": types.int64, "offset": 0})], 8, False), 1, "C", aligned=False)
    for one in (
        types.int64,
        types.uint64,
        types.float64,
        types.boolean,
        types.none,
        types.Array(types.float64, 2, "A"),
        types.Array(types.uint8, 1, "C", readonly=True),
        record,
        types.Tuple([types.int64, types.float64]),
        types.BaseTuple.from_types([types.Array(types.int64, 1, "C"), types.int64], Pair),
    ):
        assert ci.numba_type(json.loads(json.dumps(ci.kind(one)))) == one, one


RUN = """
import json, sys
import numpy as np
sys.modules["numba"] = None  # so that importing it fails
from iostrata.model.range_kernels import union_in_order
columns = [np.array(column) for column in json.loads(sys.argv[1])]
print(json.dumps([column.tolist() for column in union_in_order(*columns)]))
"""


def test_loops_as_c_functions_need_no_numba(ci: Any, tmp_path: Path) -> None:
    if shutil.which("gcc") is None or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("nothing to compile C with")
    package = tmp_path / "iostrata"
    for floor in FLOORS:
        shutil.copytree(TREE / floor, package / floor, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TREE / "__init__.py", package)
    script = Path(shutil.copy(ci.__file__, tmp_path))
    few = {name: ways for name, ways in ci.listed().items() if name.startswith("model.range_kernels.")}
    script.with_name("signatures.json").write_text(json.dumps(few))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-B", script, package / "model" / "compiled"], check=True, env=environment)
    columns = [np.zeros(4, np.int64), np.array([0, 5, 9, 20]), np.array([2, 9, 12, 21])]
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUN, json.dumps([column.tolist() for column in columns])],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [column.tolist() for column in union_in_order(*columns)]
