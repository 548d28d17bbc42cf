"""Classes aimed at what hard limits made silent or wrong: sparse counters, exact duties, long pauses, delays.

Each function is one class; what is random in it beside the style of the bursts is said in its first line.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from .bursts import Style as BurstStyle
from .bursts import clock, make_bursts, mean_interval, together
from .changing_period import _run as run_of_regimes
from .one_period import GB, _period, placed
from .signal_input import NO_PERIOD, Floats, SignalInput, Truth, as_bins

Make = Callable[[np.random.Generator], SignalInput]
BOX = BurstStyle("box", 1, 0.0, 0.1)


def _boxes(
    rng: np.random.Generator, intervals: Floats, period: float, duty: float = 0.0, **truth: object
) -> SignalInput:
    """Return bursts after each other, of a duty of 2 to 30 % unless given, whose times between starts are known."""
    starts = np.append(0.0, np.cumsum(intervals))
    length = (duty or rng.uniform(0.02, 0.3)) * float(intervals.min())
    return placed(rng, make_bursts(rng, starts, length, GB, BOX), period, **truth)


def counter_of_bursts(rng: np.random.Generator, longest: int) -> SignalInput:
    """A counter at 1 Hz: 20 to 60 bursts of 1 to `longest` bins, 30 s apart (jitter 10 to 15 %), 5 to 9 units or 1."""
    intervals = np.maximum(np.rint(30 * (1 + rng.uniform(0.1, 0.15) * rng.normal(size=int(rng.integers(20, 61))))), 5)
    starts = np.append(0, np.cumsum(intervals)).astype(int)
    values = np.zeros(int(starts[-1] + 30))
    for start in starts:
        amount = rng.integers(5, 10) if longest == 1 else 1
        values[start : start + rng.integers(1, longest + 1)] = amount
    made = as_bins(values, 1.0)
    truth = Truth(periods=(float(intervals.mean()),))
    return SignalInput(made.start, made.end, made.volume, made.window, truth, made.volume, 1.0)


def exact_duty(rng: np.random.Generator) -> SignalInput:
    """Boxes of exactly 1/2, 1/3, 2/3 or 3/4 of the period, 20 to 60 times, volumes within 1 %."""
    period, cycles = float(rng.integers(5, 100)), int(rng.integers(20, 61))
    starts = period * np.arange(cycles)
    length = period * float(rng.choice((1 / 2, 1 / 3, 2 / 3, 3 / 4)))
    volumes = GB * (1 + 0.01 * rng.uniform(-1, 1, cycles))
    truth = Truth(periods=(period,))
    return SignalInput(starts, starts + length, volumes, (0.0, period * cycles), truth)


def long_pause(rng: np.random.Generator) -> SignalInput:
    """One period (jitter 2 %) before and after a pause of 60 to 85 % of the run, 8 to 30 times each."""
    period, counts = _period(rng), rng.integers(8, 31, 2)
    first, second = (clock(rng, int(count), period, 0.02, about_clock=False) for count in counts)
    share = rng.uniform(0.6, 0.85)
    pause = share / (1 - share) * float(first[-1] + second[-1])
    starts = np.concatenate((first, first[-1] + pause + second))
    made = make_bursts(rng, starts, rng.uniform(0.05, 0.4) * period, GB, BOX)
    mean = (first[-1] + second[-1]) / (counts.sum() - 2)
    return placed(rng, made, float(mean))


def hosts_out_of_step(rng: np.random.Generator) -> SignalInput:
    """White load of 2 to 8 hosts, each in bins of 1 s of its own clock."""
    count = int(rng.integers(200, 1000))
    hosts = range(int(rng.integers(2, 9)))
    parts = [(rng.uniform(0, 1) + np.arange(count), rng.exponential(size=count)) for _ in hosts]
    start, volume = (np.concatenate(column) for column in zip(*parts, strict=True))
    return SignalInput(start, start + 1.0, volume, (0.0, count + 1.0), NO_PERIOD)


def uneven_bins(rng: np.random.Generator, late: bool) -> SignalInput:
    """White load in bins whose widths alternate between two, or that are late by up to half of one."""
    count = int(rng.integers(200, 1000))
    ratio = rng.uniform(1.2, 3)
    edges = np.append(0.0, np.cumsum(np.where(np.arange(count) % 2, 1.0, ratio)))
    if late:
        edges = np.arange(count + 1) + rng.uniform(0.1, 0.5) * rng.uniform(size=count + 1)
    volume = rng.exponential(size=count) * np.diff(edges)
    return SignalInput(edges[:-1], edges[1:], volume, (float(edges[0]), float(edges[-1])), NO_PERIOD)


def uneven_pauses(rng: np.random.Generator) -> SignalInput:
    """Pauses with a jitter of 4 to 8 % between 12 to 40 phases whose lengths vary by 30 to 60 %."""
    cycles, pause = int(rng.integers(12, 41)), _period(rng)
    variation = rng.uniform(0.3, 0.6)
    lengths = pause * rng.uniform(0.3, 1.0) * rng.gamma(1 / variation**2, variation**2, cycles)
    lengths = np.maximum(lengths, 0.02 * pause)
    pauses = pause * (1 + rng.uniform(0.04, 0.08) * np.clip(rng.normal(size=cycles), -2.5, 2.5))
    starts = np.concatenate(([0.0], np.cumsum(lengths + pauses)[:-1]))
    made = make_bursts(rng, starts, lengths, GB, BurstStyle("box", 1, 0.0, 0.3))
    return placed(rng, made, mean_interval(starts), pause=pause)


def weak_and_clear(rng: np.random.Generator) -> SignalInput:
    """Four to six bursts (jitter 15 to 30 %) that move most, then 20 to 40 of another period (jitter 1 %)."""
    period = _period(rng)
    other = period * float(rng.choice((0.2, 0.3, 3.0)))
    weak = clock(rng, int(rng.integers(4, 7)), other, rng.uniform(0.15, 0.3), about_clock=False)
    clear = weak[-1] + other + clock(rng, int(rng.integers(20, 41)), period, 0.01, about_clock=False)
    length = 0.2 * min(period, other)
    large = GB * clear.size / weak.size * rng.uniform(0.8, 1.6)
    parts = [make_bursts(rng, starts, length, volume, BOX) for starts, volume in ((weak, large), (clear, GB))]
    return placed(rng, together(parts), mean_interval(clear))


def shared_burst(rng: np.random.Generator) -> SignalInput:
    """Three or four intervals of one length, then 8 to 20 of another, half or twice as long; every burst alike."""
    period, ratio = _period(rng), float(np.exp(rng.choice((-1, 1)) * rng.uniform(np.log(1.8), np.log(2.5))))
    first = clock(rng, int(rng.integers(4, 6)), period, 0.003, about_clock=False)
    second = clock(rng, int(rng.integers(9, 21)), ratio * period, 0.003, about_clock=False)
    second = second[1:] + first[-1]
    length = 0.15 * min(1.0, ratio) * period
    style = BurstStyle("box", 1, 0.0, 0.0)
    parts = [make_bursts(rng, starts, length, GB, style) for starts in (first, second)]
    return run_of_regimes(parts, [period, ratio * period], (0.2 * period, 0.2 * period))


def loose(rng: np.random.Generator) -> SignalInput:
    """31 to 80 phases with independent intervals of a jitter of 10 to 20 %."""
    mean = _period(rng)
    intervals = mean * np.maximum(1 + rng.uniform(0.1, 0.2) * rng.normal(size=int(rng.integers(30, 80))), 0.3)
    return _boxes(rng, intervals, float(intervals.mean()), law=mean)


def smooth_drift(rng: np.random.Generator) -> SignalInput:
    """30 to 80 intervals (jitter 1 to 4 %) that swing by 15 to 35 % over half a wave to one and a half; one regime."""
    count, waves = int(rng.integers(30, 80)), rng.uniform(0.5, 1.5)
    swing = 1 + rng.uniform(0.15, 0.35) * np.sin(2 * np.pi * (waves * np.arange(count) / count + rng.uniform()))
    intervals = _period(rng) * swing * (1 + rng.uniform(0.01, 0.04) * rng.normal(size=count))
    return _boxes(rng, intervals, float(intervals.mean()))


def autocorrelated(rng: np.random.Generator, memory: float) -> SignalInput:
    """30 to 100 intervals with a jitter of 5 to 12 %, an autoregressive process of a memory of 0.5 or 0.8."""
    count = int(rng.integers(30, 101))
    noise = rng.normal(size=count + 100)
    for row in range(1, noise.size):
        noise[row] = memory * noise[row - 1] + np.sqrt(1 - memory**2) * noise[row]
    mean = _period(rng)
    intervals = mean * np.maximum(1 + rng.uniform(0.05, 0.12) * noise[100:], 0.2)
    return _boxes(rng, intervals, float(intervals.mean()), law=mean)


def renewal(rng: np.random.Generator) -> SignalInput:
    """40 to 200 bursts of a renewal process (gamma, jitter 0.35), of a duty of 10 to 50 %: the mean."""
    intervals = rng.gamma(1 / 0.35**2, 0.35**2, int(rng.integers(40, 200))) * _period(rng)
    starts = np.append(0.0, np.cumsum(intervals))
    made = make_bursts(rng, starts, rng.uniform(0.1, 0.5) * float(intervals.mean()), GB, BOX)
    return placed(rng, made, float(intervals.mean()))


def stalled(rng: np.random.Generator) -> SignalInput:
    """Intervals of one length (jitter 1 %), of which 30 % are longer by 0.2 to 1.5 of it: the length, or the mean."""
    count, period = int(rng.integers(20, 81)), _period(rng)
    intervals = period * (1 + 0.01 * rng.normal(size=count))
    late = rng.random(count) < 0.3
    intervals[late] += period * rng.uniform(0.2, 1.5, int(late.sum()))
    return _boxes(rng, intervals, period, also_found=(float(intervals.mean()),))


def inside_one_burst(rng: np.random.Generator) -> SignalInput:
    """Three phases a run, unevenly apart, each of 20 to 60 even requests: together less than a hundredth of the run."""
    step = float(np.exp(rng.uniform(np.log(1e-4), np.log(1e-2))))
    requests = rng.integers(20, 61, 3)
    run = step * float(requests.sum()) * rng.uniform(110, 1000)
    places = np.array([0.0, rng.uniform(0.2, 0.45), rng.uniform(0.6, 0.95)]) * run
    start = np.concatenate([at + step * np.arange(count) for at, count in zip(places, requests, strict=True)])
    return SignalInput(start, start + 0.4 * step, np.full(start.size, 1e6), (0.0, run), NO_PERIOD)


def requests_of_epochs(rng: np.random.Generator) -> SignalInput:
    """8 to 25 epochs (jitter 3 to 8 %), each of 30 to 150 even requests, a different distance in each."""
    epochs = clock(rng, int(rng.integers(8, 26)), 10.0, rng.uniform(0.03, 0.08), about_clock=False)
    parts = []
    for at in epochs:
        count = int(rng.integers(30, 151))
        parts.append(at + rng.uniform(0.01, 0.03) * np.arange(count))
    start = np.concatenate(parts)
    window = (-1.0, float(start[-1] + 2))
    return SignalInput(start, start + 0.002, np.full(start.size, 1e6), window, Truth(periods=(mean_interval(epochs),)))


def pulses_of_a_burst(rng: np.random.Generator) -> SignalInput:
    """10 to 30 bursts at random times, one of them of 30 to 100 even requests, in at most 1 % of the run."""
    starts = np.cumsum(rng.exponential(1.0, int(rng.integers(10, 31))))
    count, chosen = int(rng.integers(30, 101)), float(rng.choice(starts))
    step = 0.008 * float(starts[-1] - starts[0]) / count
    start = np.concatenate((starts[starts != chosen], chosen + step * np.arange(count)))
    length = np.append(np.full(starts.size - 1, 0.01), np.full(count, 0.4 * step))
    volume = np.append(np.full(starts.size - 1, 1.0), np.full(count, rng.uniform(0.2, 3.0)))
    return SignalInput(start, start + length, 1e6 * volume, (0.0, float(starts[-1] + 1)), NO_PERIOD)


def trend(rng: np.random.Generator) -> SignalInput:
    """10 to 40 intervals (jitter 5 to 10 %) that grow or shrink by a factor of 1.8 to 2.5 from first to last."""
    count, factor = int(rng.integers(10, 41)), rng.uniform(1.8, 2.5) ** float(rng.choice((-1, 1)))
    steady = 1 + rng.uniform(0.05, 0.1) * np.clip(rng.normal(size=count), -2.5, 2.5)
    drifting = _period(rng) * factor ** np.linspace(-0.5, 0.5, count)
    intervals = drifting * steady
    return _boxes(rng, intervals, float(intervals.mean()), drift=float(np.log(factor)), law=float(drifting.mean()))


def far_trend(rng: np.random.Generator) -> SignalInput:
    """20 to 60 intervals (jitter 3 %) that become 4 to 8 times as long or as short."""
    count, factor = int(rng.integers(20, 61)), rng.uniform(4, 8) ** float(rng.choice((-1, 1)))
    drifting = _period(rng) * factor ** np.linspace(-0.5, 0.5, count)
    intervals = drifting * (1 + 0.03 * rng.normal(size=count))
    return _boxes(rng, intervals, float(intervals.mean()), 0.2, drift=float(np.log(factor)), law=float(drifting.mean()))


def few_and_loose(rng: np.random.Generator) -> SignalInput:
    """Nine to thirteen dumps with a jitter of 18 to 25 %: probable at best."""
    intervals = _period(rng) * np.maximum(1 + rng.uniform(0.18, 0.25) * rng.normal(size=int(rng.integers(8, 13))), 0.3)
    return _boxes(rng, intervals, float(intervals.mean()), 0.2)


WEAK: dict[str, tuple[str, Make]] = {
    "1, counter of single bins": ("period", partial(counter_of_bursts, longest=1)),
    "1, on and off counter": ("period", partial(counter_of_bursts, longest=4)),
    "2, exact duty": ("period", exact_duty),
    "3, long pause": ("period", long_pause),
    "4, hosts out of step": ("null", hosts_out_of_step),
    "4, alternating bins": ("null", partial(uneven_bins, late=False)),
    "4, late bins": ("null", partial(uneven_bins, late=True)),
    "5, uneven pauses": ("period", uneven_pauses),
    "6, weak and clear": ("period", weak_and_clear),
    "7, shared burst": ("regimes", shared_burst),
    "8, loose": ("period", loose),
    "8, smooth drift": ("period", smooth_drift),
    "8, autocorrelated .5": ("period", partial(autocorrelated, memory=0.5)),
    "8, autocorrelated .8": ("period", partial(autocorrelated, memory=0.8)),
    "9, renewal": ("period", renewal),
    "10, stalled": ("period", stalled),
    "11, inside one burst": ("null", inside_one_burst),
    "11, pulses of a burst": ("null", pulses_of_a_burst),
    "11, requests of epochs": ("period", requests_of_epochs),
    "12, trend": ("period", trend),
    "12, far trend": ("period", far_trend),
    "few and loose": ("period", few_and_loose),
}
"""Family and maker of each, by the number of the weakness and its name."""
