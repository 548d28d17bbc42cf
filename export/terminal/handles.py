"""The terminal view of ``iostrata handles``."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from ...layers.handles.groups import HandleGroup, handle_groups
from ...layers.layer import Layer
from ...layers.trace import Trace
from ...model.quantities import bytes_text, count_text, counted, seconds_text
from ...model.text import printable, shortened
from .console import bounded, print_counts, print_damage, print_heading, print_paragraph

_ROOMY: Final = 100
"""Columns from which on the table has room for more than the essentials."""
_WIDE_ENOUGH: Final = 80
"""Columns from which on it has room for the time of metadata."""
_NARROWEST_NAME: Final = 20
_WIDEST_PIPED_NAME: Final = 120
"""A longer name in a pipe stays whole and moves the numbers of its own line only."""
_DEEPEST: Final = 12
"""Levels that are indented; a broken trace can chain its handles up without end."""


def print_handles(trace: Trace, console: Console, layers: Iterable[Layer] | None = None) -> None:
    """Print the tree of handles, those that are alike on one line, and how many are set aside.

    Of `layers` only, where they are given.
    """
    forest = trace.handles
    chosen = None if layers is None else {layer.name for layer in layers}
    print_heading(trace, console)
    seconds = None
    if trace.calls.totals is not None and (console.width >= _WIDE_ENOUGH or not bounded(console)):
        seconds = trace.calls.totals.handle_seconds(len(forest))
    roots = handle_groups(forest, chosen, seconds)
    if roots:
        for line in _tree(roots, console, seconds is not None):
            console.print(line, no_wrap=True, overflow="ignore", crop=bounded(console))
        console.print()
        beneath = "here and beneath" if chosen is None else "here and beneath, on handles of these layers"
        note = f"subtree: operations {beneath}, flushes among them; * stands for numbers that differ"
        if seconds is not None:
            note += "; metadata: time of the calls that opened, closed or sought, over all ranks"
        print_paragraph(note, console, indent=0, style="dim")
    aside = zip(forest.set_aside, forest.layer, strict=True)
    reasons = Counter(one for one, layer in aside if one is not None and (chosen is None or layer in chosen))
    if reasons:
        hint = "; --files all shows them" if trace.files == "application" else ""
        console.print(Text(f"Set aside: {counted(sum(reasons.values()), 'handle')}{hint}"))
        print_counts(reasons, console)
    print_damage(trace.damage, console)


def _tree(roots: list[HandleGroup], console: Console, timed: bool) -> Iterator[Text]:
    """Give the lines of the tree beside their numbers; a table of rich takes a millisecond a row."""
    roomy = console.width >= _ROOMY
    titles = ["files", *(("handles", "operations") if roomy else ("ops",)), "read", "written", "subtree"]
    titles += ["metadata"] if timed else []
    gap = "  " if roomy else " "
    lines = _lines(roots, console.options.ascii_only)
    rows = [(group, prefix, _numbers(group, roomy, timed)) for group, prefix in lines]
    widths = [max(map(len, column)) for column in zip(titles, *(numbers for _, _, numbers in rows), strict=True)]
    room = None
    if bounded(console):
        room = max(_NARROWEST_NAME, console.width - sum(widths) - len(gap) * len(widths))
    labels = [_label(group, prefix, room) for group, prefix, _ in rows]
    title = Text("layer and file")
    name_width = max(label.cell_len for label in (title, *labels))
    name_width = min(name_width, _WIDEST_PIPED_NAME if room is None else room)
    for label, numbers in ((title, titles), *zip(labels, (numbers for _, _, numbers in rows), strict=True)):
        if room is None:
            label.pad_right(max(0, name_width - label.cell_len))
        else:
            label.truncate(name_width, overflow="ellipsis", pad=True)
        for number, width in zip(numbers, widths, strict=True):
            label.append(f"{gap}{number:>{width}}")
        yield label


def _numbers(group: HandleGroup, roomy: bool, timed: bool) -> list[str]:
    return [
        count_text(len(group.files)) if group.files else "–",
        *((count_text(group.handles),) if roomy else ()),
        count_text(group.operations),
        _volume(group.bytes_read),
        _volume(group.bytes_written),
        count_text(group.subtree_operations),
        *((seconds_text(group.metadata_s) if group.metadata_s else "–",) if timed else ()),
    ]


def _label(group: HandleGroup, prefix: str, room: int | None) -> Text:
    layer = "unknown layer" if group.layer is None else printable(group.layer)
    same_file = group.parent is not None and group.parent.file == group.file
    if group.file is None:
        target = f"({printable(group.name)})" if group.name else "(no file)"
    else:
        target = "" if same_file else printable(group.file) + _scope(group)
    if room is not None:
        target = shortened(target, max(8, room - len(prefix) - len(layer) - 1))
    return Text.assemble((prefix, "dim"), (layer, "bold"), " " if target else "", target)


def _scope(group: HandleGroup) -> str:
    """Return where the name of a file holds, where that is not everywhere."""
    named = sorted(scope for scope in group.scopes if scope)
    if not named or None in group.scopes:
        return ""
    return f" on {printable(named[0])}" if len(named) == 1 else f" on each of {counted(len(named), 'node')}"


def _volume(volume: float) -> str:
    return bytes_text(volume) if volume else "–"


def _lines(roots: list[HandleGroup], ascii_only: bool) -> Iterator[tuple[HandleGroup, str]]:
    """Walk the trees top down; give each group and the lines of the tree in front of it."""
    fork, corner, bar = ("|- ", "`- ", "|  ") if ascii_only else ("├─ ", "└─ ", "│  ")
    stack = [(root, "", "", 0) for root in reversed(roots)]
    while stack:
        group, prefix, indent, depth = stack.pop()
        yield group, prefix
        last = len(group.children) - 1
        for place in range(last, -1, -1):
            ending = place == last
            if depth < _DEEPEST:
                below = indent + ("   " if ending else bar)
                child_prefix = indent + (corner if ending else fork)
            else:
                below = indent
                child_prefix = f"{indent}{corner}(level {depth + 1}) "
            stack.append((group.children[place], child_prefix, below, depth + 1))
