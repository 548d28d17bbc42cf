"""Pages as data: a headline and sections of blocks (text, tables, charts), which the code in ``browser/`` draws.

All pages are such documents, of one trace and of many runs. Nothing here knows what a page is about. Numbers stay
numbers, and columns and axes say of which kind they are, one of ``KINDS`` in ``browser/text.js``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from ...model.arrays import Floats
from ...model.document import SCHEMA_VERSION, Plain, Record, plain
from ...model.metrics import Metric
from ...model.quantities import PREFIXES, TIME_UNITS
from ..encoding import packed

MOST_STEPS: Final = 2000
"""Of a curve: more than its picture has columns."""

Text = str | Sequence[str | Mapping[str, Any]]
"""A string, or strings and parts: ``{"text": bold}``, ``{"text", "href"}``, ``{"time": (start, end), "text"}``."""

Tone = str
"""A class in ``browser/page.css``, which has its colour."""


class PagePart(Record):
    """Base of the parts of a page, whose entries are the fields that are not empty."""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: plain(value) for name, value in told.items() if value not in ("", None, (), False)}


class PageBlock(PagePart):
    """Base of what a section is made of: the name of the class says how it is drawn, the fields what."""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        return {"block": type(self).__name__.lower(), **super().to_dict()}


class Paragraph(PageBlock):
    """A paragraph of text."""

    text: Text
    muted: bool = False


class Heading(PageBlock):
    """A heading within a section; `about` is its hint."""

    text: str
    about: str = ""


class Listing(PageBlock):
    """A numbered list."""

    texts: Sequence[Text]


class Fold(PageBlock):
    """Blocks that are shown when their title is clicked."""

    title: str
    blocks: Sequence[PageBlock]
    open: bool = False
    about: str = ""


class Beside(PageBlock):
    """Blocks beside each other, as many as find room."""

    blocks: Sequence[PageBlock]
    wide: bool = False


class Choice(PageBlock):
    """Several folds, of which one is chosen and shown."""

    title: str
    options: Sequence[Fold]


class Legend(PageBlock):
    """What colours mean: tone, text and, where it needs one, a definition."""

    entries: Sequence[tuple[Tone, str] | tuple[Tone, str, str]]


class Notice(PageBlock):
    """A sentence that matters, beside a line in its colour, with a sign that `about` explains, and more blocks."""

    tone: Tone
    text: Text
    sign: str = ""
    about: str = ""
    blocks: Sequence[PageBlock] = ()


class Picture(PageBlock):
    """A picture of its own, drawn by the script of that name from what the document holds."""

    name: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        return {"block": self.name}


class TableColumn(Record):
    """A column of a table.

    Attributes
    ----------
    title : str
    value : str or callable
        Of an entry its value: a function, or the name of its attribute or key (``request_bytes.max`` goes deeper).
    kind : str
        What its values are measured in; ``text``, a ``word`` or ``phrase`` on the right, ``spark`` for little curves.
    about : str
        Its definition, or the name of one in the page's glossary; the hints of its cells end with it.
    """

    title: str
    value: "str | Callable[[Any], Cell]"
    kind: str = "count"
    about: str = ""

    @classmethod
    def of_metric(cls, metric: Metric) -> Self:
        """Return the column of a metric of a record."""
        title = metric.title[0].upper() + metric.title[1:]
        return cls(title, metric.value, metric.kind, metric.sentence)

    def of(self, entry: Any) -> "Cell":
        """Return the cell of an entry."""
        if not isinstance(self.value, str):
            return self.value(entry)
        for name in self.value.split("."):
            entry = entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)
        found: Cell = entry
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        return {"title": self.title, "kind": self.kind, **({"about": self.about} if self.about else {})}


Cell = Plain | Mapping[str, Any]
"""A value; or ``value`` with ``kind`` where it is not the column's, ``said`` in place of the exact value in its hint,
``order`` that it is sorted by, ``time`` that it links to. In a first column also ``href``, ``title``, ``notes``."""


class Table(PageBlock):
    """A row an entry; the first column names it. With `ranked`, the noun of a row, it can be ordered and searched."""

    columns: Sequence[TableColumn]
    entries: Iterable[Any]
    ranked: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        rows = [[column.of(entry) for column in self.columns] for entry in self.entries]
        return {"block": "table", "columns": plain(self.columns), "rows": plain(rows), "ranked": self.ranked}


class Axis(PagePart):
    """An axis: its unit (none: no labels), scale (none: linear), names of rows, ends if not those of the data."""

    kind: str = ""
    title: str = ""
    scale: Literal["", "log", "log2", "log1p"] = ""
    ends: tuple[float, float] | None = None
    names: Sequence[str] = ()


class Series(PagePart):
    """What is drawn over the axes of a chart, columns of shape (n,).

    Attributes
    ----------
    draw : str
        ``steps`` between the edges `x` (n + 1,), ``line``, ``dots``, ``stems``, ``boxes`` from (x, y) to (x2, y2),
        ``spans`` from x to x2, ``levels`` at y, ``marks`` at x.
    tone : str
    every : (float, float), optional
        In place of `x`: where steps start and how long each is.
    texts : sequence of str
        What each is, for its hint; of a level its label.
    name : str
        How the value at the pointer is called, where the chart is read.
    radius, gap : float
        Of dots, and on both sides of boxes, in pixels.
    """

    draw: Literal["steps", "line", "dots", "stems", "boxes", "spans", "levels", "marks"]
    tone: Tone
    x: npt.ArrayLike | None = None
    y: npt.ArrayLike | None = None
    x2: npt.ArrayLike | None = None
    y2: npt.ArrayLike | None = None
    every: tuple[float, float] | None = None
    texts: Sequence[str] = ()
    name: str = ""
    radius: float = 0
    gap: float = 0

    @classmethod
    def of_values(cls, values: Floats, interval: float, tone: Tone, start: float = 0.0, name: str = "") -> Self:
        """Return steps of values that hold for `interval`; of too many for a picture, the largest of each few."""
        count = min(len(values), MOST_STEPS)
        first = (np.arange(count) * len(values)) // max(1, count)
        if count == len(values):
            return cls("steps", tone, y=values, every=(start, interval), name=name)
        edges = start + interval * np.append(first, len(values))
        return cls("steps", tone, edges, np.maximum.reduceat(values, first), name=name)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the page's document."""
        columns = {name: getattr(self, name) for name in ("x", "y", "x2", "y2")}
        drawn = {name: packed(one, "f4") for name, one in columns.items() if one is not None}
        return {**PagePart.to_dict(replace(self, x=None, y=None, x2=None, y2=None)), **drawn}


class Chart(PageBlock):
    """Series over two axes, at most `most` pixels wide; with `read` it shows values at the pointer."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    caption: str = ""
    about: str = ""
    height: int = 110
    most: int = 0
    read: bool = False
    heading: bool = False


class Section(Record):
    """A part of the page: where links lead, its name there, its heading, and its blocks."""

    id: str
    name: str
    title: str
    blocks: Sequence[PageBlock]


@dataclass(frozen=True)
class PageDocument:
    """All that a page shows.

    Attributes
    ----------
    title : str
    sections : sequence of Section
        Those without blocks are left out.
    facts : sequence of dict
        ``name`` and ``value``, with ``about``, ``tone`` or ``more`` behind it.
    warnings : sequence of Text
    lead : str
        The sentence that comes first; empty where there is none.
    headline : sequence of str
        The first sentences behind it.
    beside : sequence of str
        Ids of the sections that share the first screen.
    opening : sequence of PageBlock
        What stands above the first section.
    cut : dict
        Of each list that is not whole, how long it was.
    definitions : dict
        The glossary: the definition of each name.
    more : dict
        What pictures are drawn from.
    pictures : sequence of str
        Scripts and styles in ``browser/`` that draw them, in the order in which they need each other.
    """

    title: str
    sections: Sequence[Section]
    facts: Sequence[Mapping[str, str]] = ()
    warnings: Sequence[Text] = ()
    headline: Sequence[str] = ()
    opening: Sequence[PageBlock] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    pictures: Sequence[str] = ()
    lead: str = ""
    beside: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what the page holds, as plain values."""
        names = [field.name for field in fields(self) if field.name not in ("more", "pictures")]
        told = {name: plain(getattr(self, name)) for name in names}
        shown = [plain(section) for section in self.sections if section.blocks]
        quantities = {"prefixes": plain(PREFIXES), "times": plain(TIME_UNITS)}
        more = {name: plain(value) for name, value in self.more.items()}
        return {"schema_version": SCHEMA_VERSION, **told, "sections": shown, "quantities": quantities, **more}
