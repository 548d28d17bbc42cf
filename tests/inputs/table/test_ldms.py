"""Events of the Darshan connector of LDMS: rows of CSV that name files when they are opened only."""

import gzip
import json

import iostrata
import pytest
from iostrata.cli import main
from iostrata.inputs.recognition import find_recorder

pytest.importorskip("pyarrow")

HEADER = (
    "uid,exe,job_id,rank,ProducerName,file,record_id,module,type,max_byte,switches,flushes,cnt,op,pt_sel,irreg_hslab,"
    "reg_hslab,ndims,npoints,off,len,start,dur,total,timestamp"
)
START = 1_700_000_000.5


def row(rank, module, op, start, dur, size=-1, file="N/A", record="1.5E+18", offset=-1, job=7, node="n1"):
    exe = "/bin/ior" if file != "N/A" else "N/A"
    stamp = f"{START + start + dur:.6f}"
    more = f"-1,-1,-1,1,{op},-1,-1,-1,-1,-1,{offset},{size},{start},{dur},0"
    return f"500,{exe},{job},{rank},{node},{file},{record},{module},{'MET' if op == 'open' else 'MOD'},{more},{stamp}"


ROWS = [
    row(0, "POSIX", "open", 0.1, 0.01, file="/a"),
    row(1, "POSIX", "open", 0.1, 0.01, file="/b"),
    row(0, "POSIX", "write", 1.0, 0.25, 1000, offset=0),
    row(0, "POSIX", "write", 2.0, 0.25, 500, offset=1000),
    row(1, "POSIX", "read", 3.0, 0.5, 70, offset=0),
    row(0, "STDIO", "open", 0.0, 0, file="<STDOUT>"),
    row(0, "STDIO", "open", 0.0, 0, file="/log"),
    row(0, "STDIO", "write", 4.0, 0.001, 9),
    row(1, "MPIIO", "write", 4.5, 0.125, 30, record="77"),
    row(0, "POSIX", "close", 5.0, 0.5),
]


@pytest.fixture
def written(tmp_path):
    def write(rows=ROWS, name="job.csv.gz"):
        path = tmp_path / name
        text = "\n".join([HEADER, *rows, ""]).encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        return path

    return write


def test_events_are_operations_of_rank_and_file(written):
    path = written()
    assert find_recorder(path).name == "LDMS"
    trace = iostrata.open_trace(path)
    told = {
        (name, way): (one.operations, one.bytes, one.summed_s)
        for name, layer in trace.layers.items()
        for way in layer.directions
        for one in [layer.statistics(way)]
    }
    assert told == {
        ("POSIX", "write"): (2, 1500, 0.5),
        ("POSIX", "read"): (1, 70, 0.5),
        ("ISOC", "write"): (1, 9, 0.001),
        ("MPI-IO", "write"): (1, 30, 0.125),
    }
    assert (trace.ranks, trace.definitions.clock.realtime_ns) == (2, 1_700_000_000_500_000_000)
    table = trace.breakdown("file")
    opened = dict(zip(zip(table.layer, table.key, strict=True), table.columns["opens"].tolist(), strict=True))
    # Of an id that stands for two files nobody knows which one it was; of another one no file was opened.
    assert opened.keys() >= {("POSIX", "/a"), ("POSIX", "/b"), ("ISOC", "/log or <STDOUT>"), ("MPI-IO", "record 77")}
    assert opened["POSIX", "/a"] == 1
    assert not trace.damage.damaged


def test_rows_that_cannot_be_are_damage_and_several_jobs_are_named(written, capsys):
    wrong = [
        row(-4, "POSIX", "write", 1, 1, 5),
        row(0, "NOTHING", "write", 1, 1, 5),
        row(0, "POSIX", "fly", 1, 1, 5),
        row(0, "POSIX", "write", 1, -3, 5),
        "1,2,3",
    ]
    trace = iostrata.open_trace(written([*ROWS, *wrong]))
    assert trace.layers["POSIX"].statistics("write").bytes == 1500
    reasons = " ".join(str(one) for one in trace.damage.locations)
    assert all(text in reasons for text in ("module that is not known", "end before", "no rows", "operation that"))
    assert main(["info", str(written([*ROWS, row(0, "POSIX", "read", 1, 1, 1, job=8)], "two.csv"))]) == 1
    assert "events of 2 jobs (7, 8" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["nan", 10**30, "many", -2])
def test_an_amount_that_is_none_is_damage_and_no_write_of_nothing(written, size):
    trace = iostrata.open_trace(written([*ROWS, row(0, "POSIX", "write", 4, 0.1, size)]))
    assert trace.layers["POSIX"].statistics("write").operations == 2
    assert "a len that is no number of bytes" in str(trace.damage.locations)


def test_opens_and_closes_alone_make_a_run(written, capsys):
    opens = [row(rank, "POSIX", "open", 0.1, 0.5 + rank, file=f"/a{rank}", record=str(rank)) for rank in range(3)]
    path = written([*opens, row(0, "POSIX", "close", 3.0, 0.25)])
    assert main(["layers", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trace"]["duration_s"] == 3.25
    assert main(["layers", str(path)]) == 0
    assert "POSIX: 3 opens" in capsys.readouterr().out


def test_a_time_stamp_that_no_clock_has_is_no_date_of_the_run(written):
    stamped = [one.rpartition(",")[0] + ",1e300" for one in ROWS]
    trace = iostrata.open_trace(written(stamped))
    assert trace.definitions.clock.realtime_ns is None
    assert trace.layers["POSIX"].statistics("write").bytes == 1500


def test_a_cut_file_gives_its_whole_lines(written):
    path = written(ROWS * 200)
    path.write_bytes(path.read_bytes()[:-60])
    trace = iostrata.open_trace(path)
    assert trace.damage.damaged
    assert trace.layers["POSIX"].statistics("write").operations > 0


def test_a_stream_of_events_is_followed(written, capsys):
    assert main(["watch", "--once", "--json", str(written(name="job.csv"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    last = [line for line in lines if '"last": true' in line]
    assert any('"layer": "POSIX", "direction": "write", "operations": 2, "bytes": 1500' in line for line in last)
    assert any('"layer": "POSIX", "direction": "read", "operations": 1, "bytes": 70' in line for line in last)


def test_events_of_another_job_in_a_stream_are_refused_and_told(written, capsys):
    rows = [*ROWS, row(0, "POSIX", "write", 9, 0.5, 10**6, job=8), row(0, "POSIX", "close", 9.5, 0, job=8)]
    assert main(["watch", "--once", "--json", str(written(rows, "job.csv"))]) == 0
    told = capsys.readouterr()
    assert '"direction": "write", "operations": 2, "bytes": 1500' in told.out
    assert "refused 1" in told.err


def test_a_rank_that_mpi_cannot_have_is_none(written):
    """Ranks are `int` of 32 bits; a larger number would wrap to another rank."""
    rows = [row(rank, "POSIX", "write", 1.0, 0.25, 1000, file="/a") for rank in (2**31 - 1, 2**31, 2**32, 2**40)]
    trace = iostrata.open_trace(written(rows))
    assert sorted(trace.definitions.groups.rank.tolist()) == [-1, 2**31 - 1]
    assert [(one.events_expected, one.reason) for one in trace.damage.locations] == [
        (3, "3 rows left out: a rank that is no number of a rank")
    ]
