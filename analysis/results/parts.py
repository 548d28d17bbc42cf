"""What a result is made of: periods, phases, regimes, sampling and metrics, and their plain form."""

from ...model.document import Record
from ...model.metrics import metric


class Period(Record):
    """One of the periods that a signal has at the same time.

    Attributes
    ----------
    period : float
        Mean time between two bursts, in s.
    period_interval : (float, float)
        Uncertainty of the period, in s.
    confidence : float
        In [0, 1].
    volume : float
        What recurs with this period, in the signal's unit times second: bytes of a bandwidth.
    """

    period: float
    period_interval: tuple[float, float]
    confidence: float
    volume: float


class Phase(Record):
    """One burst of substantial I/O: ``start`` and ``end`` in s, and the volume from one to the other.

    `volume` is in the signal's unit times second: bytes of a bandwidth, operations of an operation rate.
    """

    start: float
    end: float
    volume: float


class Regime(Record):
    """A stretch of the run in which one period holds.

    Attributes
    ----------
    start, end : float
        In s.
    period : float
        In s.
    confidence : float or None
        Of the method in this period, in [0, 1]; None where it has none for a part of the run.
    phases : int or None
        Number of phases that begin in the stretch; None where the method finds none.
    valid_share : float or None
        Share of the stretch in which the period holds by the sliding correlation of the DFT × DWT hybrid, in
        [0, 1]; None where the method does not look, or the stretch is too short for it.
    metrics : PeriodMetrics or None
        How well the period describes the stretch; None where the method finds no phases.
    jitter : float or None
        Coefficient of variation of the time between phases, about the drift.
    drift : float or None
        Logarithm of the last time between phases over the first; 0 where the period does not drift.
    """

    start: float
    end: float
    period: float
    confidence: float | None = None
    phases: int | None = None
    valid_share: float | None = None
    metrics: "PeriodMetrics | None" = None
    jitter: float | None = None
    drift: float | None = None


class SamplingInfo(Record):
    """How the signal was sampled for the analysis.

    Attributes
    ----------
    fs : float or None
        Sampling frequency in Hz; None where nothing was sampled.
    samples : int
        Number of bins.
    automatic : bool
        Whether the frequency was chosen by the program.
    abstraction_error : float or None
        Share of the volume that the bins place elsewhere than the signal does.
    signal : {"exact", "binned"}
        Whether the signal itself is exact, or was summed up in bins while a trace was read.
    """

    fs: float | None
    samples: int
    automatic: bool
    abstraction_error: float | None
    signal: str = "exact"


class PeriodMetrics(Record, kw_only=True):
    """How well a period describes a signal (FTIO, IPDPS'24, §II-C, "Further characterization").

    A number is None where it is not defined: all but ``r_io`` and ``b_io`` without a period, and every one that
    divides by an empty stretch or volume. Rates and volumes are in the unit of the signal, those here for a bandwidth.
    """

    sigma_vol: float | None = metric(
        "Standard deviation of the volume of a period, relative to the largest.", adds="none", default=None
    )
    sigma_time: float | None = metric(
        "Standard deviation of the share of substantial I/O in a period from r_io (eq. 4).", adds="none", default=None
    )
    r_io: float | None = metric("Share of the time that is spent on substantial I/O.", adds="none", default=None)
    b_io: float | None = metric("Mean rate of the substantial I/O.", unit="byte s-1", adds="none", default=None)
    volume_per_period: float | None = metric("Substantial volume of a period.", unit="byte", adds="none", default=None)
    periodicity_score: float | None = metric("1 - sigma_vol - sigma_time, in [0, 1].", adds="none", default=None)
