"""The table of findings: what is looked for, from which thresholds on, and what helps against it.

Everything that can be argued about stands here, in one place. `find` takes another table where a site knows better:
``replace(rule, thresholds={**rule.thresholds, "share": 0.2})``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

KIB: Final = 2**10
MIB: Final = 2**20

LEAST_SHARE: Final = 0.01
"""What concerns less of the bytes and of the time is no warning."""
LEAST_COST: Final = 0.001
"""Nor is what costs a smaller share of the run."""
SEVERITIES: Final = ("critical", "warning", "info")
"""From the most to the least severe."""


@dataclass(frozen=True)
class Rule:
    """One kind of finding.

    Attributes
    ----------
    id : str
        Its name, which does not change.
    severity : str
        One of `SEVERITIES`; what most of its findings have.
    looks_for : str
        What the rule looks for, in a sentence without numbers.
    thresholds : mapping of str to float
        From where on it reports; shares are of 1, sizes in bytes, times in s.
    advice : str
        What to do, with the names of the knobs.
    """

    id: str
    severity: str
    looks_for: str
    thresholds: Mapping[str, float]
    advice: str


RULES: Final = (
    Rule(
        "write-amplification",
        "warning",
        "A lower layer writes more bytes for an upper layer than that was asked to write.",
        {"amplification": 1.1, "extra_bytes": MIB},
        "See which pair of layers adds the bytes. Fill values: nc_set_fill(NC_NOFILL) or "
        "H5Pset_fill_time(H5D_FILL_TIME_NEVER). Chunks: choose H5Pset_chunk so that a process writes whole "
        "chunks. Data sieving: set the MPI-IO hint romio_ds_write=disable.",
    ),
    Rule(
        "read-amplification",
        "warning",
        "A lower layer reads more bytes for an upper layer than that was asked to read.",
        {"amplification": 1.1, "extra_bytes": MIB},
        "Read whole chunks and enlarge the chunk cache (nc_set_chunk_cache, H5Pset_chunk_cache); set the MPI-"
        "IO hint romio_ds_read=disable, or read collectively.",
    ),
    Rule(
        "fill-values",
        "warning",
        "A format library fills variables with a default value before the program writes them.",
        {"share": 0.05, "bytes": 64 * KIB},
        "Where every value is written anyway, switch filling off: nc_set_fill(ncid, NC_NOFILL, &old) or "
        "nc_def_var_fill(…, NC_NOFILL, …) before nc_enddef; in HDF5 H5Pset_fill_time(dcpl, "
        "H5D_FILL_TIME_NEVER).",
    ),
    Rule(
        "data-sieving",
        "warning",
        "Reads run inside writes: a library reads a block, changes part of it and writes it back.",
        {"bytes": 64 * KIB, "severe_share": 0.05},
        "Write without gaps, write collectively, or set the MPI-IO hint romio_ds_write=disable (OMPIO: "
        "sharedfp and fcoll settings); a larger ind_wr_buffer_size makes fewer blocks.",
    ),
    Rule(
        "funnelled-collective",
        "warning",
        "The bytes of a collective call leave through few of its ranks.",
        {"movers_share": 0.25, "participants": 2, "bytes": MIB},
        "More aggregators: hints cb_nodes and cb_config_list (ROMIO), OMPI_MCA_io_ompio_num_aggregators "
        "(OMPIO), and as many Lustre stripes (lfs setstripe -c). For little data per rank, or data that is "
        "contiguous per rank, compare with independent calls.",
    ),
    Rule(
        "collective-without-benefit",
        "info",
        "Collective calls whose ranks' requests go down one by one, so that coordinating them gains nothing.",
        {"calls": 4, "merged": 1.1, "exclusive_share": 0.1},
        "Requests that are large and contiguous per rank can use independent calls (MPI_File_write_at, "
        "nc_var_par_access NC_INDEPENDENT, H5FD_MPIO_INDEPENDENT), or switch collective buffering off: "
        "romio_cb_write=disable.",
    ),
    Rule(
        "small-requests",
        "warning",
        "Most requests of a layer are small.",
        {"size": 64 * KIB, "operations": 100, "share": 0.6, "severe_share": 0.1, "severe_share_of_run": 0.01},
        "Writes: collect data in a buffer (setvbuf, H5Pset_meta_block_size, nc__enddef with padding) and write more "
        "per call. Reads: larger pieces at once (setvbuf, H5Pset_sieve_buf_size, larger chunk caches). Or call "
        "collectively so that the library can merge.",
    ),
    Rule(
        "split-requests",
        "info",
        "A lower layer splits large requests into smaller ones.",
        {"request": 64 * KIB, "pieces": 2, "share": 0.1, "operations": 4},
        "Raise the buffer that cuts them: cb_buffer_size, ind_wr_buffer_size (ROMIO), io_ompio_bytes_per_agg "
        "(OMPIO), H5Pset_buffer; align to the stripe: lfs setstripe -S, H5Pset_alignment.",
    ),
    Rule(
        "metadata-storm",
        "warning",
        "Many metadata operations (open, close, delete, lock) within a short time, or more of them than transfers; "
        "seeks are none that costs.",
        {"operations": 1000, "per_second": 1000, "per_transfer": 1.0},
        "Keep files open, put many small files into one, open once and hand the data on, use collective "
        "metadata (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write).",
    ),
    Rule(
        "metadata-time",
        "info",
        "Opens, closes and other calls that move no data take long beside the transfers.",
        {
            "beside_transfers": 0.25,
            "share_of_run": 0.01,
            "seconds": 0.001,
            "severe_share": 0.01,
            "severe_calls": 100,
        },
        "Open a file once and keep it open, put several steps into one file, let only those open it that use it; do "
        "not set its size or view anew (MPI_File_set_size, MPI_File_set_view). Where all ranks call together, each "
        "waits for the last: see who comes late.",
    ),
    Rule(
        "read-back",
        "info",
        "Processes read what they wrote themselves, once or many times over.",
        {"bytes": MIB, "share": 0.01, "often": 2.0, "severe_share": 0.01},
        "Keep what is needed again in memory or on a node-local file system.",
    ),
    Rule(
        "imbalance",
        "warning",
        "One rank or one node does most of the I/O that the program asks for.",
        {"share": 0.5, "times_fair": 2.0, "bytes": MIB},
        "Spread the data over more writers: parallel netCDF or HDF5, MPI-IO, or one aggregator a node.",
    ),
    Rule(
        "shared-file-independent",
        "info",
        "Several ranks write one file by independent calls.",
        {"ranks": 2, "bytes": MIB},
        "Let each rank's part begin and end at a stripe, so that no two ranks fight over a lock, or write one file a "
        "node. Aggregating calls help only where locks do cost: measure both ways.",
    ),
    Rule(
        "opened-not-used",
        "info",
        "Files are opened by many ranks and used by one.",
        {"openers": 2, "openers_share": 0.5},
        "Let only those open that transfer data, or share the open: romio_no_indep_rw=true with "
        "cb_config_list defers the open to aggregators.",
    ),
    Rule(
        "waiting-ranks",
        "warning",
        "In collective calls ranks wait while others transfer.",
        {"share": 0.05, "seconds": 0.01, "severe_share": 0.25},
        "More aggregators (cb_nodes, io_ompio_num_aggregators), non-blocking collective calls "
        "(MPI_File_iwrite_at_all), or let dedicated I/O ranks write while the others compute.",
    ),
    Rule(
        "flush-dominates",
        "warning",
        "Flushes (fsync, MPI_File_sync, H5Fflush) take longer than the writes that they flush.",
        {"share": 0.5, "seconds": 0.01, "run_share": 0.01},
        "Flush once at the end of a phase instead of after each write; drop MPI_File_sync, nc_sync and H5Fflush before "
        "a close that does it anyway; let one rank flush a shared file; where nothing must outlive a crash of the "
        "node, do not flush at all.",
    ),
    Rule(
        "synchronous-writes",
        "warning",
        "Files are opened such that each write waits for the storage.",
        {"seconds": 0.001, "share_of_run": 0.001},
        "Open the file without O_SYNC and O_DSYNC, and flush once where data must outlive a crash; larger writes wait "
        "less often.",
    ),
    Rule(
        "slow-ranks",
        "warning",
        "Some ranks take much longer for the same amount than the others.",
        {"slower": 3.0, "alike": 2.0, "share_of_run": 0.01, "severe_share": 0.05, "seconds": 0.01, "bytes": MIB},
        "See what the slow ranks have in common: a node, a storage target (lfs getstripe), a network link, or a turn "
        "behind the others; spread files over more targets (lfs setstripe -c), and let fewer ranks write at a time.",
    ),
    Rule(
        "stragglers",
        "info",
        "The same ranks are late in most phases, and the others are done long before.",
        {
            "phases": 4,
            "share": 0.5,
            "chance": 0.01,
            "waited": 0.8,
            "bytes": MIB,
            "seconds": 0.01,
            "share_of_run": 0.01,
            "severe_share": 0.05,
        },
        "See what these ranks do before they write or read: more work than the others, a slower core or node, output "
        "of their own such as a log; give them less to do, or let their part be moved by others.",
    ),
    Rule(
        "slow-operations",
        "info",
        "Few transfers take most of the time, far longer than others of their size.",
        {
            "slower": 8.0,
            "operations_share": 0.25,
            "time_share": 0.5,
            "share_of_run": 0.01,
            "severe_share": 0.05,
            "seconds": 0.01,
        },
        "See what else went on at that time: the first touch of a file or of memory, a cache that was written out, a "
        "flush, other jobs on the file system. More of the same work elsewhere changes nothing; look at the time and "
        "the ranks that are named.",
    ),
    Rule(
        "serial-io",
        "warning",
        "One rank moves all that the program reads or writes in a layer, while the others do not.",
        {"bytes": MIB},
        "Let several ranks move the data: MPI-IO, parallel netCDF or HDF5, or one writer a node; where it is little, "
        "it may stay as it is.",
    ),
    Rule(
        "alternating-access",
        "info",
        "Processes change between reading and writing one file.",
        {"operations": 100, "share": 0.25},
        "Read first what is needed and write at the end, or keep it in memory: each change empties read-ahead and "
        "makes caches on other nodes give up their locks.",
    ),
    Rule(
        "metadata-sync",
        "info",
        "Flushes put out next to nothing: what they make durable is metadata of the file.",
        {"written": 4096, "operations": 10, "seconds": 0.01, "severe_share": 0.01},
        "Flush after data was written and only then: drop the second of two calls (a close, MPI_File_sync and nc_sync "
        "flush themselves), and do not flush on ranks that wrote nothing.",
    ),
    Rule(
        "unaligned-requests",
        "info",
        "Requests begin beside the blocks of the file.",
        {"operations": 100, "share": 0.5, "compared": 0.1, "severe_share": 0.05},
        "Let data begin at a multiple of the block or stripe: H5Pset_alignment, nc__enddef with v_align, or padding of "
        "headers and records.",
    ),
    Rule(
        "layer-overhead",
        "info",
        "A layer is busy while nothing moves below it.",
        {"share": 0.5, "seconds": 0.01, "share_of_run": 0.001},
        "The time goes to communication, packing, conversion or waiting inside the library: fewer and larger "
        "calls, data types that match the file's, fewer ranks per call.",
    ),
    Rule(
        "stray-files",
        "info",
        "I/O to system files inside of I/O calls, or to files that only one node sees.",
        {"inside": 100, "local_bytes": MIB},
        "Reads of /proc or configuration files at each call come from the library: switch the feature off "
        "(memory statistics, core files) or update the library; put TMPDIR where temporary data belongs.",
    ),
    Rule(
        "missing-lower-layer",
        "info",
        "A layer moves bytes, but nothing of the layers below it is recorded.",
        {"bytes": 1},
        "Record the calls inside the libraries too: build with scorep --io=runtime:posix (library wrapping at"
        " run time) instead of link-time wrapping, and link the libraries dynamically.",
    ),
    Rule(
        "hidden-traffic",
        "info",
        "A library moves bytes outside of the operations that it was asked for.",
        {"share": 0.01, "bytes": 64 * KIB},
        "Look at what happens on opening, defining and closing files: headers, preallocation "
        "(MPI_File_preallocate), flushed buffers and caches.",
    ),
)
"""All rules, in the order of their importance within one severity."""
