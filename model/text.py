"""Names out of a trace, made safe to print.

A trace may come from anybody: a file name in it can hold line breaks, terminal escapes, or characters that reverse the
direction of the text around them.
"""


def printable(name: str) -> str:
    r"""Return `name` with every character that a terminal would act on, or not show, as a backslash escape.

    That is what `str.isprintable` refuses: control and format characters, separators of lines and paragraphs, blanks
    other than the space, surrogates, private and unassigned code points (``\n``, ``\x1b``, ``\u202e``). All other text,
    markup of any kind included, is left as it is.

    >>> print(printable("out\x1b[31m.nc"))
    out\x1b[31m.nc
    """
    if name.isprintable():
        return name
    escapes = (one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in name)
    return "".join(escapes)


def shortened(name: str, width: int) -> str:
    """Return `name` in at most `width` columns of a terminal, its middle replaced by ``…`` where it is too long.

    The end of a path tells more than its start, so it gets two thirds of the room.

    >>> shortened("/scratch/project/run/checkpoint.nc", 20)
    '/scratc…heckpoint.nc'
    """
    from rich.cells import cell_len

    if cell_len(name) <= width:
        return name
    room = max(0, width - 1)
    tail_room = room * 2 // 3
    head = _fitting(name, room - tail_room)
    tail = _fitting(name[::-1], tail_room)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, width: int) -> str:
    """Return the longest start of `text` that takes at most `width` columns."""
    from rich.cells import cell_len

    taken = 0
    for length, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:length]
    return text
