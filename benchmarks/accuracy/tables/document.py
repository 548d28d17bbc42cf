"""Puts the document together."""

from pathlib import Path

import numpy as np

from .classes import class_tables, extras
from .confidence import by_class, confidence_table
from .figures import draw_figures
from .recordings import comparison_table, recordings_summary, recordings_table, starts_table
from .shares import Rows, of
from .sweep import pulse_table, sweep_table, time_table

TEXT = """# Accuracy of the period detection

Written by `benchmarks/accuracy/study.py` ({seeds} inputs a class from seed {first_seed} on, the first
{peer_seeds} of them by FTIO too; 100 of each point of the sweep); do not edit.

Ours is `{method}` with default arguments, on exact step signals (`detect_period(step_signal(...))`) or on samples
(`detect_period_samples`), whichever the class says. FTIO 0.0.9 is the program itself (`ftio-hpc`, in an environment
of its own: DFT, z-score) on the same step signals, at 1 Hz or at the bins' own frequency. Periods are mostly 10 to
100 s, so that 1 Hz is no disadvantage. Every input is a function of a seed (`benchmarks/accuracy/inputs`), and its
truth is known. Shares have 95 % intervals (Wilson) in brackets. ✗: ours misses the target. A result is *stated* where
`periodic` is true.

## Classes

{classes}

## Confidence

Of results stated at confidence c a share c should lie within 10 % of the truth; whatever is stated about a signal
without a period is wrong. Ten bins of equal mass; intervals by bootstrap.

{confidence}

![Reliability](figures/accuracy-reliability.png)

{high}

## Phases and volumes

Volume per period over the true mean volume of phases, where the period is found; share of all bytes outside of
phases, where a period is stated and all bytes belong to phases; F1 of phase starts (within 0.1 period). Over all
classes: volume ratio in 0.95 to 1.05 for {volumes} %, bytes outside of phases {outside} %.

{extras}

![Verdicts by class](figures/accuracy-verdicts.png)

## Real recordings

{recordings}

{recorded}

Where no period is stated, or another one than the mean of all intervals: what the same method says when it is told the
true starts of phases and nothing else (equal impulses, so that nothing is lost in finding bursts), and how irregular
these starts are. A period is stated of a regime, and is also compared with the mean of that regime's own phases.

{starts}

What became of a period in the layer below: flows whose verdict is wrong, or changes where either layer is without its
last phase or has 1 % noise.

{comparisons}

## The semi-synthetic sweep

After FTIO's study (IPDPS'24): the window has a random tail of 0 to 1.5 mean periods. An estimate is the period, or
without one the recurrence; its error is relative to the true mean time between the starts of phases.

![Error by point](figures/accuracy-error.png)

{sweep}

## Exact pulse trains

Share called periodic with an error of at most 0.5 %, in brackets share called periodic; 5 to 200 cycles of 20 to 100 s.

{pulses}

## Time

Without making the signal; FTIO without its start (about 2 s).

{times}
"""


def write_document(
    rows: Rows,
    recordings: Rows,
    times: dict[str, float],
    target: Path,
    method: str,
    seeds: tuple[int, int],
    first_seed: int,
) -> None:
    """Write ``accuracy.md`` and its figures into a folder; `seeds` are inputs a class of ours and of FTIO."""
    target.mkdir(parents=True, exist_ok=True)
    if rows:
        draw_figures(rows, target / "figures")
    ours = of(rows, method=method)
    ratios = [ratio for row in ours for ratio in row.get("volumes") or []]
    outside = [row["outside"] for row in ours if row.get("outside") is not None]
    judged = [row for row in rows if row["family"] != "pairs"]
    text = TEXT.format(
        seeds=seeds[0],
        peer_seeds=seeds[1],
        first_seed=first_seed,
        method=method,
        classes=class_tables(rows),
        confidence=confidence_table(judged),
        high=by_class(judged) if judged else "",
        volumes="–" if not ratios else f"{100 * np.mean([0.95 <= one <= 1.05 for one in ratios]):.1f}",
        outside="–" if not outside else f"{100 * np.mean(outside):.2f}",
        extras=extras(rows),
        recordings=recordings_summary(recordings) if recordings else "Not part of this run.",
        recorded=recordings_table(recordings),
        starts=starts_table(recordings),
        comparisons=comparison_table(recordings),
        sweep=sweep_table(rows),
        pulses=pulse_table(rows),
        times=time_table(rows, times),
    )
    (target / "accuracy.md").write_text(text)
