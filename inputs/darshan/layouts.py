"""What stands where in the records of Darshan's modules, from the headers darshan-*-log-format.h."""

from dataclasses import dataclass
from typing import Final

_CLASSES: Final = [
    "0_100", "100_1k", "1k_10k", "10k_100k", "100k_1m", "1m_4m", "4m_10m", "10m_100m", "100m_1g", "1g_plus",
]  # fmt: skip
SIZES: Final = {way: tuple(f"size_{way}_{one}" for one in _CLASSES) for way in ("read", "write")}
_SHAPE: Final = [f"{what}_d{number}" for what in ("length", "stride") for number in range(1, 6)]
_BLOCKS: Final = {
    "<sizes>": [*SIZES["read"], *SIZES["write"]],
    "<strides>": [f"stride{n}_{what}" for what in ("stride", "count") for n in range(1, 5)],
    "<accesses>": [f"access{n}_{what}" for what in ("access", "count") for n in range(1, 5)],
    "<shapes>": [
        *(f"access{n}_{what}" for n in range(1, 5) for what in ("access", *_SHAPE)),
        *(f"access{n}_count" for n in range(1, 5)),
    ],
    "<ranks>": ["fastest_rank", "fastest_rank_bytes", "slowest_rank", "slowest_rank_bytes"],
    "<longest>": ["max_read_time_size", "max_write_time_size"],
}
"""Counters that several modules have; names without those of the module and of aggregation (``_AGG``)."""
_BOUNDS: Final = [f"{what}_{end}_timestamp" for end in ("start", "end") for what in ("open", "read", "write", "close")]
_RANK_TIMES: Final = ["fastest_rank_time", "slowest_rank_time", "variance_rank_time", "variance_rank_bytes"]
_SUMS: Final = ["read_time", "write_time", "meta_time"]
_LONGEST: Final = ["max_read_time", "max_write_time"]
_TIMES: Final = [*_BOUNDS, *_SUMS, *_LONGEST, *_RANK_TIMES]
_NO_VARIANCE: Final = _TIMES[:-2]


@dataclass(frozen=True)
class Layout:
    """A record: the layer that the module watches, bytes, word of the first counter, and names of counters and times.

    Attributes
    ----------
    transfers : (str, str)
        Which counters are added up as reads and as writes.
    tail : int
        Bytes behind the times.
    """

    layer: str
    counters: tuple[str, ...]
    times: tuple[str, ...]
    transfers: tuple[tuple[str, ...], tuple[str, ...]]
    start: int = 2
    tail: int = 0

    @property
    def size(self) -> int:
        """Bytes of a record."""
        return 8 * (self.start + len(self.counters) + len(self.times)) + self.tail


def _layout(
    layer: str, counters: str, times: list[str], reads: str = "", writes: str = "", start: int = 2, tail: int = 0
) -> Layout:
    names = [name for word in counters.split() for name in _BLOCKS.get(word, [word])]
    return Layout(layer, tuple(names), tuple(times), (tuple(reads.split()), tuple(writes.split())), start, tail)


_MOVED: Final = "bytes_read bytes_written"
_POSIX: Final = (
    f"mode {_MOVED} max_byte_read max_byte_written consec_reads consec_writes seq_reads seq_writes rw_switches "
    "mem_not_aligned mem_alignment file_not_aligned file_alignment <longest> <sizes> <strides> <accesses> <ranks>"
)
_MPIIO: Final = (
    "indep_opens coll_opens indep_reads indep_writes coll_reads coll_writes split_reads split_writes nb_reads "
    f"nb_writes syncs hints views mode {_MOVED} rw_switches <longest> <sizes> <accesses> <ranks>"
)
_MPIIO_READS, _MPIIO_WRITES = (
    " ".join(f"{how}_{way}" for how in ("indep", "coll", "split", "nb")) for way in ("reads", "writes")
)
_H5D: Final = (
    f"opens reads writes flushes {_MOVED} rw_switches regular_hyperslab_selects irregular_hyperslab_selects "
    "point_selects <longest> <sizes> <shapes> dataspace_ndims dataspace_npoints datatype_size chunk_size_d1 "
    "chunk_size_d2 chunk_size_d3 chunk_size_d4 chunk_size_d5 use_mpiio_collective use_deprecated <ranks>"
)
_VARIABLE_CALLS: Final = " ".join(
    f"{call}_var{kind}"
    for call, kinds in {"put": "1asmnd", "get": "1asmnd", "iput": "1asmn", "iget": "1asmn", "bput": "1asmn"}.items()
    for kind in ("", *kinds)
)
_STDIO: Final = "seeks flushes bytes_written bytes_read max_byte_read max_byte_written <ranks>"
_STDIO_TIMES: Final = [
    *("meta_time", "write_time", "read_time"),
    *(f"{what}_{end}_timestamp" for end in ("start", "end") for what in ("open", "close", "write", "read")),
    *_RANK_TIMES,
]
_DAOS: Final = (
    "obj_opens obj_fetches obj_updates obj_punches obj_dkey_punches obj_akey_punches obj_dkey_lists obj_akey_lists "
    "obj_recx_lists array_opens array_reads array_writes array_get_sizes array_set_sizes array_stats array_punches "
    "array_destroys kv_opens kv_gets kv_puts kv_removes kv_lists kv_destroys nb_ops "
    f"{_MOVED} rw_switches <longest> <sizes> <accesses> obj_otype array_cell_size array_chunk_size <ranks>"
)

LAYOUTS: Final = {
    ("POSIX", 3): _layout(
        "POSIX", f"opens reads writes seeks stats mmaps fsyncs fdsyncs {_POSIX}", _TIMES, "reads", "writes"
    ),
    ("POSIX", 4): _layout(
        "POSIX",
        "opens filenos dups reads writes seeks stats mmaps fsyncs fdsyncs rename_sources rename_targets renamed_from "
        + _POSIX,
        _TIMES,
        "reads",
        "writes",
    ),
    ("MPI-IO", 2): _layout(
        "MPI-IO",
        _MPIIO,
        [one for one in _TIMES if one not in ("close_start_timestamp", "open_end_timestamp")],
        _MPIIO_READS,
        _MPIIO_WRITES,
    ),
    ("MPI-IO", 3): _layout("MPI-IO", _MPIIO, _TIMES, _MPIIO_READS, _MPIIO_WRITES),
    ("H5F", 3): _layout(
        "HDF5", "opens flushes use_mpiio", [_BOUNDS[0], _BOUNDS[3], _BOUNDS[4], _BOUNDS[7], "meta_time"]
    ),
    ("H5D", 1): _layout("HDF5", _H5D, _TIMES, "reads", "writes"),
    ("H5D", 2): _layout("HDF5", _H5D, _TIMES, "reads", "writes", start=3),
    ("PNETCDF_FILE", 1): _layout("PnetCDF", "indep_opens coll_opens", [_BOUNDS[0], _BOUNDS[3], _BOUNDS[4], _BOUNDS[7]]),
    ("PNETCDF_FILE", 3): _layout(
        "PnetCDF",
        f"creates opens redefs indep_waits coll_waits syncs {_MOVED} wait_failures",
        [
            *(f"{what}_{end}_timestamp" for end in ("start", "end") for what in ("open", "close", "wait")),
            *("meta_time", "wait_time"),
        ],
    ),
    ("PNETCDF_VAR", 1): _layout(
        "PnetCDF",
        f"opens indep_reads indep_writes coll_reads coll_writes nb_reads nb_writes {_MOVED} rw_switches "
        f"{_VARIABLE_CALLS} <longest> <sizes> <shapes> ndims npoints datatype_size is_record_var <ranks>",
        _TIMES,
        "indep_reads coll_reads nb_reads",
        "indep_writes coll_writes nb_writes",
        start=3,
    ),
    ("STDIO", 1): _layout("ISOC", f"opens reads writes {_STDIO}", _STDIO_TIMES, "reads", "writes"),
    ("STDIO", 2): _layout("ISOC", f"opens fdopens reads writes {_STDIO}", _STDIO_TIMES, "reads", "writes"),
    ("DFS", 1): _layout(
        "DFS",
        "opens global_opens lookups dups reads readxs writes writexs nb_reads nb_writes get_sizes punches removes "
        f"stats {_MOVED} rw_switches <longest> <sizes> <accesses> chunk_size <ranks>",
        _NO_VARIANCE,
        "reads readxs nb_reads",
        "writes writexs nb_writes",
        tail=32,
    ),
    ("DAOS", 1): _layout(
        "DAOS", _DAOS, _NO_VARIANCE, "obj_fetches array_reads kv_gets", "obj_updates array_writes kv_puts", tail=48
    ),
}
LAYOUTS[("PNETCDF_FILE", 2)] = LAYOUTS[("PNETCDF_FILE", 1)]
"""By module and version; other versions are left out, and said to be."""
