"""What moved when: stretches of activity in the order of time, joined into bursts by the pauses between them."""

from typing import Final

import numpy as np

from ..model.arrays import Columns, Floats, Rows

MOST_GAPS: Final = 4
"""Lengths of pauses that are tried to part bursts."""
CLEAR, ALONE = 1.5, 8.0
"""How many times longer pauses between bursts are than those within, and how many times more a single one is."""
LEAST_INNER: Final = 0.01
"""Share of the shortest pause that operations are taken to last at least: shorter ones part them no more clearly."""
LEAST_IDLE: Final = 0.25
"""Share of the time that pauses between bursts take at least in all: less is the inside of one burst."""
OUTGROWN: Final = 3.0
"""How many times the longest interval between bursts the last one has to last so that those were something else."""
TOUCHING: Final = 1e-9
"""Pause in s that is rounding."""


class Activity(Columns):
    """Stretches of time in their order, which do not overlap.

    Attributes
    ----------
    start, end : float64 (n,)
        First and last activity in s.
    volume : int64 (n,)
        Bytes moved.
    operations : int64 (n,)
        How many began.
    """

    start: Floats
    end: Floats
    volume: Rows
    operations: Rows

    def bursts(self, gap: float) -> "Activity":
        """Join stretches up to a pause of `gap` s apart."""
        if not self.start.size:
            return self
        rows = np.append(0, np.flatnonzero(self.start[1:] - self.end[:-1] > gap) + 1)
        moved, operations = np.add.reduceat(self.volume, rows), np.add.reduceat(self.operations, rows)
        return Activity(self.start[rows], np.maximum.reduceat(self.end, rows), moved, operations)

    def gaps(self, now: float) -> list[tuple[float, bool]]:
        """Return pauses in s that part bursts: the clearest, and longer ones that do so, too, the longest first.

        Each with whether shorter ones are surely the insides of bursts.

        The silence up to `now` is a pause, too. A pause between bursts is longer than all within them, by the ratio of
        which it is the clearer; a single one may be anything, and has to be much clearer.
        """
        pauses = np.append(self.start[1:], now) - self.end
        silence = pauses[-1]
        pauses = np.sort(pauses[pauses > 0])[::-1]
        if not pauses.size:
            return []
        inner = min(float(np.median(self.end - self.start)), float(pauses[-1]) / CLEAR)
        shorter = np.append(pauses[1:], max(inner, float(pauses[-1]) * LEAST_INNER))
        ratio = pauses / shorter
        ratio[0] /= ALONE
        clear = np.flatnonzero(ratio >= CLEAR)
        clear = clear[clear <= int(np.argmax(ratio))]
        sure = (ratio >= ALONE) | ((np.arange(ratio.size) == 0) & (pauses == silence))
        return [(float(np.sqrt(pauses[row] * shorter[row])), bool(sure[row])) for row in clear[:MOST_GAPS]]

    def longest_inside(self, gap: float) -> float:
        """Return the silence in s after which a burst is rather over, of those that pauses of more than `gap` s part.

        Of the pauses that are longer, most are between bursts; `gap` itself where there is one burst only.
        """
        pauses = self.start[1:] - self.end[:-1]
        between = pauses > gap
        inside, count = np.sort(pauses[~between])[::-1], int(between.sum())
        if not count:
            return gap
        return float(inside[count]) if inside.size > count else 0.0

    def is_outgrown(self) -> bool:
        """Tell whether the last burst has gone on for much longer than it took from any burst to the next."""
        return len(self) > 1 and float(self.end[-1] - self.start[-1]) > OUTGROWN * float(np.diff(self.start).max())

    def is_one(self, now: float) -> bool:
        """Tell whether nothing has moved for so much longer than all of it took that it is one burst."""
        return now - float(self.end[-1]) > ALONE * float(self.end[-1] - self.start[0])

    def rests(self, gap: float, now: float) -> bool:
        """Tell whether there are pauses of more than `gap` s for so much of the time that they are no insides."""
        pauses = np.append(self.start[1:], now) - self.end
        return bool(pauses[pauses > gap].sum() >= LEAST_IDLE * (now - float(self.start[0])))
