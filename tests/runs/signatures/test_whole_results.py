"""Signatures of made runs and of recordings in whole, as stored."""

import numpy as np
import pytest
from iostrata.runs.signatures import preprocessing
from iostrata.runs.signatures.sample import Sample, cut_to_shortest, resampled, usual_interval
from iostrata.runs.signatures.signature import extract_signature


def beside_others(count, seed):
    random = np.random.default_rng(seed)
    for place in range(count):
        values = random.gamma(2.0, 0.2, 310)
        for _ in range(random.poisson(3)):
            at, width = random.integers(310), random.integers(5, 20)
            values[at : at + width] += random.uniform(2, 12)
        for start, width in ((20, 15), (80, 6), (140, 15), (200, 6), (260, 15)):
            at = start + random.integers(0, 4)
            values[at : at + width] += 10
        yield Sample(f"run {place}", values, 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_signatures_are_those_stored(held, seed):
    samples = list(beside_others(5, seed))
    factors = preprocessing.local_outlier_factors(samples)
    held(
        f"made_{seed}",
        {
            "signature": extract_signature(samples),
            "factors": factors,
            "outliers": preprocessing.outliers(factors, samples),
            "refined": preprocessing.refined(samples[0]),
            "trimmed": preprocessing.trimmed(samples[0], 200),
            "compressed": preprocessing.compressed(samples[0], 200),
            "background": preprocessing.background(samples),
            "without": preprocessing.without_background(samples[1], 0.4),
            "cut": cut_to_shortest([samples[0], preprocessing.trimmed(samples[1], 250)]),
            "interval": usual_interval([10.0, 20.0, 31.0]),
        },
    )


@pytest.mark.parametrize("options", [[], ["--layer", "POSIX"], ["--direction", "write"], ["--method", "plain"]])
def test_signatures_of_recordings_are_those_stored(held, printed, fixtures, options):
    names = [fixtures / name for name in ("ckpt4", "ckpt4_linktime", "ckpt4_tsc")]
    found = printed("signature", *names, *options, "--json")
    name = options[-1] if options else "all"
    held(name, [found, printed("signature", *names, *options)], skipped=("version", "created"))


def test_volume_is_kept_between_two_intervals():
    values = np.random.default_rng(1).uniform(0, 5, 40)
    found = resampled(values, 2.0, 0.0, 80.0, 5.0)
    assert found.sum() * 5.0 == pytest.approx(values.sum() * 2.0)
