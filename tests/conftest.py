"""What all tests share: the profile of Hypothesis, the real archives, and small traces made by hand."""

import fcntl
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from iostrata import Trace
from iostrata.cli import main
from iostrata.export.json.schema import closed
from iostrata.export.json.schemas import COMMANDS, command_schema
from iostrata.layers.attribution.stream import KeptEvents, Stream
from iostrata.layers.handles.scope import Scope
from iostrata.layers.handles.stack import layer_order
from iostrata.layers.selection.files import select_files
from iostrata.layers.selection.window import trace_window
from iostrata.layers.trace import trace_of
from iostrata.model.arrays import column_types
from iostrata.model.codes import (
    UNDEFINED_TIME,
    UNDEFINED_UINT8,
    UNDEFINED_UINT32,
    UNDEFINED_UINT64,
    IoMode,
    IoRecord,
    Status,
)
from iostrata.model.definitions import (
    Clock,
    Definitions,
    Files,
    Handles,
    LocationGroups,
    Locations,
    Paradigm,
    SystemTree,
)
from iostrata.model.events import IoEvents
from iostrata.model.kernels import SHIPPED, dtype_of, misfit
from iostrata.model.operations import Operations
from iostrata.model.stream.source import Tally
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from .held import Held

# Examples may take any time: a kernel is compiled within the first, and machines differ and are busy. Fixtures of
# functions are shared by all examples on purpose: they make things and keep nothing.
# `--hypothesis-profile thorough` tries more than a run of all tests has the time for.
os.environ["IOSTRATA_CONFIG"] = ""  # whoever runs the tests may have defaults of their own
for profile, examples in (("any-machine", 40), ("thorough", 400)):
    settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        print_blob=True,
        # Every machine tries the same examples: a run that fails somewhere fails everywhere.
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile("any-machine")


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of the real archives."""
    return Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def held(request: pytest.FixtureRequest, fixtures: Path, tmp_path: Path) -> Held:
    """Return what compares whole results with the stored ones of the folder that a test is in."""
    room = request.path.parent.relative_to(Path(__file__).parent)
    replaced = {str(tmp_path): "TMP", str(fixtures): "FIXTURES"}
    return Held(fixtures / "expected" / room, request.config.getoption("renew"), replaced)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what runs a command in this process and returns its document, or the lines that it prints."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: object) -> Any:
        capsys.readouterr()
        code = main([str(one) for one in arguments])
        out, err = capsys.readouterr()
        assert code in (0, 3), err
        if arguments[0] == "watch" and "--json" in arguments:
            return [json.loads(one) for one in out.splitlines()]
        return json.loads(out) if "--json" in arguments else out.splitlines()

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options: tests of recordings that are not in the repository, and no others; types of loops written anew."""
    parser.addoption("--recordings", type=Path, metavar="FOLDER", help="run the tests of the recordings in a folder")
    parser.addoption("--renew", action="store_true", help="write the results in fixtures/expected anew")
    parser.addoption("--signatures", action="store_true", help="add what loops are called with to .ci/signatures.json")


@pytest.fixture(scope="session", autouse=True)
def loops_called_with_listed_types(pytestconfig: pytest.Config) -> Iterator[None]:
    """Check that loops that are compiled for the types in .ci/signatures.json take all that they were called with.

    Loops that are C functions refuse whatever else they are called with.
    """
    yield
    if SHIPPED:
        return
    spec = spec_from_file_location("compile_kernels", Path(__file__).parents[1] / ".ci" / "compile_kernels.py")
    assert spec is not None
    ci = module_from_spec(spec)
    spec.loader.exec_module(ci)
    add = pytestconfig.getoption("signatures")
    with open(ci.__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listed = ci.listed()
        missing = []
        for loop, ways in ci.called().items():
            of_loop = listed.setdefault(loop, [])
            for kinds in ways:
                misfits = [misfit({"tuple": one}, tuple(map(form_of_kind, kinds))) for one in of_loop]
                closest = min(misfits, default=np.inf)
                if np.isinf(closest) or (add and closest > 0):
                    of_loop.append(kinds)
                    missing.append((loop, kinds))
        if add:
            ci.write(listed)
        else:
            assert not missing, f"loops are called with types that wheels do not have: {missing}; run make loop-types"


def form_of_kind(kind: Any) -> Any:
    """Return the form of an argument of this kind, as the loops of a wheel see it."""
    if isinstance(kind, str):
        return type(None) if kind == "none" else np.dtype(kind).type
    if "tuple" in kind:
        return tuple(map(form_of_kind, kind["tuple"]))
    return dtype_of(kind["array"]), kind["dimensions"], kind["flags"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out either the tests of recordings or all others."""
    wanted = config.getoption("recordings") is not None
    left_out = [one for one in items if (one.get_closest_marker("recordings") is not None) != wanted]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [one for one in items if (one.get_closest_marker("recordings") is not None) == wanted]


@pytest.fixture(scope="session")
def recordings(pytestconfig: pytest.Config) -> Path:
    """Return the folder of recordings that are not in the repository, for tests marked ``recordings``."""
    folder: Path = pytestconfig.getoption("recordings")
    return folder.resolve()


KNOWN = {
    "netCDF": (True, False),
    "HDF5": (True, False),
    "MPI-IO": (True, False),
    "ISOC": (False, False),
    "POSIX": (False, True),
}
PROCESSES = 3


def definitions_of(
    handles: Sequence[tuple[str | None, str | None, int]],
    paradigms: Sequence[str | Paradigm] = ("POSIX", "ISOC", "MPI-IO", "HDF5", "netCDF"),
    precreated: Sequence[int] = (),
    length: int = 1000,
    ticks_per_second: int = 100,
) -> Definitions:
    """Handles are (paradigm, file, parent row); ids are 10 + row, of files 50 + row, of paradigms 3 + row."""
    table = tuple(
        entry if isinstance(entry, Paradigm) else Paradigm(3 + row, entry, entry, *KNOWN.get(entry, (False, False)), ())
        for row, entry in enumerate(paradigms)
    )
    row_of = {paradigm.identification: row for row, paradigm in enumerate(table)}
    names = list(dict.fromkeys(file for _, file, _ in handles if file is not None))
    count = len(handles)
    made = np.zeros(count, bool)
    made[list(precreated)] = True
    return Definitions(
        clock=Clock(ticks_per_second, 0, length, None),
        system_tree=SystemTree(
            np.arange(2, dtype=np.uint32), ("m", "n"), ("machine", "node"), np.array([-1, 0], np.int32)
        ),
        groups=LocationGroups(
            np.arange(PROCESSES, dtype=np.uint32),
            tuple(f"rank {row}" for row in range(PROCESSES)),
            np.ones(PROCESSES, np.uint8),
            np.ones(PROCESSES, np.int32),
            np.arange(PROCESSES, dtype=np.int32),
        ),
        locations=Locations(
            np.arange(PROCESSES, dtype=np.uint64),
            tuple(f"thread {row}" for row in range(PROCESSES)),
            np.ones(PROCESSES, np.uint8),
            np.zeros(PROCESSES, np.uint64),
            np.arange(PROCESSES, dtype=np.int32),
        ),
        paradigms=table,
        files=Files(
            np.arange(50, 50 + len(names), dtype=np.uint32),
            tuple(names),
            np.zeros(len(names), bool),
            np.full(len(names), -1, np.int32),
            tuple({} for _ in names),
        ),
        handles=Handles(
            np.arange(10, 10 + count, dtype=np.uint32),
            tuple("" if file is not None else f"stream {row}" for row, (_, file, _) in enumerate(handles)),
            np.array([-1 if file is None else names.index(file) for _, file, _ in handles], np.int32),
            np.array([-1 if paradigm is None else row_of[paradigm] for paradigm, _, _ in handles], np.int32),
            made.astype(np.uint32),
            np.full(count, UNDEFINED_UINT32, np.uint32),
            np.array([parent for _, _, parent in handles], np.int32),
            made,
            np.full(count, UNDEFINED_UINT8, np.uint8),
            np.zeros(count, np.uint32),
        ),
        location_sets=(),
        communicators=(),
        attributes={},
    )


def operations_of(rows: Sequence[dict[str, Any]]) -> Operations:
    """Rows may have handle, begin, end (None: never completed), moved, requested (None: undefined), mode, flags."""
    rows = sorted(rows, key=lambda row: row["begin"])

    def column(key: str, default: Any, undefined: int, dtype: type) -> np.ndarray:
        values = [row.get(key, default) for row in rows]
        return np.array([undefined if value is None else value for value in values], dtype)

    ended = np.array([row.get("end") is not None for row in rows], bool)
    status = column("status", Status.COMPLETE, 0, np.uint8)
    status[~ended] = Status.NEVER_COMPLETED
    moved = column("moved", None, UNDEFINED_UINT64, np.uint64)
    moved[status != Status.COMPLETE] = UNDEFINED_UINT64
    process = column("process", 0, 0, np.int32)
    return Operations(
        location=process,
        end_location=np.where(ended, process, -1).astype(np.int32),
        process=process,
        handle=column("handle", 0, -1, np.int32),
        mode=column("mode", IoMode.WRITE, 0, np.uint8),
        flags=column("flags", 0, 0, np.uint32),
        begin=column("begin", 0, 0, np.int64),
        issued=np.full(len(rows), UNDEFINED_TIME, np.int64),
        end=column("end", None, UNDEFINED_TIME, np.int64),
        requested=column("requested", None, UNDEFINED_UINT64, np.uint64),
        moved=moved,
        offset=np.full(len(rows), UNDEFINED_UINT64, np.uint64),
        matching=np.ones(len(rows), np.uint64),
        tests=np.zeros(len(rows), np.uint32),
        status=status,
    )


def events_of(rows: Sequence[dict[str, Any]]) -> IoEvents:
    """Rows have kind and time, and may have location, handle (an id), mode and value."""
    defaults = {"location": 0, "handle": UNDEFINED_UINT32, "mode": 0, "flags": 0, "matching": 0, "value": 0}
    names = ("location", "kind", "time", "handle", "mode", "flags", "matching", "value", "offset")
    full = [{**defaults, "offset": UNDEFINED_UINT64, **row} for row in rows]
    return IoEvents(
        *(np.array([row[name] for row in full], kind) for name, kind in zip(names, column_types(IoEvents), strict=True))
    )


@pytest.fixture(scope="session")
def make_definitions() -> Callable[..., Definitions]:
    return definitions_of


@pytest.fixture(scope="session")
def make_operations() -> Callable[..., Operations]:
    return operations_of


@pytest.fixture(scope="session")
def make_events() -> Callable[..., IoEvents]:
    return events_of


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Trace]:
    """Make a trace from rows as `definitions_of`, `operations_of` and `events_of` take them."""

    def make(
        handles: Sequence[tuple[str | None, str | None, int]],
        operations: Sequence[dict[str, Any]] | Operations = (),
        events: Sequence[dict[str, Any]] = (),
        files: str = "application",
        **options: Any,
    ) -> Trace:
        definitions = definitions_of(handles, **options)
        columns = operations if isinstance(operations, Operations) else operations_of(operations)
        found = events_of(events)
        other = (found.kind < IoRecord.OPERATION_BEGIN) | (found.kind > IoRecord.OPERATION_CANCELLED)
        window = trace_window(definitions.clock, columns.extent)
        selection, order = select_files(definitions, files), layer_order(definitions)
        scope = Scope(definitions, order, selection, window, (window.start, window.end), exact=True)
        tally = Tally()
        tally.io_events = len(events)
        stream = Stream(Path("made/by/hand.otf2"), "direct", scope, None, KeptEvents(columns, found.take(other)))
        return trace_of(stream, tally)

    return make


DAMAGE = Path(__file__).parents[1] / "benchmarks" / "damage"


@pytest.fixture(scope="session")
def made() -> Iterator[SimpleNamespace]:
    """Return what writes archives record by record."""
    before = set(sys.modules)
    sys.path.insert(0, str(DAMAGE))
    try:
        import every_record  # type: ignore[import-not-found]
        import records  # type: ignore[import-not-found]

        yield SimpleNamespace(records=records, base=every_record.every_record)
    finally:
        sys.path.remove(str(DAMAGE))
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(DAMAGE)):
                del sys.modules[name]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what installs a distribution with entry points of a group and modules, as a package manager does."""
    monkeypatch.syspath_prepend(tmp_path)

    def installed(distribution, entries, group="iostrata.tests", **modules):
        # Each in a folder of its own: what is on the path is looked at once.
        folder = tmp_path / distribution
        (folder / f"{distribution}-1.0.dist-info").mkdir(parents=True)
        lines = [f"{name} = {value}" for name, value in entries]
        (folder / f"{distribution}-1.0.dist-info" / "entry_points.txt").write_text(
            "\n".join(["[console_scripts]", "it = it:main", "", f"[{group}]", *lines, ""])
        )
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        return folder

    return installed


@functools.cache
def _validator_of(command: str) -> Any:
    return Draft202012Validator(closed(command_schema(command)))


@pytest.fixture(scope="session")
def check_documents() -> Callable[[str, str], None]:
    """Return a function that checks what a command printed by the schema of its document, which has all its keys."""

    def check(command: str, text: str) -> None:
        known = command if command in COMMANDS else "overview"
        for document in text.splitlines() if known == "watch" else [text]:
            error = best_match(_validator_of(known).iter_errors(json.loads(document)))
            assert error is None, f"{error.json_path}: {error.message[:600]}"

    return check
