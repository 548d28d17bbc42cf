"""The I/O signature of an application: IOSI's steps in their order, and the baselines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar, Final, Literal, NamedTuple

import numpy as np

from ...model.arrays import Floats
from ...model.document import Record
from ...model.errors import SelectionError
from .alignment import ordered_bursts
from .bursts import Burst, bursts_of
from .clusters import Clusters, Found, Points, stacked
from .preprocessing import background, compressed, local_outlier_factors, outliers, refined, trimmed, without_background
from .sample import Sample, checked_samples

METHODS: Final = ("iosi", "dtw", "plain")
DEFAULT_LEVEL: Final = 2
DEFAULT_GAMMA: Final = 0.5
DEFAULT_KAPPA: Final = 0.9

MOST_WARPED: Final = 2**14
"""Values of a sequence: the steps of two of this length take 256 MiB."""

Recorded = Literal["server", "program"]


class SampleUse(Record):
    """What became of a sample: `reason` says why it was dropped, and is empty where it was not."""

    KEYS: ClassVar = {"volume": "volume"}

    name: str
    used: bool
    reason: str
    duration_s: float
    volume: float
    outlier_factor: float | None
    bursts: int


class CommonBurst(Record):
    """A burst of the signature: times in s, `volume` in bytes, and the samples that have it."""

    KEYS: ClassVar = {"volume": "volume"}

    start_s: float
    peak_s: float
    end_s: float
    volume: float
    samples: tuple[str, ...]
    peaks_s: tuple[float, ...]


class SignatureParameters(Record):
    """How a signature was made.

    Attributes
    ----------
    method : str
    recorded : str
        ``server``: all jobs' traffic, ``program``: only the program's.
    interval_s : float
        Interval of the samples before they are refined.
    level : int
    gamma, kappa : float
    dense_samples, supporting_samples : int
        What gamma and kappa come to with the samples that were used.
    background : float
        Bytes/s that were taken off every sample.
    outside_share : float or None
        Share of the bytes that are in no common burst; None where the signature is not one by loops.
    """

    OPTIONAL: ClassVar = frozenset({"outside_share"})

    method: str
    recorded: str
    interval_s: float
    level: int
    gamma: float
    kappa: float
    dense_samples: int
    supporting_samples: int
    background: float = 0.0
    outside_share: float | None = None


class Signature(Record, eq=False):
    """What the runs of an application have in common.

    Attributes
    ----------
    interval_s : float
        Spacing of `signature` in s.
    duration_s : float
    samples : tuple of SampleUse
        All that were given.
    signature : float64 (n,)
        Throughput in bytes/s.
    bursts : tuple of CommonBurst
    parameters : SignatureParameters
    prepared : tuple of Sample
        Those used, as step A leaves them.
    given : tuple of Sample
        All samples as they came.
    points : Points or None
        The bursts of all samples; None without bursts.
    common : tuple of Found
        Which of them are common, in the order of `bursts`.
    """

    ENTRIES = ("interval_s", "duration_s", "volume", "samples", "signature", "bursts", "parameters")
    KEYS: ClassVar[Mapping[str, str]] = {"volume": "volume"}

    interval_s: float
    duration_s: float
    samples: tuple[SampleUse, ...]
    signature: Floats
    bursts: tuple[CommonBurst, ...]
    parameters: SignatureParameters
    given: tuple[Sample, ...] = field(repr=False)
    prepared: tuple[Sample, ...] = field(repr=False)
    points: Points | None = field(default=None, repr=False)
    common: tuple[Found, ...] = field(default=(), repr=False)

    @property
    def volume(self) -> float:
        """Bytes of the whole signature."""
        return float(self.signature.sum()) * self.interval_s

    def __repr__(self) -> str:
        used = sum(sample.used for sample in self.samples)
        return (
            f"<Signature of {used} of {len(self.samples)} runs: {len(self.bursts)} bursts in {self.duration_s:.6g} s, "
            f"volume {self.volume:.6g}>"
        )


def extract_signature(
    samples: Sequence[Sample],
    *,
    recorded: Recorded = "server",
    method: str = "iosi",
    level: int = DEFAULT_LEVEL,
    gamma: float = DEFAULT_GAMMA,
    kappa: float = DEFAULT_KAPPA,
) -> Signature:
    """Return the I/O signature of an application (IOSI: Liu et al., FAST'14).

    Parameters
    ----------
    samples : sequence of Sample
        At least 2 runs, better 5 to 10, of one interval.
    recorded : {"server", "program"}
        What was recorded. ``server``: the traffic of all jobs, which is what IOSI is for. ``program``: only the
        program's, as in a trace; then nothing is taken off as background, duration is corrected with the volume kept,
        and bursts are matched in their order.
    method : {"iosi", "dtw", "plain"}
        ``dtw``: dynamic time warping of the preprocessed samples; ``plain``: IOSI without preprocessing.
    level : int
        Of the wavelet decomposition.
    gamma, kappa : float
        Shares of the samples that make a unit dense and its neighbourhood a common burst, 0 < γ ≤ κ ≤ 1.

    Returns
    -------
    Signature
        Its signal is zero where no burst is common.

    Raises
    ------
    SelectionError
        If there are fewer than two samples, they are too short or not alike, or a parameter makes no sense.
    """
    given = tuple(samples)
    checked_samples(given)
    _check(method, level, gamma, kappa)
    told, prepared, level_of_background = _prepared(given, recorded, method)
    parameters = SignatureParameters(
        method=method,
        recorded=recorded,
        interval_s=given[0].interval,
        level=level,
        gamma=gamma,
        kappa=kappa,
        dense_samples=max(1, math.ceil(gamma * len(prepared) - 1e-9)),
        supporting_samples=max(1, math.ceil(kappa * len(prepared) - 1e-9)),
        background=level_of_background,
    )
    in_order = recorded == "program" and method == "iosi"
    found = [bursts_of(sample, place, level, parts=in_order) for place, sample in enumerate(prepared)]
    numbers = iter([sum(one.counts for one in own) for own in found])
    uses = tuple(replace(use, bursts=next(numbers)) if use.used else use for use in told)
    kept = [len(sample.values) for sample, use in zip(given, uses, strict=True) if use.used]
    drawn = _common(found, prepared, parameters, max(kept) - min(kept))
    interval = prepared[0].interval
    duration = max(len(sample.values) for sample in prepared) * interval
    return Signature(interval, duration, uses, drawn.values, drawn.bursts, parameters, given, prepared, *drawn.clusters)


def _check(method: str, level: int, gamma: float, kappa: float) -> None:
    """Do nothing where the parameters make sense; SelectionError elsewhere."""
    if method not in METHODS:
        raise SelectionError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    if not 1 <= level <= 8:
        raise SelectionError(f"level {level} of the wavelet decomposition makes no sense: take 1 to 8")
    if not 0 < gamma <= kappa <= 1:
        raise SelectionError(f"gamma {gamma:g} and kappa {kappa:g} make no sense: 0 < gamma ≤ kappa ≤ 1")


class _Drawn(NamedTuple):
    """The signal of the common bursts, what each of them is, and of clusters their points and which are common."""

    values: Floats
    bursts: tuple[CommonBurst, ...] = ()
    clusters: tuple[Points, tuple[Found, ...]] | tuple[()] = ()


def _common(
    found: Sequence[Sequence[Burst]], prepared: tuple[Sample, ...], parameters: SignatureParameters, farthest: int
) -> _Drawn:
    """Return the bursts that samples have in common; runs may be `farthest` values apart."""
    interval, length = prepared[0].interval, max(len(sample.values) for sample in prepared)
    if parameters.method == "dtw":
        values = warped_mean([sample.values for sample in prepared], length)
        bursts = bursts_of(Sample("", values, interval), 0, parameters.level)
        common = (_common_burst(one.start, one.centre, one.end, one.values, interval, (), ()) for one in bursts)
        return _Drawn(values, tuple(common))
    every = [burst for own in found for burst in own if burst.counts]
    if not every:
        return _Drawn(np.zeros(length))
    if parameters.recorded == "program" and parameters.method == "iosi":
        ordered = ordered_bursts(found, prepared, farthest, parameters.supporting_samples)
        return _Drawn(*_drawn(ordered, prepared, length, exact=True))
    clusters = Clusters(every, prepared, parameters.dense_samples, parameters.supporting_samples)
    clustered = clusters.common()
    drawn = _drawn([one.bursts for one in clustered], prepared, length, exact=False)
    return _Drawn(*drawn, (clusters.points, clustered))


def _prepared(
    given: tuple[Sample, ...], recorded: Recorded, method: str
) -> tuple[list[SampleUse], tuple[Sample, ...], float]:
    """Return what becomes of each sample, those used after step A, and the background that was taken off."""
    if method == "plain":
        uses = [SampleUse(one.name, True, "", one.duration, one.volume, None, 0) for one in given]
        return uses, tuple(map(refined, given)) if recorded == "server" else given, 0.0
    factors, uses = local_outlier_factors(given), []
    for one, dropped, factor in zip(given, outliers(factors, given).tolist(), factors.tolist(), strict=True):
        why = f"its duration and volume stand out: local outlier factor {factor:.2f}, mean {factors.mean():.2f}"
        uses.append(SampleUse(one.name, not dropped, why if dropped else "", one.duration, one.volume, factor, 0))
    kept = [one for one, use in zip(given, uses, strict=True) if use.used]
    if recorded == "program":
        shortest = min(len(one.values) for one in kept)
        return uses, tuple(compressed(one, shortest) for one in kept), 0.0
    finer = [refined(one) for one in kept]
    shortest = min(len(one.values) for one in finer)
    even = [trimmed(one, shortest) for one in finer]
    level = background(even)
    return uses, tuple(without_background(one, level) for one in even), level


def _drawn(
    common: Sequence[Sequence[Burst]], prepared: tuple[Sample, ...], length: int, exact: bool
) -> tuple[Floats, tuple[CommonBurst, ...]]:
    """Return the signal of the common bursts, and what each of them is."""
    interval = prepared[0].interval
    values = np.zeros(length)
    drawn = []
    for chosen in common:
        centre = round(float(np.mean([one.centre for one in chosen])))
        rows, place = stacked(chosen)
        mean = rows.mean(axis=0) if exact else np.median(rows, axis=0)
        low = min(max(0, centre - place), max(0, length - len(mean)))
        inside = mean[: length - low]
        values[low : low + len(inside)] += inside
        extents = [one.extent for one in chosen]
        middles = [one.centre for one in chosen]
        start = centre - round(float(np.mean(middles) - np.mean([low for low, _ in extents])))
        end = centre + round(float(np.mean([high for _, high in extents]) - np.mean(middles)))
        names = tuple(prepared[one.sample].name for one in chosen)
        peaks = tuple((one.centre + 0.5) * interval for one in chosen)
        drawn.append(_common_burst(max(0, start), centre, min(length, end), inside, interval, names, peaks))
    return values, tuple(drawn)


def _common_burst(
    start: int, centre: int, end: int, values: Floats, interval: float, names: tuple[str, ...], peaks: tuple[float, ...]
) -> CommonBurst:
    volume = float(values.sum()) * interval
    return CommonBurst(start * interval, (centre + 0.5) * interval, end * interval, volume, names, peaks)


def warped_mean(sequences: Sequence[Floats], length: int) -> Floats:
    """Return one sequence of `length` values for all: two are aligned, the result with the third, and so on.

    That is dynamic time warping as IOSI's paper applies it, the baseline that IOSI is compared with (section 6.2).

    Aligned sequences are averaged along the warping path, which is then read at `length` equal distances.

    Raises
    ------
    SelectionError
        If a sequence is longer than `MOST_WARPED`: time and memory grow with the product of two lengths.
    """
    from .kernels import warping_path

    for sequence in sequences:
        if len(sequence) > MOST_WARPED:
            raise SelectionError(
                f"dynamic time warping of {len(sequence)} values takes too much memory, more than {MOST_WARPED} are "
                "refused; use a longer interval"
            )
    result = np.asarray(sequences[0], np.float64)
    for sequence in sequences[1:]:
        path = warping_path(result, np.asarray(sequence, np.float64))
        mean = (result[path[:, 0]] + sequence[path[:, 1]]) / 2
        result = np.interp(np.linspace(0, len(mean) - 1, length), np.arange(len(mean)), mean)
    return result
