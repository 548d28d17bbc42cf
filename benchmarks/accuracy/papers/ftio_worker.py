"""Runs in FTIO's own environment: reads jobs as JSON from standard input, writes what FTIO says as JSON.

A job is {"kind": "hybrid", "time", "bandwidth", "fs", "level"} or {"kind": "sliding", "samples", "window"}.
"""

import contextlib
import io
import json
import sys
import time

import numpy as np
from ftio.analysis._correlation import sliding_correlation
from ftio.cli.ftio_core import core
from ftio.parse.args import parse_args


def hybrid(job: dict) -> dict:
    """Return the dominant frequency and the ranges of FTIO's DFT × DWT."""
    arguments = ["-e", "no", "-tr", "wave_disc", "-le", str(job["level"]), "-f", str(job["fs"])]
    data = {"time": np.array(job["time"]), "bandwidth": np.array(job["bandwidth"]), "total_bytes": 1, "ranks": 1}
    prediction, _ = core(data, parse_args(arguments, "ftio"))
    frequency = float(prediction.get_dominant_freq()) if len(prediction.dominant_freq) else None
    return {"frequency": frequency, "ranges": [[float(a), float(b)] for a, b in prediction.ranges]}


def sliding(job: dict) -> dict:
    """Time FTIO's sliding correlation of made samples with a cosine."""
    samples = np.random.default_rng(0).exponential(size=job["samples"])
    wave = np.cos(2 * np.pi * np.arange(job["samples"]) / job["window"])
    begin = time.perf_counter()
    sliding_correlation(wave, samples, job["window"])
    return {"seconds": time.perf_counter() - begin}


def main() -> None:
    """Do the jobs; what FTIO prints on the way is thrown away."""
    answers = []
    for job in json.load(sys.stdin):
        with contextlib.redirect_stdout(io.StringIO()):
            answers.append(hybrid(job) if job["kind"] == "hybrid" else sliding(job))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
