"""Segments of DXT, bins of HEATMAP and first and last times of counters, as columns."""

import struct
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Columns, Floats, Ints, Links, Mask, Octets, Unsigned
from ...model.codes import IoMode
from ...model.quantities import bytes_text, counted
from ...model.recording import Counters, Rows
from .log import Log, node_name

_SEGMENT: Final = [("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")]
_WITH_THREAD: Final = [*_SEGMENT, ("thread", "<u8")]
SEGMENTS: Final = {
    ("DXT_POSIX", 1): np.dtype(_SEGMENT),
    ("DXT_POSIX", 2): np.dtype(_WITH_THREAD),
    ("DXT_MPIIO", 1): np.dtype(_SEGMENT),
    ("DXT_MPIIO", 2): np.dtype(_SEGMENT),
    ("DXT_MPIIO", 3): np.dtype(_WITH_THREAD),
}
"""A segment by module and version; the newest ones tell the thread."""
TRACED: Final = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
"""The module whose transfers a DXT module records one by one."""
_RECORD: Final = struct.Struct("<Qq8x64sqq")
"""Id of the file, rank, host, and how many writes and reads follow."""
_HEAD: Final = np.dtype([("record", "<u8"), ("rank", "<i8"), ("writes", "<i8"), ("reads", "<i8")])
_HEATMAP: Final = struct.Struct("<Qqdq16x")
"""Id of the layer's name, rank, width of a bin in s, and how many bins follow, of writes and of reads."""
_HEATMAP_FIELDS: Final = [("record", "<u8"), ("rank", "<i8"), ("width", "<f8"), ("bins", "<i8"), ("unused", "V16")]
_AHEAD: Final = 1024
"""Records of a heat map that are looked at together at least."""
_HEATMAP_LAYERS: Final = {"POSIX": "POSIX", "MPIIO": "MPI-IO", "STDIO": "ISOC", "DFS": "DFS", "DAOS": "DAOS"}
_MODES: Final = np.array([IoMode.WRITE, IoMode.READ], np.uint8)
"""The order in which a record has them."""


class Records(Columns):
    """Transfers that stand together, of a file and rank each, columns of shape (r,).

    Attributes
    ----------
    record : uint64
        Id of the file; of none where transfers are bins.
    rank : int64
    count : int64
        Transfers of each.
    """

    record: Unsigned
    rank: Ints
    count: Ints


class Segments(Columns):
    """Transfers, in the order of their records, columns of shape (n,).

    Attributes
    ----------
    mode : uint8
    offset, length : int64
        Bytes; offsets are −1 where they are not recorded.
    start, end : float64
        In s from the job's start.
    thread : uint64
        The thread's own number, where the log tells it.
    """

    mode: Octets
    offset: Ints
    length: Ints
    start: Floats
    end: Floats
    thread: Unsigned


@dataclass(frozen=True)
class Traced:
    """All transfers of a log that have times.

    Attributes
    ----------
    layers : tuple of str
        Those that are watched, whether they have any transfers or none.
    layer : int32 (r,)
        Place in `layers` of each of the `records`.
    hosts : dict
        Name of the node of each rank.
    threads : bool
        Whether the log tells threads.
    coarse : tuple of str
        Layers of which only first and last times are known.
    untimed : int
        Sums of a file and direction without such times that can be true.
    left_out : int
        Segments of DXT that are not among the transfers, as they are only a part of what counters count.
    faults : list of str
        Why data end early, or are not known here.
    """

    layers: tuple[str, ...]
    layer: Links
    records: Records
    segments: Segments
    faults: list[str]
    rows: Rows
    threads: bool = False
    coarse: tuple[str, ...] = ()
    untimed: int = 0
    left_out: int = 0
    hosts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: list[tuple[str, Records, Segments]], faults: list[str], rows: Rows) -> "Traced":
        """Join transfers of a layer each."""
        layers = tuple(dict.fromkeys(layer for layer, _, _ in parts))
        parts = sorted(parts, key=lambda part: layers.index(part[0]))
        places = np.array([layers.index(layer) for layer, _, _ in parts], np.int32)
        return cls(
            layers,
            np.repeat(places, np.array([len(records) for _, records, _ in parts], np.int64)),
            Records.concatenate([Records.empty(), *(records for _, records, _ in parts)]),
            Segments.concatenate([Segments.empty(), *(segments for _, _, segments in parts)]),
            faults,
            rows,
        )

    def count_of(self, layer: str) -> int:
        """Return how many transfers of a layer there are."""
        mine = self.layer == self.layers.index(layer) if layer in self.layers else np.zeros(len(self.layer), np.bool_)
        return int(self.records.count[mine].sum())


def read_segments(log: Log) -> Traced:
    """Read the modules of DXT."""
    parts, faults, hosts, threads = [], [], dict[int, str](), []
    for module in (name for name in TRACED if name in log.modules):
        version = log.modules[module].version
        kind = SEGMENTS.get((module, version))
        if kind is None:
            faults.append(f"{module} in version {version} is not known here: its segments are left out")
            continue
        heads, rows, names, fault = _module_segments(*log.content(module), kind)
        if fault:
            faults.append(f"{module}: {fault}")
        hosts.update({rank: node_name(name) for rank, name in names.items()})
        if broken := [rank for rank, name in names.items() if name.strip(b"\0") and not hosts[rank]]:
            faults.append(f"{module}: nodes of {counted(len(broken), 'rank')} have no names that can be, left out")
        threads.append("thread" in (kind.names or ()))
        counts = np.column_stack([heads["writes"], heads["reads"]])
        mode = np.repeat(np.tile(_MODES, len(heads)), counts.reshape(-1))
        thread = rows["thread"] if threads[-1] else np.zeros(len(rows), np.uint64)
        segments = Segments(mode, rows["offset"], rows["length"], rows["start"], rows["end"], thread)
        parts.append((TRACED[module], Records(heads["record"], heads["rank"], counts.sum(axis=1)), segments))
    return replace(Traced.joined(parts, faults, "operations"), threads=bool(threads) and all(threads), hosts=hosts)


def _module_segments(
    data: bytes, fault: str | None, kind: np.dtype[np.void]
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], dict[int, bytes], str | None]:
    """Return the heads of a module's records, the segments of all of them, nodes of ranks, and why they end early."""
    # Joining arrays would compare their fields one by one.
    whole = memoryview(data)
    content, heads, hosts, place = [], [], dict[int, bytes](), 0
    while place + _RECORD.size <= len(data):
        record, rank, host, writes, reads = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        fitting = (len(data) - place) // kind.itemsize
        if writes < 0 or reads < 0:
            fault = fault or "a record counts fewer than no segments"
            break
        if writes + reads > fitting:
            fault = fault or "the last record is cut"
            writes = min(writes, fitting)
            reads = min(reads, fitting - writes)
        heads.append((record, rank, writes, reads))
        hosts[rank] = host
        end = place + (writes + reads) * kind.itemsize
        content.append(whole[place:end])
        place = end
    return np.array(heads, _HEAD), np.frombuffer(b"".join(content), kind), hosts, fault


def _with_total(lengths: Ints, bins: Mask, total: int, count: int) -> Ints:
    """Return lengths with those of some bins brought to a total of so many operations, where rounding explains that."""
    own = lengths[bins]
    brought = None if int(own.sum()) == total else _brought_to(own, total, count)
    if brought is None:
        return lengths
    lengths = lengths.copy()
    lengths[bins] = brought
    return lengths


def with_extents(traced: Traced, counters: Counters, ids: Unsigned, run_s: float) -> Traced:
    """Add what the counters tell of layers and directions that are not traced: bytes between a first and a last time.

    Where these times cannot be true, the bytes lie somewhere in the `run_s` seconds of the run. Bins of HEATMAP are
    brought to the bytes of the counters, where they differ by no more than rounding to bins explains.
    """
    parts: list[tuple[str, Records, Segments]] = []
    lengths, untimed, faults = traced.segments.length, 0, list(traced.faults)
    layer_of = np.repeat(traced.layer.astype(np.int8), traced.records.count)
    place = dict(zip(traced.layers, range(len(traced.layers)), strict=True))
    for layer in dict.fromkeys(counters.layers):
        mine = counters.of_layer(layer)
        there = layer_of == place.get(layer, -1)
        for direction, mode in (("read", IoMode.READ), ("write", IoMode.WRITE)):
            operations, moved = counters.of(direction)
            rows, bins = np.flatnonzero(mine & (moved > 0)), there & (traced.segments.mode == mode)
            known = bool(bins.any())
            if known:
                binned, total = int(lengths[bins].sum()), int(moved[rows].sum())
                lengths = _with_total(lengths, bins, total, int(np.maximum(operations[mine], 0).sum()))
                if int(lengths[bins].sum()) != total and mine.any():
                    told = f"of {bytes_text(binned)} in HEATMAP, of {bytes_text(total)} by counters"
                    faults.append(f"{layer} {direction}s {told}: one of them does not have all")
            if known or not len(rows):
                continue
            start = counters.time(f"{direction}_start_timestamp")[rows]
            end = counters.time(f"{direction}_end_timestamp")[rows]
            sound = (end > 0) & (start <= end) & (end <= 2 * run_s)
            untimed += int((~sound).sum())
            start, end = np.where(sound, start, 0.0), np.where(sound, end, run_s)
            one, unknown = np.ones(len(rows), np.int64), np.full(len(rows), -1, np.int64)
            records = Records(ids[counters.file[rows]], counters.rank[rows].astype(np.int64), one)
            modes, thread = np.full(len(rows), mode, np.uint8), np.zeros(len(rows), np.uint64)
            parts.append((layer, records, Segments(modes, unknown, moved[rows], start, end, thread)))
    traced = replace(traced, segments=replace(traced.segments, length=lengths), faults=faults)
    if not parts or (not traced.layers and untimed == sum(len(records) for _, records, _ in parts)):
        # Of a log without any times there are no signals.
        return traced
    extents = replace(Traced.joined(parts, faults, "extents"), untimed=untimed)
    if not len(lengths):
        return replace(extents, coarse=extents.layers, hosts=traced.hosts)
    coarse = tuple(layer for layer in extents.layers if layer not in traced.layers)
    layers = (*traced.layers, *coarse)
    return replace(
        extents,
        layers=layers,
        layer=np.append(traced.layer, np.array(list(map(layers.index, extents.layers)), np.int32)[extents.layer]),
        records=Records.concatenate([traced.records, extents.records]),
        segments=Segments.concatenate([traced.segments, extents.segments]),
        rows=traced.rows,
        coarse=coarse,
    )


def _brought_to(lengths: Ints, total: int, operations: int) -> Ints | None:
    """Return bytes of bins, each in proportion, so that they are `total`; None unless rounding is all that they lack.

    A transfer is rounded in each bin that it touches: of one rank, a bin more than there are transfers at most.
    """
    there = int(lengths.sum())
    if there == total or abs(there - total) > operations + np.count_nonzero(lengths):
        return None
    until = np.cumsum(lengths)
    scaled = until * (total / there)
    found: Ints = np.rint(scaled, out=scaled).astype(np.int64)
    np.minimum(found, total, out=found)
    found[np.searchsorted(until, there) :] = total
    found[1:] -= found[:-1].copy()
    return found


def read_heatmap(log: Log) -> Traced:
    """Read what HEATMAP says: bytes by layer, rank and interval of time, only intervals in which something moved."""
    version = log.modules["HEATMAP"].version
    if version != 1:
        return Traced.joined([], [f"HEATMAP in version {version} is not known here: it is left out"], "intervals")
    data, fault = log.content("HEATMAP")
    found: dict[str, list[tuple[Any, ...]]] = {}
    place, unknown, ahead = 0, 0, _AHEAD
    while place + _HEATMAP.size <= len(data):
        bins = _HEATMAP.unpack_from(data, place)[3]
        if not 0 <= bins <= (len(data) - place - _HEATMAP.size) // 16:
            fault = fault or "the last record is cut"
            break
        kind = np.dtype([*_HEATMAP_FIELDS, ("values", "<i8", 2 * bins)])
        records = np.frombuffer(data, kind, min(ahead, (len(data) - place) // kind.itemsize), place)
        # Most often all have as many bins; hardly more are looked at in vain than were read before.
        other = np.flatnonzero(records["bins"] != bins)
        records = records[: other[0]] if len(other) else records
        place, ahead = place + records.nbytes, max(2 * len(records), _AHEAD)
        ids, widths, values = (records[name] for name in ("record", "width", "values"))
        sound = (widths > 0) & (widths < np.inf)
        unknown += len(records)
        of_layer: dict[str, Mask] = {}
        for one in dict.fromkeys(ids.tolist()):
            layer = _HEATMAP_LAYERS.get(log.names.get(one, "").removeprefix("heatmap:"))
            if layer is not None:
                of_layer[layer] = of_layer.get(layer, False) | (ids == np.uint64(one))
        for layer, there in of_layer.items():
            mine = np.flatnonzero(there & sound)
            own = values[mine]
            some = own > 0
            at = np.broadcast_to(np.arange(2 * bins, dtype=np.int32), some.shape)[some]
            # Those of the first half are written.
            second = at >= bins
            at = np.where(second, at - bins, at)
            told = records["rank"][mine], np.count_nonzero(some, axis=1), widths[mine]
            found.setdefault(layer, []).append((*told, second.view(np.int8), at, own[some]))
            unknown -= len(mine)
    faults = [f"HEATMAP: {fault}"] if fault else []
    if unknown:
        faults.append(f"HEATMAP: {unknown} records of no known layer are left out")
    return Traced.joined([(layer, *_bins(records)) for layer, records in found.items()], faults, "intervals")


def _bins(records: list[tuple[Any, ...]]) -> tuple[Records, Segments]:
    """Return bins of a layer: of each record its rank, number of bins and their width, then mode, place and bytes."""
    rank, count, widths, mode, active, moved = map(np.concatenate, zip(*records, strict=True))
    width = np.repeat(widths, count)
    unknown, nothing = np.full(len(mode), -1, np.int64), np.zeros(len(mode), np.uint64)
    return (
        Records(np.zeros(len(count), np.uint64), rank.astype(np.int64), count),
        Segments(_MODES[mode], unknown, moved, active * width, (active + 1) * width, nothing),
    )
