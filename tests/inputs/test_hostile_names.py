"""Names that act on terminals, pages or formats, out of the files of other recorders: shown as text, kept or marked."""

import csv
import importlib.util
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem + "_for_names", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


made = _loaded(TESTS / "archives" / "recorders.py")
commands = _loaded(TESTS.parent / "benchmarks" / "damage" / "commands.py")

CONTROL = "".join(map(chr, [*range(1, 32), *range(127, 160)]))
LONG = "/g/" + "x" * 100_000
KEPT = [
    f"/a/{CONTROL}",
    "/b/\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "/c/</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "/d/\u202egnp.exe\u2066\u2028\u2029",
    '=HYPERLINK("x")',
    '/e/ "quotes"\',;\\\\ &amp; ${x} {{y}}',
    "[bold red]markup[/]",
    LONG,
    "/h/\ufffe\uffff\U0010ffff",
]
"""Names that any format with text of its own can hold."""
HALF, NUL = "/w/\ud800 \udcff", "/n/ nul\0 within"
LAYER, NODE = "lay\x1b[31m</script>er", "node\x1b[2J</script>"
TIMES = [(second + 1.0, second + 1.5) for second in range(0, 60, 10)]


def rows(names: list[str]) -> list[dict[str, Any]]:
    return [
        {"layer": layer, "rank": rank, "start": begin - 0.1 * (layer == LAYER), "end": end + 0.1 * (layer == LAYER),
         "bytes": 1000, "mode": "write", "file": name, "node": f"{NODE}{rank}"}
        for name in names for begin, end in TIMES for rank in range(2) for layer in (LAYER, "POSIX")
    ]  # fmt: skip


def json_lines(path: Path) -> Path:
    path.write_text("\n".join(map(json.dumps, rows([*KEPT, HALF, NUL]))))
    return path


def comma_separated(path: Path) -> Path:
    text = io.StringIO()
    table = rows([*KEPT, HALF])
    writer = csv.DictWriter(text, list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    path.write_bytes(text.getvalue().encode("utf-8", "surrogatepass"))
    return path


def parquet(path: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.Table.from_pylist(rows([*KEPT, NUL])), path)
    return path


def dftracer(path: Path) -> Path:
    second, start = 10**6, 1_700_000_000 * 10**6
    lines = [made.dftracer_metadata("HH", NODE, 5)]
    for number, name in enumerate([*KEPT, HALF, NUL]):
        known = {"fhash": f"h{number}", "hhash": 5, "fd": 3 + number}
        lines.append(made.dftracer_metadata("FH", name, f"h{number}"))
        for begin, _ in TIMES:
            at = start + int(begin) * second + number * 1000
            lines += [
                made.dftracer_event("open64", at, 10, fhash=known["fhash"], hhash=5, ret=known["fd"], flags=0),
                made.dftracer_event("write", at + 100, 500, ret=1000, count=1000, **known),
                made.dftracer_event("close", at + 900, 5, ret=0, **known),
            ]
    path.write_text("[\n" + "\n".join(lines) + "\n]\n")
    return path


def darshan(path: Path) -> Path:
    names = dict(enumerate([*KEPT, "/raw/\udcff\udc80"], 1))
    traced = [made.dxt(one, 0, [(0, 1000, *times) for times in TIMES]) for one in names]
    counted = [made.posix(one, 0, 0, len(TIMES), 0, 1000 * len(TIMES)) for one in names]
    modules = {"POSIX": (4, counted), "DXT_POSIX": (1, traced)}
    path.write_bytes(bytes(made.DarshanLog(modules=modules, names=names, length=70.0)))
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "x.jsonl": json_lines,
    "x.csv": comma_separated,
    "x.parquet": parquet,
    "x.pfw": dftracer,
    "x.darshan": darshan,
}
COMMANDS = (
    *(("info",), ("overview",), ("layers", "--by", "file"), ("layers", "--by", "node", "--json"), ("handles",)),
    *(("periods", "--by", "file"), ("compare",), ("compare", "--json")),
    *(("report", "-o", "{out}.html"), ("diff", "{self}", "-o", "{out}.html"), ("diff", "{self}")),
    *(("signature", "{self}"), ("signature", "{self}", "-o", "{out}.html"), ("schedule", "--plot", "{out}.svg")),
    *(("assess", "--segment", "1"), ("assess", "--segment", "1", "-o", "{out}.html")),
    *(("convert", f"{{out}}.{suffix}") for suffix in ("h5", "parquet", "perfetto.json", "otf2")),
)


FEW = (("overview",), ("layers", "--by", "file"), ("handles", "--json"), ("report", "-o", "{out}.html"))
"""What shows whether names came in as from any other recorder."""


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "x.jsonl"])
def test_names_of_every_recorder_are_text(tmp_path: Path, name: str) -> None:
    path, room = WRITERS[name](tmp_path / name), tmp_path / "room"
    room.mkdir()
    assert commands.faults(path, FEW, room) == []
    assert set(KEPT) <= set(texts(json.loads(run("layers", path, "--by", "file", "--json"))))


def test_no_command_acts_on_a_name_and_all_it_writes_can_be_read(tmp_path: Path) -> None:
    """With readers that are not ours; nothing printed holds a control character."""
    path, room = json_lines(tmp_path / "x.jsonl"), tmp_path / "room"
    room.mkdir()
    given = tuple(tuple(part.replace("{self}", str(path)) for part in command) for command in COMMANDS)
    assert commands.faults(path, given, room) == []
    status, printed, said = commands.run_command(["watch", "--replay", str(path)])
    assert (status, said) == (0, "")
    assert not commands._CONTROL.search(printed)
    assert commands.run_command(["collect", str(path), "-o", str(room / "runs"), "--workers", "1"])[0] == 0
    assert commands.faults(room / "runs", (("report", "-o", "{out}.html"), ("diff", str(path))), room) == []


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def run(*arguments: object) -> str:
    status, printed, said = commands.run_command([*map(str, arguments)])
    assert (status, said) == (0, ""), said
    return str(printed)


def test_names_are_kept_or_marked_in_every_format(tmp_path: Path) -> None:
    """Halves of characters become escapes; a NUL, too, where a format has none; a long one is cut in timelines."""
    path, out = json_lines(tmp_path / "x.jsonl"), tmp_path / "out"
    half, nul = "/w/\\ud800 \\udcff", "/n/ nul\\x00 within"
    layers = json.loads(run("layers", path, "--by", "file", "--json"))
    assert {*KEPT, half, NUL, LAYER} <= set(texts(layers))
    nodes = json.loads(run("layers", path, "--by", "node", "--json"))
    assert {f"{NODE}0", f"{NODE}1"} <= set(texts(nodes))

    pq = pytest.importorskip("pyarrow.parquet")
    run("convert", path, f"{out}.parquet")
    columns = pq.read_table(f"{out}.parquet")
    assert set(columns["file"].to_pylist()) == {*KEPT, half, NUL}
    assert set(columns["layer"].to_pylist()) == {LAYER, "POSIX"}

    run("convert", path, f"{out}.perfetto.json")
    events = set(texts(json.loads(Path(f"{out}.perfetto.json").read_text())))
    assert {*KEPT, half, NUL} - {LONG} <= events
    assert any("x" * 50 in one and "…" in one for one in events)

    h5py = pytest.importorskip("h5py")
    run("convert", path, f"{out}.h5")
    found: list[str] = []

    def collect(_name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and node.dtype.kind in "OS":
            found.extend(text.decode() for text in node[...].ravel().tolist())

    with h5py.File(f"{out}.h5") as file:
        file.visititems(collect)
    assert {*KEPT, half, nul, LAYER} <= set(found)

    run("convert", path, f"{out}.otf2")
    again = json.loads(run("layers", f"{out}.otf2", "--by", "file", "--json", "--files", "all"))
    assert {*KEPT, half, "/n/ nul\\0 within", LAYER} <= set(texts(again))
