"""The page of ``iostrata assess``: limits, distributions, both rankings, and the segments of the first jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from ...model.arrays import Floats, Frozen, Ints
from ...model.quantities import counted, seconds_text
from ...runs.scores.assessment import JobScore, Ranking, block_scores, ranked
from ...runs.scores.blocks import METRICS, MetricBlock
from ...runs.scores.limits import MetricLimits
from ..page import document as page
from ..page.html import write_page
from ..written import Written
from .scores_text import TITLES, account_text, job_names, value_text

TOP: Final = 20
_TIMELINES: Final = 5
_DOTS: Final = 1500
"""Training values and jobs of a picture."""
_ROWS: Final = 16
_COLUMNS: Final = 240
_BINS: Final = 40
_CELL: Final = 24
"""Width of a cell in pixels, and height of a row of them."""
_LINE: Final = 15
_LEGEND: Final = page.Legend([("low", "low"), ("high", "high"), ("critical", "critical")])

_RANKED: Final = (
    page.TableColumn("problem time", "problem_time", "share"),
    page.TableColumn("utilization", "utilization", "fixed"),
    page.TableColumn("balance", "balance", "fixed"),
    page.TableColumn("nodes", "nodes"),
    page.TableColumn("intensive segments", "intensive_segments"),
    page.TableColumn("segments", "segments"),
    page.TableColumn("file systems", "filesystems"),
)


class Jobs(Protocol):
    """Where jobs come from."""

    def blocks(self) -> Iterable[MetricBlock]:
        """Give the jobs."""


@dataclass(eq=False)
class _Seen:
    """What one more pass over the jobs keeps: some values of each metric, and the scores of some jobs."""

    values: dict[int, list[Floats]] = field(default_factory=dict)
    scores: dict[str, "_Scores"] = field(default_factory=dict)


class _Scores(Frozen):
    """The scores of a job, float64 (series, segments) with NaN where missing, and what each series is of."""

    scores: Floats
    node: tuple[str, ...]
    metric: tuple[str, ...]


def write_scores_page(tables: Sequence[Jobs], found: Ranking, path: Path) -> Written:
    """Write the page; the jobs are read once more for it. Raises OutputError, and what reading them raises."""
    jobs, busy, limits, order, short = found.jobs, found.busy, found.limits, found.order, found.short
    other = next(name for name in TITLES if name != order)
    by_other = ranked(busy, other, short=short)
    wanted = list(dict.fromkeys([one.job for one in busy[:_TIMELINES]] + [one.job for one in by_other[:1]]))
    seen = _seen(tables, limits, set(wanted))
    opening = [
        f"{counted(len(jobs), 'job')} by segments of {seconds_text(limits.segment_s)}: {len(busy):,} have segments "
        f"with intensive I/O (a sum of scores above {found.threshold:g}).",
        "Problem-Score = (1 − balance) · problem time · utilization / file systems: a few nodes load file systems for "
        "long. I/O-Intensity = balance · problem time · utilization · nodes: many do.",
    ]
    if short:
        opening.append(f"Jobs of up to {seconds_text(short)} come after the longer ones.")
    known, names = {one.job: one for one in busy}, job_names(jobs)
    drawn = [job for job in wanted if job in seen.scores]
    timelines = [block for job in drawn for block in _job(known[job], names[job], seen.scores[job], limits)]
    sections = (
        page.Section(order, TITLES[order], f"First by {TITLES[order]}", _ranking(found.listed[:TOP], order, names)),
        page.Section(other, TITLES[other], f"First by {TITLES[other]}", _ranking(by_other[:TOP], other, names)),
        page.Section("distributions", "Distributions", "How all jobs are distributed", _distributions(busy)),
        page.Section("both", "Both", "Both rankings", _penalties({order: busy, other: by_other}, names)),
        page.Section("segments", "Segments", "Segments of the first jobs", [_LEGEND, *timelines] if timelines else ()),
        page.Section("limits", "Limits", "Limits", _limits(limits, seen)),
    )
    title = f"Which of {counted(len(jobs), 'job')} deserve a look"
    return write_page([page.PageDocument(title, sections, opening=[page.Paragraph(text) for text in opening])], path)


def _seen(tables: Sequence[Jobs], limits: MetricLimits, wanted: set[str]) -> _Seen:
    """Read the jobs, and keep what is drawn."""
    seen = _Seen()
    generator = np.random.default_rng(0)
    for place in tables:
        for block in place.blocks():
            metric = block.metric_of_values
            chosen = generator.choice(len(metric), min(len(metric), 20_000), replace=False)
            for row in np.unique(metric[chosen]).tolist():
                seen.values.setdefault(row, []).append(block.values[chosen[metric[chosen] == row]])
            if not wanted.isdisjoint(block.jobs):
                scores = block_scores(block, limits)
                for number, job in enumerate(block.jobs):
                    if job in wanted:
                        seen.scores[job] = _job_scores(block, number, scores)
    return seen


def _job_scores(block: MetricBlock, number: int, scores: Floats) -> _Scores:
    rows: Ints = np.flatnonzero(block.job == number)
    count = int(block.segments[number])
    found = np.full((len(rows), count), np.nan)
    for place, row in enumerate(rows.tolist()):
        low, high = block.offset[row], block.offset[row + 1]
        found[place, block.first[row] : block.first[row] + high - low] = scores[low:high]
    nodes = tuple(block.node_names[node] for node in block.node[rows].tolist())
    return _Scores(found, nodes, tuple(METRICS[metric] for metric in block.metric[rows].tolist()))


def _ranking(jobs: Sequence[JobScore], order: str, names: Mapping[str, str]) -> list[page.PageBlock]:
    if not jobs:
        return [page.Paragraph("No job has a segment with intensive I/O.")]

    def called(one: JobScore) -> page.Cell:
        notes = [("info", one.cause)] if one.cause else []
        return {"value": names[one.job], "title": one.job, "notes": notes, "order": names[one.job]}

    known = [page.TableColumn("batch system", account_text, "text")] if any(one.account for one in jobs) else []
    value = page.TableColumn(TITLES[order], order, "seconds" if order == "cost_s" else "ratio")
    metrics = page.TableColumn("scores in", lambda one: ", ".join(one.metrics), "text")
    complete = all(one.available_share == 1 for one in jobs)
    available = [] if complete else [page.TableColumn("data there", "available_share", "share")]
    columns = (page.TableColumn("job", called, "text"), value, *_RANKED, *available, metrics, *known)
    return [page.Table(columns, jobs)]


def _distributions(busy: Sequence[JobScore]) -> list[page.PageBlock]:
    if not busy:
        return [page.Paragraph("There is nothing to show.")]
    highest = max(1.0, max(one.utilization for one in busy))
    parallel = [one.balance for one in busy if one.nodes > 1 and one.balance is not None]
    on_several = f"Balance of {counted(len(parallel), 'job')} on several nodes"
    utilization = _histogram([one.utilization for one in busy], highest, "Utilization")
    problem_time = _histogram([one.problem_time for one in busy], 1.0, "Problem-Time")
    return [page.Beside([utilization, _histogram(parallel, 1.0, on_several), problem_time])]


def _histogram(values: Sequence[float], highest: float, title: str) -> page.Chart:
    counts, edges = np.histogram(np.clip(values, 0.0, highest), _BINS, (0.0, highest))
    used = np.flatnonzero(counts)
    low, high = edges[used], edges[used + 1]
    placed = zip(counts[used], low, high, strict=True)
    texts = [f"{count:,} from {start:.3g} to {end:.3g}" for count, start, end in placed]
    bars = page.Series("boxes", "read", low, np.zeros(len(used)), high, counts[used], texts=texts)
    ends = (0.0, 1.05 * max(1, counts.max()))
    return page.Chart(
        title, page.Axis("ratio", ends=(0.0, highest)), page.Axis("count", ends=ends), [bars], f"{title}.", height=150
    )


def _penalties(rankings: Mapping[str, Sequence[JobScore]], names: Mapping[str, str]) -> list[page.PageBlock]:
    if not any(rankings.values()):
        return [page.Paragraph("There is nothing to show.")]
    charts = []
    for name, busy in rankings.items():
        shown = [*busy[:TOP], *busy[TOP :: max(1, len(busy) // _DOTS)]]
        dots = []
        for jobs, tone, radius in ((shown[TOP:], "muted", 2), (shown[:TOP], "read", 4)):
            scores = [getattr(one, name) or 0.0 for one in jobs]
            scored = zip(jobs, scores, strict=True)
            texts = [f"{names[one.job]}: {score:.3g}, {counted(one.nodes, 'node')}" for one, score in scored]
            x = [one.balance or 0.0 for one in jobs]
            dots.append(page.Series("dots", tone, x, scores, texts=texts, radius=radius))
        caption = f"{TITLES[name]} by balance, the first {min(TOP, len(busy))} coloured."
        x_axis = page.Axis("ratio", "balance", ends=(0.0, 1.0))
        charts.append(page.Chart(TITLES[name], x_axis, page.Axis("ratio", TITLES[name]), dots, caption, height=220))
    return [page.Beside(charts, wide=True)]


def _job(one: JobScore, name: str, scores: _Scores, limits: MetricLimits) -> Iterable[page.PageBlock]:
    """Give the segments of a job: the scores of its nodes and metrics, and their sum."""
    yield page.Heading(name)
    yield page.Paragraph(
        f"Problem-Score {one.problem_score:.3g}, I/O-Intensity {one.io_intensity:.3g}, {counted(one.nodes, 'node')}."
    )
    length = scores.scores.shape[1]
    each = max(1, -(-length // _COLUMNS))
    folded = _folded(scores.scores, each)
    busiest = np.argsort(-np.nan_to_num(folded).sum(axis=1), kind="stable")[:_ROWS]
    busiest = np.sort(busiest[np.nan_to_num(folded[busiest]).any(axis=1)])
    pairs = [f"{scores.node[row]} {scores.metric[row]}" for row in busiest.tolist()]
    metrics = [name for name in METRICS if name in scores.metric]
    by_metric = _grouped(folded, scores.metric, metrics)
    grids: tuple[tuple[str, Floats, Sequence[str]], ...] = (
        (f"By node and metric, the scores where there are any; the busiest {_ROWS}.", folded[busiest], pairs),
        ("By metric, the highest score of all nodes.", by_metric, metrics),
        *_node_grid(folded, scores),
    )
    for caption, values, rows in grids:
        yield _grid(values, rows, caption, each * limits.segment_s, limits.critical)
    total = page.Series.of_values(np.nansum(scores.scores, axis=0), limits.segment_s, "read", name="score")
    text = "The job: the sum of all scores in each segment."
    yield page.Chart(text, page.Axis("seconds"), page.Axis("ratio"), [total], text, height=60, read=True)


def _grid(values: Floats, rows: Sequence[str], caption: str, interval: float, critical: float) -> page.Chart:
    """Return cells in the colour of their class, a line a row of `values`; NaN is left blank."""
    low, high = np.nan_to_num(values, nan=-1.0), []
    # Neighbours of one value are one box.
    first = np.diff(low, axis=1, prepend=np.nan) != 0
    row, start = np.nonzero(first)
    ends = np.append(start[1:], 0)
    ends[np.append(row[1:] != row[:-1], True)] = low.shape[1]
    score = low[row, start]
    for tone, chosen in (
        ("low", (score >= 0) & (score < 1)),
        ("high", (score >= 1) & (score < critical)),
        ("critical", score >= critical),
    ):
        places = zip(row[chosen].tolist(), start[chosen].tolist(), score[chosen].tolist(), strict=True)
        texts = [f"{rows[line]}, {seconds_text(place * interval)}: {value:g}" for line, place, value in places]
        x, x2 = start[chosen] * interval, ends[chosen] * interval
        high.append(page.Series("boxes", tone, x, row[chosen] + 0.07, x2, row[chosen] + 0.93, texts=texts))
    x_axis = page.Axis("seconds", ends=(0.0, low.shape[1] * interval))
    most = 170 + _CELL * max(8, low.shape[1])
    return page.Chart(caption, x_axis, page.Axis(names=rows), high, caption, height=_LINE * len(rows), most=most)


def _node_grid(folded: Floats, scores: _Scores) -> list[tuple[str, Floats, list[str]]]:
    """Return the grid of node scores, those of the busiest nodes."""
    names = sorted(set(scores.node))
    summed = _grouped(folded, scores.node, names)
    order = np.sort(np.argsort(-np.nan_to_num(summed).sum(axis=1), kind="stable")[:_ROWS])
    caption = "By node, the highest score of all metrics."
    if len(names) > len(order):
        caption += f" The {len(order)} busiest of {len(names):,} nodes."
    return [(caption, summed[order], [names[row] for row in order.tolist()])]


def _grouped(values: Floats, keys: Sequence[str], names: Sequence[str]) -> Floats:
    """Return the highest values of the rows of each name, float64 (names, segments)."""
    place = {name: row for row, name in enumerate(names)}
    found = np.full((len(names), values.shape[1]), np.nan)
    for row, key in zip(values, keys, strict=True):
        found[place[key]] = np.fmax(found[place[key]], row)
    return found


def _folded(values: Floats, each: int) -> Floats:
    """Return the highest of each few columns."""
    if each == 1:
        return values
    lacking = -values.shape[1] % each
    padded = np.pad(values, ((0, 0), (0, lacking)), constant_values=np.nan)
    parts = padded.reshape(len(values), -1, each)
    return np.asarray(np.fmax.reduce(parts, axis=2), np.float64)


def _limits(limits: MetricLimits, seen: _Seen) -> list[page.PageBlock]:
    low, high = limits.quantiles
    text = (
        f"Up to the first limit (quantile {low:g} of all metric segments) I/O is low and scores 0, up to the "
        f"second ({high:g}) it is high and scores 1, above it is critical and scores {limits.critical:g}."
    )
    columns = [page.TableColumn("metric", lambda one: one[0], "text")]
    for place, quantile in enumerate(limits.quantiles):
        columns.append(page.TableColumn(f"q{100 * quantile:g}", _limit_of(place), "ratio"))
    charts = []
    for metric in limits.limits:
        values = np.concatenate(seen.values.get(METRICS.index(metric), [np.zeros(0)]))
        values = values[~np.isnan(values)]
        if len(values):
            charts.append(_limit_chart(metric, values, limits))
    return [page.Paragraph(text), page.Table(columns, limits.limits.items()), page.Beside(charts, wide=True)]


def _limit_of(place: int) -> Callable[[tuple[str, tuple[float, float]]], dict[str, float | str]]:
    return lambda one: {"value": one[1][place], "kind": _kind(one[0])}


def _kind(metric: str) -> str:
    return "rate" if metric.endswith("_bytes") else "per second"


def _limit_chart(metric: str, values: Floats, limits: MetricLimits) -> page.Chart:
    """Return some values of a metric with both limits."""
    # The highest are few, and what the limits are about; of the others some.
    generator = np.random.default_rng(0)
    some = generator.choice(len(values), min(_DOTS, len(values)), replace=False)
    chosen = np.union1d(np.argsort(values)[-_DOTS // 5 :], some)
    levels = limits.limits[metric]
    marked = zip(limits.quantiles, levels, strict=True)
    texts = [f"q{100 * quantile:g}: {value_text(metric, value)}" for quantile, value in marked]
    x = page.Axis("count", "segments", ends=(0.0, float(len(values))))
    y = page.Axis(_kind(metric), metric, "log1p", ends=(0.0, 4 * max(float(values.max(initial=0.0)), *levels)))
    dots = page.Series("dots", "muted", chosen, values[chosen], radius=1.5)
    lines = page.Series("levels", "write dashed", y=levels, texts=texts)
    caption = f"{metric}: some values of these jobs on a logarithmic axis, with both limits."
    return page.Chart(f"Values of {metric}", x, y, [dots, lines], caption, height=170)
