"""The accuracy study: every method on the same inputs, tables and figures from the same run.

    python benchmarks/accuracy/study.py            # 100 traces a point, 400 seeds a null: some ten minutes
    python benchmarks/accuracy/study.py --quick    # 10 and 40: a minute

Numbers go to docs/accuracy.md, figures to docs/figures/, one line per result to build/accuracy/results.jsonl.
"""

import argparse
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import other_inputs
import semisynthetic
from ftio_peer import Peer
from iostrata.analysis.detect import detect_period, detect_period_samples
from iostrata.analysis.results.result import PeriodResult
from iostrata.signals.construction import step_signal
from iostrata.signals.step import StepSignal
from report import write_report

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
FS = 1.0
Answer = dict[str, Any]
Method = Callable[[StepSignal], Answer]


def _answer(result: PeriodResult, seconds: float) -> Answer:
    return {
        "periodic": result.periodic,
        "estimate": result.period if result.period is not None else result.recurrence,
        "confidence": result.confidence,
        "periods": [period.period for period in result.periods],
        "regimes": [regime.period for regime in result.regimes],
        "seconds": seconds,
    }


def _exact(signal: StepSignal) -> Answer:
    begin = time.perf_counter()
    result = detect_period(signal, fs=FS)
    return _answer(result, time.perf_counter() - begin)


def _samples(signal: StepSignal) -> Answer:
    values = signal.sample(FS).values
    begin = time.perf_counter()
    result = detect_period_samples(values, FS)
    return _answer(result, time.perf_counter() - begin)


def _paper(signal: StepSignal) -> Answer:
    begin = time.perf_counter()
    result = detect_period(signal, method="ftio", fs=FS)
    return _answer(result, time.perf_counter() - begin) | {"estimate": result.period}


def _peer(peer: Peer) -> Method:
    def ask(signal: StepSignal) -> Answer:
        found = peer.detect(signal)
        periods = [] if found["period"] is None else [found["period"]]
        return {
            "periodic": bool(periods),
            "estimate": found["period"],
            "confidence": found["confidence"],
            "periods": periods,
            "regimes": periods,
            "seconds": found["seconds"],
        }

    return ask


def _steps(values: np.ndarray) -> StepSignal:
    """Make a step signal of samples at 1 Hz."""
    edges = np.arange(values.size + 1) / FS
    return step_signal(edges[:-1], edges[1:], values / FS, window=(0.0, float(edges[-1])))


def _intervals(given: other_inputs.Intervals | semisynthetic.Run) -> StepSignal:
    return step_signal(given.start, given.end, given.volume, window=(0.0, given.window))


def inputs(traces: int, nulls: int) -> Iterator[tuple[dict[str, Any], StepSignal]]:
    """Yield what an input is, with its truth, and its signal."""
    for row, point in enumerate(semisynthetic.points()):
        for trace in range(traces):
            run = semisynthetic.generate(point, semisynthetic.seed_of(row, trace))
            about = {"kind": "sweep", "group": point.name, "sweep": point.sweep, "hard": point.hard, "point": row}
            yield about | {"truth": run.mean_interval, "iteration": run.mean_iteration}, _intervals(run)
    for number in range(nulls):
        seed = other_inputs.FIRST_SEED + number
        for name, values in other_inputs.random_signals(seed).items():
            yield {"kind": "null", "group": name}, _steps(values)
        for name, values in other_inputs.few_bursts(seed).items():
            yield {"kind": "few", "group": name}, _steps(values)
    for duty in other_inputs.DUTIES:
        for cycles in other_inputs.CYCLES:
            for number in range(max(nulls // 20, 4)):
                train = other_inputs.pulse_train(other_inputs.FIRST_SEED + 10_000 + number, duty, cycles)
                about = {"kind": "pulses", "group": f"{duty:g}", "duty": duty, "cycles": cycles}
                yield about | {"truth": train.periods[0]}, _intervals(train)
    for number in range(nulls):
        for name, make in (("two regimes", other_inputs.two_regimes), ("two clocks", other_inputs.two_clocks)):
            given = make(other_inputs.FIRST_SEED + 20_000 + number)
            yield {"kind": "several", "group": name, "true_periods": given.periods}, _intervals(given)


def main() -> None:
    """Run all methods on all inputs and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the inputs; writes to build/ only")
    parser.add_argument("--no-peer", action="store_true", help="leave FTIO itself out")
    parser.add_argument("--ftio-environment", type=Path, default=Path("build/ftio"))
    parser.add_argument("--build", type=Path, default=Path("build/accuracy"))
    arguments = parser.parse_args()
    traces, nulls = (10, 40) if arguments.quick else (100, 400)
    arguments.build.mkdir(parents=True, exist_ok=True)
    methods: dict[str, Method] = {"auto": _exact, "auto, 1 Hz samples": _samples, "ftio method": _paper}
    for method in methods.values():
        method(_steps(np.tile([1.0, 0.0, 0.0, 0.0], 30)))
    rows = []
    with contextlib.ExitStack() as stack:
        if not arguments.no_peer:
            methods["FTIO 0.0.9"] = _peer(stack.enter_context(Peer(arguments.ftio_environment)))
        for number, (about, signal) in enumerate(inputs(traces, nulls)):
            rows += [about | {"method": name} | method(signal) for name, method in methods.items()]
            if number % 500 == 0:
                print(f"{number} inputs", flush=True)
    with (arguments.build / "results.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    target = arguments.build if arguments.quick else DOCS
    write_report(rows, target, traces, nulls)
    print(f"wrote {target / 'accuracy.md'}")


if __name__ == "__main__":
    main()
