"""Paragraphs fit the width, part no number from its unit, and are whole in a pipe."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.export.terminal.console import UNBOUNDED, print_paragraph, stdout_console
from rich.console import Console

TEXT = "ranks wait 0.0539 s in all while rank 0 moves 83.9 MB, 52 % of it at 1.20 GB/s (2 … 3 ms), jitter 0.363 %"


def printed(text: str, width: int) -> list[str]:
    stream = StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None, markup=False, highlight=False)
    print_paragraph(text, console)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", range(20, 110, 3))
def test_numbers_keep_their_units(width):
    lines = printed(TEXT, width)
    assert " ".join(line.strip() for line in lines) == TEXT
    assert all(line.startswith("  ") and len(line) <= width and line == line.rstrip() for line in lines)
    for whole in ("0.0539 s", "rank 0", "83.9 MB", "52 %", "1.20 GB/s", "0.363 %"):
        assert any(whole in line for line in lines), whole


@given(st.text(st.sampled_from("ab 3MB%s/é日"), max_size=60), st.integers(12, 40))
def test_nothing_is_lost_or_too_wide(text, width):
    from rich.cells import cell_len

    lines = printed(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)


def test_a_pipe_gets_one_line():
    stream = StringIO()
    console = stdout_console(stream)
    assert console.width == UNBOUNDED
    print_paragraph(TEXT * 20, console)
    assert stream.getvalue() == f"  {TEXT * 20}\n"
