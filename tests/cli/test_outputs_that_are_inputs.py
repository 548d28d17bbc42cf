"""No command writes over what it reads, by whatever name or link."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TABLE = "layer,rank,file,start,end,bytes,mode\nPOSIX,0,/a,0,1,100,write\nPOSIX,0,/a,5,6,100,write\n"


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("convert {one} {out}", {"one": "t.parquet"}),
        ("convert {one} {out} --layer POSIX", {"one": "t.ftio.jsonl"}),
        ("report {one} -o {out}", {"one": "t.html"}),
        ("periods {one} --plot {out}", {"one": "t.svg"}),
        ("diff {one} {two} -o {out}", {"two": "t.html"}),
        ("signature {one} {two} -o {out}", {"two": "t.html"}),
        ("assess {one} --segment 1 --train -o {out}", {"one": "t.json"}),
        ("assess {one} --segment 1 --limits {two} -o {out}", {"two": "t.html"}),
        ("schedule {one} {two} -o {out}", {"two": "t.json"}),
        ("schedule {one} --plot {out}", {"one": "t.svg"}),
    ],
)
@pytest.mark.parametrize("by", ["name", "link", "hard link"])
def test_an_input_is_refused_as_output(
    run: Callable[..., Any], tmp_path: Path, command: str, inputs: dict[str, str], by: str
) -> None:
    paths = {key: tmp_path / inputs.get(key, f"{key}.csv") for key in ("one", "two")}
    for path in paths.values():
        path.write_text(TABLE)
    (victim,) = (paths[key] for key in inputs)
    out = victim if by == "name" else tmp_path / f"other{''.join(victim.suffixes)}"
    if by == "link":
        out.symlink_to(victim.name)
    elif by == "hard link":
        os.link(victim, out)
    before = sorted(tmp_path.iterdir())
    done = run(*(part.format(**paths, out=out) for part in command.split()))
    assert done.returncode == 1
    assert done.stderr == f"iostrata: error: cannot write '{out}': it is what is read; choose another name\n"
    assert victim.read_text() == TABLE
    assert sorted(tmp_path.iterdir()) == before


def test_what_only_looks_alike_is_written(run: Callable[..., Any], tmp_path: Path, fixtures: Path) -> None:
    trace = Path(shutil.copytree(fixtures / "serial1", tmp_path / "x"))
    for _ in range(2):  # the second replaces the first
        done = run("report", trace, "-o", tmp_path / "x.html")
        assert (done.returncode, done.stderr) == (0, "")
