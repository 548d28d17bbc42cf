"""Who predicts the next phase: `watch`, and FTIO's predictor on the same stream, both as two of its variants."""

import sys
from dataclasses import dataclass
from pathlib import Path

import iostrata
import numpy as np
import numpy.typing as npt
from iostrata.live.budget import Credit
from iostrata.live.records.intake import Key, Spans
from iostrata.live.watcher import Watcher

sys.path.append(str(Path(__file__).resolve().parents[1] / "accuracy"))
from ftio_peer import Peer

Floats = npt.NDArray[np.float64]
FTIO_HZ, FTIO_SAMPLES = 10.0, 20.0
"""FTIO's own default; and samples to the true period, where that is more: it cannot know it, so this favours it."""
HITS, WINDOW = 3, 3
"""Of FTIO's window adaptation "frequency_hits": hits before it adapts, and periods that it goes back."""


@dataclass(frozen=True)
class Said:
    """What was said after a phase: period and next start in s, and the interval with its probability, or None."""

    period: float | None
    start: float | None = None
    interval: tuple[float, float] | None = None
    probability: float | None = None


class Ours:
    """`watch`, asked after every phase."""

    name = "watch"

    def __init__(self) -> None:
        self._credit = Credit()
        self._watcher = Watcher(Key("layer", "write"), self._credit)

    def after(self, columns: Spans, now: float, last: float) -> Said:
        """Take in what has ended by `now`, the end of a phase that began at `last`, and predict."""
        del last
        self._watcher.add(columns)
        return self.at(now)

    def at(self, now: float) -> Said:
        """Predict at a time, when nothing else has ended."""
        self._credit.grant(now)
        answer = self._watcher.answer(0.0, now)
        if answer.next_start is None:
            return Said(answer.period)
        return Said(answer.period, sum(answer.next_start) / 2, answer.next_start, answer.probability)


class Ftio:
    """FTIO 0.0.9 on all that has been told; it is given where the last phase began and adds its period to that.

    With `adapts` its window adaptation "frequency_hits": after more than three dominant frequencies in a row the
    window is cut to three periods, and one miss brings back all of it.
    """

    def __init__(self, peer: Peer, adapts: bool, shortest: float) -> None:
        self.name = "FTIO, frequency_hits" if adapts else "FTIO"
        self._peer = peer
        self._adapts = adapts
        self._fs = max(FTIO_HZ, FTIO_SAMPLES / shortest)
        self._parts: list[Spans] = []
        self._begin, self._hits = 0.0, 0

    def after(self, columns: Spans, now: float, last: float) -> Said:
        """As `Ours.after`."""
        self._parts.append(columns)
        start, end, volume = (
            np.concatenate([getattr(part, name) for part in self._parts]) for name in ("start", "end", "volume")
        )
        kept = end > self._begin
        if not kept.any():
            return Said(None)
        low = max(float(start[kept].min()), self._begin)
        if now - low < 2 / self._fs:
            return Said(None)
        signal = iostrata.step_signal(start[kept], end[kept], volume[kept], window=(low, now))
        found = self._peer.detect(signal, self._fs)["period"]
        if self._adapts:
            self._hits = self._hits + 1 if found is not None else 0
            self._begin = max(now - WINDOW * found, 0.0) if found is not None and self._hits > HITS else 0.0
        return Said(found, None if found is None else last + found)
