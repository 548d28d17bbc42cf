"""What changes by reversal of time, and by a copy appended: shares of inputs of all classes but the sweep.

python benchmarks/accuracy/symmetry.py [first seed, 62000] [inputs a class, 6]
"""

import sys
from dataclasses import replace

import numpy as np
from inputs.catalogue import catalogue
from inputs.signal_input import SignalInput
from iostrata.analysis.detect import detect_period, detect_period_samples
from iostrata.analysis.results.result import PeriodResult
from iostrata.signals.construction import step_signal


def _reversed(given: SignalInput) -> SignalInput:
    start, end = sum(given.window) - given.end[::-1], sum(given.window) - given.start[::-1]
    samples = None if given.samples is None else given.samples[::-1]
    return replace(given, start=start, end=end, volume=given.volume[::-1], samples=samples)


def _twice(given: SignalInput) -> SignalInput:
    low, high = given.window
    start, end = (np.append(one, one + high - low) for one in (given.start, given.end))
    samples = None if given.samples is None else np.tile(given.samples, 2)
    return replace(
        given, start=start, end=end, volume=np.tile(given.volume, 2), samples=samples, window=(low, 2 * high - low)
    )


def _answer(given: SignalInput) -> PeriodResult:
    if given.samples is not None:
        return detect_period_samples(given.samples, given.fs)
    return detect_period(step_signal(given.start, given.end, given.volume, window=given.window))


def _period(answer: PeriodResult) -> float:
    return answer.period if answer.periodic and answer.period else 0.0


def main() -> None:
    """Print the shares."""
    first, count = (int(one) for one in (*sys.argv[1:], *(62000, 6)[len(sys.argv) - 1 :]))
    asked, by_reversal, by_copy = 0, 0, 0
    for one in catalogue().values():
        for seed in range(first, first + count) if one.family != "sweep" else ():
            given = one.input(seed)
            was, back, twice = (_answer(some) for some in (given, _reversed(given), _twice(given)))
            near = [abs(_period(some) - _period(was)) <= 0.02 * _period(was) for some in (back, twice)]
            asked += 1
            by_reversal += not near[0] or len(back.regimes) != len(was.regimes)
            by_copy += not near[1]
    print(f"{asked} inputs; by reversal {100 * by_reversal / asked:.1f} %, by a copy {100 * by_copy / asked:.1f} %")


if __name__ == "__main__":
    main()
