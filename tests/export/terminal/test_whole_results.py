"""What commands print for people, line by line, as stored."""

import pytest

COMMANDS = {
    "overview": ["overview"],
    "info": ["info"],
    "layers": ["layers"],
    "by rank": ["layers", "--by", "rank"],
    "by file": ["layers", "--by", "file"],
    "handles": ["handles"],
    "periods": ["periods", "--phases"],
    "ftio": ["periods", "--method", "ftio", "--components", "2"],
    "compare": ["compare"],
    "loops": ["loops", "--iterations"],
    "streams": ["loops", "--by", "stream"],
}
RECORDINGS = ("ckpt4", "late4", "mixed4", "ncckpt4", "serial1", "small_files2", "broken_race_corruption")


def without_machine(lines):
    return [one for one in lines if "read in" not in one]


@pytest.mark.parametrize("name", RECORDINGS)
def test_lines_are_those_stored(held, printed, fixtures, name):
    found = {}
    for title, (command, *options) in COMMANDS.items():
        lines = without_machine(printed(command, fixtures / name, *options))
        found[title] = {
            "long": lines[12:],
            "lines": len(lines),
            **{str(row): one for row, one in enumerate(lines[:12])},
        }
    held(name, found)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_screen_is_what_is_stored_and_no_line_is_too_wide(held, on_a_screen, fixtures, name):
    found = {}
    for title, (command, *options) in COMMANDS.items():
        lines = without_machine(on_a_screen(command, fixtures / name, *options))
        assert title != "overview" or len(lines) < 24
        # Where its lines end hangs on how long the path of the checkout is.
        if title != "info":
            found[title] = {"lines": len(lines), "long": lines}
    held(f"{name}_on_a_screen", found)
