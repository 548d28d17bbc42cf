"""Pseudo-applications as in IOSI's paper (IOR_A, IOR_B, IOR_C), and what a server records of their runs.

The paper's samples are not published; this rebuilds what it says of them: 256 processes that write 2 to 3 GB/s, values
every 2 s, background traffic of about 0.1 GB/s, bursts and periodic traffic of other jobs at the same level, contention
that slows a burst down and so delays all that follows, and now and then a run that is drowned in noise.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iostrata.runs.signatures.sample import Sample

GB = 1e9
INTERVAL_S = 2.0
FINE_S = 0.5


@dataclass(frozen=True)
class Application:
    """What an application writes: the volume of each burst in bytes, and the time from one start to the next in s."""

    name: str
    volumes: tuple[float, ...]
    every_s: float
    rate: float = 2.5 * GB
    first_s: float = 60.0


APPLICATIONS = (
    Application("IOR_A", (128 * GB,) * 7, 300.0),
    Application("IOR_B", (64 * GB, 16 * GB) * 4 + (64 * GB,), 120.0),
    Application("IOR_C", (64 * GB, 32 * GB, 16 * GB) * 3, 120.0),
)
"""7 + 9 + 9 bursts: the paper counts 25 over the three."""


@dataclass(frozen=True)
class Noise:
    """Other jobs' traffic.

    Attributes
    ----------
    background : float
        Mean of the steady part in bytes/s.
    bursts_per_hour : float
        Of other jobs.
    share_periodic : float
        Of the samples that another periodic application accompanies.
    share_drowned : float
        Of the samples with four times as many bursts.
    capacity : float
        Bytes/s of other jobs that halve the rate of ours.
    unevenness : float
        Standard deviation of the application's own rate within a burst, over its mean.
    uneven_s : float
        For how long it keeps a rate, in s.
    """

    background: float = 0.11 * GB
    bursts_per_hour: float = 20.0
    share_periodic: float = 0.3
    share_drowned: float = 0.1
    capacity: float = 5.0 * GB
    unevenness: float = 0.1
    uneven_s: float = FINE_S


USUAL = Noise()


def true_signature(application: Application, interval: float = INTERVAL_S / 2) -> npt.NDArray[np.float64]:
    """Return the throughput of the application alone on the machine, in bytes/s every `interval` s."""
    quiet = np.zeros(_longest(application))
    written, _ = _run(application, quiet, USUAL, np.random.default_rng(0), jitter=0.0)
    return _averaged(written, interval)


def true_peaks(application: Application) -> list[tuple[float, float]]:
    """Return start and end in s of each burst of the application alone."""
    starts = [application.first_s + place * application.every_s for place in range(len(application.volumes))]
    return [(at, at + volume / application.rate) for at, volume in zip(starts, application.volumes, strict=True)]


def samples(application: Application, count: int, seed: int, noise: Noise = USUAL) -> list[Sample]:
    """Return what the server records during `count` runs of an application."""
    generator = np.random.default_rng([seed, sum(map(ord, application.name))])
    made = []
    for place in range(count):
        others = _others(_longest(application), noise, generator)
        written, length = _run(application, others, noise, generator, jitter=0.01)
        total = _averaged((written + others)[:length], INTERVAL_S)
        made.append(Sample(f"{application.name} {place + 1}", total, INTERVAL_S))
    return made


def _longest(application: Application) -> int:
    return int((application.first_s + len(application.volumes) * application.every_s) * 2.5 / FINE_S)


def _others(length: int, noise: Noise, generator: np.random.Generator) -> npt.NDArray[np.float64]:
    total = generator.gamma(2.0, noise.background / 2.0, length)
    hours = length * FINE_S / 3600
    often = noise.bursts_per_hour * (4 if generator.random() < noise.share_drowned else 1)
    for _ in range(generator.poisson(often * hours)):
        at, lasting = generator.integers(length), max(1, int(generator.lognormal(np.log(15.0), 0.8) / FINE_S))
        total[at : at + lasting] += generator.uniform(0.3, 3.0) * GB
    if generator.random() < noise.share_periodic:
        every, lasting = int(generator.uniform(90, 400) / FINE_S), int(generator.uniform(5, 25) / FINE_S)
        rate = generator.uniform(0.5, 2.5) * GB
        for at in range(int(generator.integers(every)), length, every):
            total[at : at + lasting] += rate
    return total


def _run(
    application: Application,
    others: npt.NDArray[np.float64],
    noise: Noise,
    generator: np.random.Generator,
    jitter: float,
) -> tuple[npt.NDArray[np.float64], int]:
    """Return what the application writes in each step beside others, and the step in which it ends."""
    written = np.zeros(len(others))
    at = application.first_s * (1 + jitter * generator.standard_normal())
    for volume in application.volumes:
        step, left, own = round(at / FINE_S), volume, 1.0
        first = step
        while left > 0 and step < len(others):
            if jitter and (step == first or (step - first) % round(noise.uneven_s / FINE_S) == 0):
                own = max(0.2, 1 + noise.unevenness * generator.standard_normal())
            rate = own * application.rate / (1 + others[step] / noise.capacity)
            written[step] = min(rate, left / FINE_S)
            left -= written[step] * FINE_S
            step += 1
        # The application computes for as long as ever, so that a slow burst delays all that follow.
        compute = application.every_s - volume / application.rate
        at = step * FINE_S + compute * (1 + jitter * generator.standard_normal())
    return written, min(len(others), round(at / FINE_S))


def _averaged(values: npt.NDArray[np.float64], interval: float) -> npt.NDArray[np.float64]:
    width = round(interval / FINE_S)
    return values[: len(values) // width * width].reshape(-1, width).mean(axis=1)
