"""An archive written from what any source gives: definitions and blocks of operations."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...model.definitions import Clock, Definitions
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.recording import OTF2
from ...model.stream.damage import DamageReport
from ...model.stream.keeping import kept_text
from ..matching.implausible import slack
from .definitions import OFFSET, created_archive, numbered
from .events import EventFiles


def write_archive(
    base: Path,
    definitions: Definitions,
    blocks: Iterable[tuple[Operations, IoEvents]],
    first: int = 0,
    damage: DamageReport | None = None,
) -> int:
    """Write an archive and return the number of its events.

    Raises TraceError if times or ranks do not fit into an archive, OutputError or OSError if it cannot be written. What
    is there then is of no use.

    Parameters
    ----------
    base : Path
        Path of the anchor without its suffix; neither it nor what belongs to it exists.
    blocks : iterable of (operations, metadata events)
        As `iostrata.model.stream.source.Block` has them; only one of them is in memory at a time.
    first : int
        Ticks at which the first operation begins.
    damage : DamageReport, optional
        What was lost when the operations were read: whoever reads the archive shall know.
    """
    clock = definitions.clock
    # Time stamps are not negative.
    start = max(clock.start, -first)
    named = numbered(definitions)
    native = definitions.recording.recorder == OTF2.recorder and not definitions.recording.called
    sound = damage is None or not (damage.locations or damage.irregular)
    kept = "" if native and sound else kept_text(definitions.recording, damage)
    with created_archive(base, named, kept) as writer:
        base.mkdir(exist_ok=True)
        files = EventFiles(base, definitions, named, start, OFFSET)
        for operations, metadata in blocks:
            files.add(operations, metadata)
        counts = files.finish()
        writer.write(_clock(replace(clock, start=start), files.extent), counts)
    return sum(counts.tolist())


def _clock(clock: Clock, extent: tuple[int, int]) -> Clock:
    """Return a clock in whose time all events are credible to those who read it."""
    first, last = extent
    if first >= -slack(clock) and last <= clock.length + slack(clock):
        return clock
    first = min(first, 0)
    return replace(clock, start=clock.start + first, length=max(clock.length, last) - first)
