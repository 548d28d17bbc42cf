"""The page of ``iostrata assess``: limits, distributions, both rankings, and the segments of the first jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from ...model.arrays import Floats, Ints
from ...model.quantities import counted, seconds_text, share_text
from ...model.text import printable
from ...runs.scores.assessment import JobScore, block_scores, ranked
from ...runs.scores.blocks import METRICS, MetricBlock
from ...runs.scores.limits import MetricLimits
from ..written import Written
from .scores_text import TITLES, value_text
from .static_page import Section, figure, paragraph, table, write_page
from .svg import Plot, cells, histogram

TOP: Final = 20
_TIMELINES: Final = 5
_DOTS: Final = 1500
"""Training values and jobs of a picture."""
_ROWS: Final = 16
_COLUMNS: Final = 240
_KEY: Final = (
    '<p><span class="key s0"></span>low<span class="key s1"></span>high<span class="key s4"></span>critical</p>'
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


@dataclass(frozen=True, eq=False)
class _Scores:
    """The scores of a job, float64 (series, segments) with NaN where missing, and what each series is of."""

    scores: Floats
    node: tuple[str, ...]
    metric: tuple[str, ...]


def write_scores_page(
    tables: Sequence[Jobs],
    jobs: Sequence[JobScore],
    limits: MetricLimits,
    order: str,
    threshold: float,
    short: float,
    path: Path,
) -> Written:
    """Write the page; the jobs are read once more for it. Raises OutputError, and what reading them raises.

    Parameters
    ----------
    jobs : sequence of JobScore
        As they are ranked.
    order : str
        The field that they are ranked by.
    threshold : float
        JScore above which a segment is intensive.
    short : float
        Jobs that are not longer come after those that are, in s.
    """
    busy = [one for one in jobs if one.intensive_segments]
    other = next(name for name in TITLES if name != order)
    by_other = ranked(busy, other, short=short)
    wanted = list(dict.fromkeys([one.job for one in busy[:_TIMELINES]] + [one.job for one in by_other[:1]]))
    seen = _seen(tables, limits, set(wanted))
    intro = paragraph(
        f"{counted(len(jobs), 'job')} by segments of {seconds_text(limits.segment_s)}: {len(busy):,} have segments "
        f"with intensive I/O (a sum of scores above {threshold:g}). Problem-Score = (1 − balance) · problem time · "
        "utilization / file systems: a few nodes load file systems for long. I/O-Intensity = balance · problem time · "
        "utilization · nodes: many do."
        + (f" Jobs of up to {seconds_text(short)} come after the longer ones." if short else "")
    )
    known = {one.job: one for one in busy}
    sections = [
        Section(f"First by {TITLES[order]}", _ranking(busy[:TOP], order)),
        Section(f"First by {TITLES[other]}", _ranking(by_other[:TOP], other)),
        Section("How all jobs are distributed", _distributions(busy)),
        Section("Both rankings", _penalties({order: busy, other: by_other})),
        Section("Segments of the first jobs", _timelines(wanted, known, seen, limits)),
        Section("Limits", _limits(limits, seen)),
    ]
    return write_page(path, f"Which of {counted(len(jobs), 'job')} deserve a look", intro, sections)


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


def _ranking(jobs: Sequence[JobScore], order: str) -> str:
    if not jobs:
        return paragraph("No job has a segment with intensive I/O.")
    rows = [
        (
            one.job,
            f"{getattr(one, order):.3g}",
            share_text(one.problem_time, 1),
            f"{one.utilization:.2f}",
            "–" if one.balance is None else f"{one.balance:.2f}",
            f"{one.nodes:,}",
            f"{one.intensive_segments:,} of {one.segments:,}",
            str(one.filesystems),
            share_text(one.available_share, 1),
        )
        for one in jobs
    ]
    header = ("job", TITLES[order], "problem time", "utilization", "balance", "nodes", "intensive segments")
    return table((*header, "file systems", "data there"), rows)


def _distributions(busy: Sequence[JobScore]) -> str:
    if not busy:
        return paragraph("There is nothing to show.")
    highest = max(1.0, max(one.utilization for one in busy))
    parallel = [one.balance for one in busy if one.nodes > 1 and one.balance is not None]

    def number(value: float) -> str:
        return f"{value:.1f}"

    pictures = [
        figure(histogram((one.utilization for one in busy), (0.0, highest), 40, number, "utilization"), "Utilization."),
        figure(
            histogram(parallel, (0.0, 1.0), 40, number, "balance"),
            f"Balance of {counted(len(parallel), 'job')} on several nodes.",
        ),
        figure(histogram((one.problem_time for one in busy), (0.0, 1.0), 40, number, "problem time"), "Problem-Time."),
    ]
    return f'<div class="row">{"".join(pictures)}</div>'


def _penalties(rankings: Mapping[str, Sequence[JobScore]]) -> str:
    if not any(rankings.values()):
        return paragraph("There is nothing to show.")
    pictures = []
    for name, busy in rankings.items():
        step = max(1, len(busy) // _DOTS)
        shown = [*busy[:TOP], *busy[TOP::step]]
        highest = max(getattr(one, name) for one in shown) or 1.0
        plot = Plot(
            (0.0, 1.0), (0.0, highest * 1.05), lambda value: f"{value:.1f}", lambda value: f"{value:.3g}", TITLES[name],
            x_title="balance", y_title=TITLES[name], width=520, height=260,
        )  # fmt: skip
        for jobs, kind in ((shown[TOP:], "dot"), (shown[:TOP], "good")):
            plot.points(
                [one.balance or 0.0 for one in jobs],
                [getattr(one, name) for one in jobs],
                kind,
                [f"{printable(one.job)}: {getattr(one, name):.3g}, {counted(one.nodes, 'node')}" for one in jobs],
                2 if kind == "dot" else 4,
            )
        pictures.append(figure(plot.svg(), f"{TITLES[name]} by balance, the first {min(TOP, len(busy))} coloured."))
    return f'<div class="row">{"".join(pictures)}</div>'


def _timelines(wanted: Sequence[str], known: dict[str, JobScore], seen: _Seen, limits: MetricLimits) -> str:
    parts = [_KEY]
    for job in wanted:
        if job not in seen.scores:
            continue
        one, scores = known[job], seen.scores[job]
        parts.append(f"<h3>{escape(printable(job))}</h3>")
        parts.append(
            paragraph(
                f"Problem-Score {one.problem_score:.3g}, I/O-Intensity {one.io_intensity:.3g}, "
                f"{counted(one.nodes, 'node')}."
            )
        )
        length = scores.scores.shape[1]
        each = max(1, -(-length // _COLUMNS))

        def column(number: int, each: int = each) -> str:
            return seconds_text(number * each * limits.segment_s)

        folded = _folded(scores.scores, each)
        name = _category(limits.critical)
        by_metric = [place for place in METRICS if place in scores.metric]
        busiest = np.argsort(-np.nan_to_num(folded).sum(axis=1), kind="stable")[:_ROWS]
        busiest = np.sort(busiest[np.nan_to_num(folded[busiest]).any(axis=1)])
        pairs = [f"{scores.node[row]} {scores.metric[row]}" for row in busiest.tolist()]
        caption = f"By node and metric, the scores where there are any; the busiest {_ROWS}."
        grids: tuple[tuple[str, Floats, Sequence[str]], ...] = (
            (caption, folded[busiest], pairs),
            (
                "By metric, the highest score of all nodes.",
                _grouped(folded, scores.metric, by_metric, np.fmax),
                by_metric,
            ),
            *_node_grid(folded, scores),
        )
        for caption, values, rows in grids:
            parts.append(figure(cells(values, [printable(row) for row in rows], column, name, caption), caption))
        total = np.nansum(scores.scores, axis=0)
        plot = Plot(
            (0.0, length * limits.segment_s), (0.0, float(max(1.0, total.max()))), seconds_text,
            lambda value: f"{value:g}", "The job's score over time", height=90,
        )  # fmt: skip
        plot.steps(total, limits.segment_s, "area")
        parts.append(figure(plot.svg(), "The job: the sum of all scores in each segment."))
    return "".join(parts)


def _node_grid(folded: Floats, scores: _Scores) -> list[tuple[str, Floats, list[str]]]:
    """Return the grid of node scores, those of the busiest nodes."""
    names = sorted(set(scores.node))
    summed = _grouped(folded, scores.node, names, np.fmax)
    order = np.argsort(-np.nan_to_num(summed).sum(axis=1), kind="stable")[:_ROWS]
    order = np.sort(order)
    caption = "By node, the highest score of all metrics."
    if len(names) > len(order):
        caption += f" The {len(order)} busiest of {len(names):,} nodes."
    return [(caption, summed[order], [names[row] for row in order.tolist()])]


def _grouped(
    values: Floats, keys: Sequence[str], names: Sequence[str], join: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Return the rows of each name joined, float64 (names, segments)."""
    place = {name: row for row, name in enumerate(names)}
    found = np.full((len(names), values.shape[1]), np.nan)
    for row, key in zip(values, keys, strict=True):
        found[place[key]] = join(found[place[key]], row)
    return found


def _folded(values: Floats, each: int) -> Floats:
    """Return the highest of each few columns."""
    if each == 1:
        return values
    lacking = -values.shape[1] % each
    padded = np.pad(values, ((0, 0), (0, lacking)), constant_values=np.nan)
    parts = padded.reshape(len(values), -1, each)
    return np.asarray(np.fmax.reduce(parts, axis=2), np.float64)


def _category(critical: float) -> Callable[[float], str]:
    return lambda value: "s4" if value >= critical else "s1" if value >= 1 else "s0"


def _power_text(metric: str) -> Callable[[float], str]:
    return lambda power: value_text(metric, 10**power - 1)


def _limits(limits: MetricLimits, seen: _Seen) -> str:
    low, high = limits.quantiles
    rows = [
        (metric, value_text(metric, lower), value_text(metric, upper))
        for metric, (lower, upper) in limits.limits.items()
    ]
    parts = [
        paragraph(
            f"Up to the first limit (quantile {low:g} of all metric segments) I/O is low and scores 0, up to the "
            f"second ({high:g}) it is high and scores 1, above it is critical and scores {limits.critical:g}."
        ),
        table(("metric", f"q{100 * low:g}", f"q{100 * high:g}"), rows),
    ]
    pictures = []
    for metric, (lower, upper) in limits.limits.items():
        values = np.concatenate(seen.values.get(METRICS.index(metric), [np.zeros(0)]))
        values = values[~np.isnan(values)]
        if not len(values):
            continue
        # The highest are few, and what the limits are about; of the others some.
        generator = np.random.default_rng(0)
        top = np.argsort(values)[-_DOTS // 5 :]
        some = generator.choice(len(values), min(_DOTS, len(values)), replace=False)
        chosen = np.union1d(top, some)
        highest = max(float(values.max()), upper) or 1.0
        plot = Plot(
            (0.0, float(len(values))), (0.0, np.log10(1 + highest) * 1.05), lambda count: f"{count:,.0f}",
            _power_text(metric), f"Values of {metric}",
            x_title="segments", y_title=metric, width=520, height=200,
        )  # fmt: skip
        plot.points(chosen.astype(float).tolist(), np.log10(1 + values[chosen]).tolist(), "dot", None, 1.5)
        for limit, words in ((lower, low), (upper, high)):
            plot.level(float(np.log10(1 + limit)), "rule", f"q{100 * words:g}: {value_text(metric, limit)}")
        pictures.append(
            figure(plot.svg(), f"{metric}: some values of these jobs on a logarithmic axis, with both limits.")
        )
    return "".join(parts) + f'<div class="row">{"".join(pictures)}</div>'
