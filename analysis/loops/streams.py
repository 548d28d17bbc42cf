"""Loops by stream: what is done to files of one kind, over and over and in all."""

from collections import Counter
from dataclasses import replace

from ...layers.statistics.kinds import file_kinds
from ...model.document import Record
from .loops import Loop, Loops


class StreamLayer(Record):
    """What a layer does to files of one kind in all, in loops and outside of them."""

    bytes_read: int | float
    bytes_written: int | float
    operations: int


class FileStream(Record):
    """What is done to files of one kind.

    Attributes
    ----------
    file : str
        The kind: the name, with ``*`` for what differs.
    files : int
        How many there are.
    layers : dict of str to StreamLayer
        Those that move bytes of them, the highest first.
    loops : tuple of int
        Ids of the outermost loops with a step on them, in the order of their begins.
    """

    file: str
    files: int
    layers: dict[str, StreamLayer]
    loops: tuple[int, ...]

    @property
    def bytes(self) -> int | float:
        """Bytes moved in the layer that moves most."""
        return max((one.bytes_read + one.bytes_written for one in self.layers.values()), default=0)


def streams_of(found: Loops) -> tuple[FileStream, ...]:
    """Return the streams of a trace that move bytes or have a loop, those that move most first.

    Raises CapabilityError where it is not recorded which file an operation is on.
    """
    table = found.trace.breakdown("stream")
    layers: dict[str, dict[str, StreamLayer]] = {}
    columns = (table.columns[name].tolist() for name in ("bytes_read", "bytes_written", "reads", "writes"))
    for layer, kind, read, written, reads, writes in zip(table.layer, table.key, *columns, strict=True):
        if isinstance(kind, str) and reads + writes:
            layers.setdefault(kind, {})[layer] = StreamLayer(read, written, reads + writes)
    loops: dict[str, list[int]] = {}
    for loop in found.outermost:
        for kind in dict.fromkeys(step.file for step in loop.body):
            loops.setdefault(kind, []).append(loop.id)
    often = Counter(file_kinds(found.trace.definitions.files.name))
    streams = (
        FileStream(kind, often[kind], layers.get(kind, {}), tuple(loops.get(kind, ()))) for kind in {**layers, **loops}
    )
    return tuple(sorted(streams, key=lambda one: (-one.bytes, one.file)))


def of_stream(loop: Loop, stream: FileStream) -> Loop:
    """Return a loop with its steps on the files of a stream alone."""
    return replace(loop, body=tuple(step for step in loop.body if step.file == stream.file))
