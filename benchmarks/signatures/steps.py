"""What each step of IOSI takes, over the number of samples: ``python benchmarks/signatures/steps.py``.

CPU time of IOR_A's samples, best of three, medians over ten seeds.
"""

import math
import time

import numpy as np
from iostrata.runs.signatures import signature
from iostrata.runs.signatures.clusters import Clusters
from iostrata.runs.signatures.sample import Sample
from made import APPLICATIONS, samples

COUNTS = (4, 5, 8, 10, 16, 32, 64)
SEEDS = range(100, 110)
NAMES = ("preprocessing (A)", "bursts (B)", "correlations (C1)", "common bursts (C2 to C4)", "signature (C5)")


def durations(given: tuple[Sample, ...]) -> list[float]:
    """Return the CPU time in ms of each step."""
    marks = [time.process_time()]

    def done() -> None:
        marks.append(time.process_time())

    _, prepared, _ = signature._prepared(given, "server", "iosi")
    done()
    bursts = [
        one for place, sample in enumerate(prepared) for one in signature.bursts_of(sample, place, 2) if one.counts
    ]
    done()
    dense, supporting = (math.ceil(share * len(prepared) - 1e-9) for share in (0.5, 0.9))
    clusters = Clusters(bursts, prepared, dense, supporting)
    done()
    common = clusters.common()
    done()
    signature._drawn([one.bursts for one in common], prepared, len(prepared[0].values), exact=False)
    done()
    return (np.diff(marks) * 1e3).tolist()


def main() -> None:
    print(f"| samples | {' | '.join(NAMES)} | together |\n|{'---|' * (len(NAMES) + 2)}")
    for count in COUNTS:
        rows = []
        for seed in SEEDS:
            given = tuple(samples(APPLICATIONS[0], count, seed))
            durations(given)
            rows.append(np.min([durations(given) for _ in range(3)], axis=0))
        middle = np.median(rows, axis=0)
        print(f"| {count} | {' | '.join(f'{one:.1f} ms' for one in middle)} | {middle.sum():.1f} ms |")


if __name__ == "__main__":
    main()
