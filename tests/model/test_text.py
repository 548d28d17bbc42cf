"""Names out of a trace are made safe to print, and shortened without harm."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.text import printable, shortened
from rich.cells import cell_len


@given(st.text(st.characters()))
def test_nothing_is_left_that_a_terminal_acts_on(name):
    text = printable(name)
    assert all(unicodedata.category(character)[0] != "C" for character in text)
    assert text.isprintable()


@given(st.text(st.characters(categories=["L", "N", "P", "S", "M"])))
def test_ordinary_text_of_any_language_stays(name):
    assert printable(name) == name


@given(st.text(st.characters()))
def test_a_second_pass_changes_nothing(name):
    assert printable(printable(name)) == printable(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("x\u202egnp.exe", "x\\u202egnp.exe"),
        ("\udcff", "\\udcff"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        (":smile:", ":smile:"),
        ("/scratch/größe_数.nc", "/scratch/größe_数.nc"),
        ("\u200b", "\\u200b"),
        ("", ""),
    ],
)
def test_escapes(name, expected):
    assert printable(name) == expected


@given(st.text(st.characters(categories=["L", "N"]), max_size=60), st.integers(1, 40))
def test_a_shortened_name_fits_and_keeps_both_ends(name, width):
    text = shortened(name, width)
    assert cell_len(text) <= width
    if cell_len(name) <= width:
        assert text == name
    else:
        head, _, tail = text.partition("…")
        assert name.startswith(head)
        assert name.endswith(tail)
        assert len(head) + len(tail) < len(name)


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abc…fghijk"),
        ("abcdefghijk", 9, "abc…ghijk"),
        ("数数数数数数", 10, "数…数数数"),
        ("数数数数数数", 9, "数…数数"),
        ("ab", 1, "…"),
        ("ab", 0, "…"),
    ],
)
def test_two_thirds_of_the_room_are_the_ends(name, width, expected):
    """A wide character that half fits does not."""
    assert shortened(name, width) == expected
