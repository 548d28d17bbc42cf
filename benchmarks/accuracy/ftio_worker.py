"""FTIO on step signals that arrive at standard input; runs in FTIO's own environment and knows nothing of iostrata.

Every message is one line with a number of bytes, then an .npz archive of that length: times (n+1,) and values (n,) of
the signal, and the sampling frequency fs in Hz. The answer is one line of JSON: period in s or null, confidence,
seconds.
"""

import contextlib
import io
import json
import sys
import time

import numpy as np
from ftio.cli.ftio_core import core
from ftio.parse.args import parse_args


def main() -> None:
    """Answer until the input ends."""
    answers = sys.stdout
    source = sys.stdin.buffer
    while line := source.readline():
        with np.load(io.BytesIO(source.read(int(line)))) as columns:
            times, values, fs = columns["times"], columns["values"], float(columns["fs"])
        volume = int(np.sum(np.diff(times) * values))
        data = {"time": times, "bandwidth": np.append(values, 0.0), "total_bytes": volume, "ranks": 32}
        answer = {"period": None, "confidence": 0.0}
        begin = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            prediction, _ = core(data, parse_args(["-f", repr(fs), "-e", "no"], "ftio"))
        answer["seconds"] = time.perf_counter() - begin
        frequencies = np.asarray(prediction.dominant_freq, dtype=float)
        # Of two frequencies the one that contributes more is dominant (paper, §II-B); none at all is no period.
        if frequencies.size and np.all(np.isfinite(frequencies)) and np.all(frequencies > 0):
            best = int(np.argmax(prediction.amp))
            answer["period"] = float(1 / frequencies[best])
            answer["confidence"] = float(np.asarray(prediction.conf)[best])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
