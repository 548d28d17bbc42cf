"""The cases of the guide: their commands work, and print what stands below them."""

import re
from pathlib import Path

import pytest
from iostrata.cli.run import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guide" / "cases.rst").read_text(encoding="utf-8")
BLOCK = re.compile(r"\.\. code-block:: console\n\n((?:   .*\n|\n)+)")


def cases():
    """Return the commands of each section with the lines that stand below them."""
    for part in re.split(r"\n-{5,}\n", PAGE)[1:]:
        lines = [line.strip() for block in BLOCK.findall(part) for line in block.splitlines() if line.strip()]
        starts = [place for place, line in enumerate(lines) if line.startswith("$ iostrata ")]
        ends = [*starts[1:], len(lines)]
        yield [(lines[a].split()[2:], lines[a + 1 : b]) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("commands", list(cases()), ids=["netCDF", "collective", "jobs"])
def test_the_commands_of_a_case_print_what_stands_below_them(commands, tmp_path, monkeypatch, capfd):
    assert len(commands) >= 2
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for arguments, shown in commands:
        assert run(arguments) == 0
        printed = " ".join(capfd.readouterr().out.split())
        assert shown
        for line in shown:
            assert " ".join(line.split()) in printed, line
