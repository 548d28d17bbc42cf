"""What one side's recorder does not tell is no change; what it would have told and did not find is one."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest
from iostrata.runs import FindingRow, JobRow, LayerRow, Run, Settings, diff_runs, read_run

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)

ALL = ("read", "write", "flush", "metadata")


def run(recorder: str, layers: tuple[str, ...], *keys: tuple[str, str], directions=ALL, sought=("funnel",)) -> Run:
    """Return a run that does ten operations in each of `keys`, layer and direction."""
    rows = tuple(LayerRow(job=recorder, layer=layer, direction=name, operations=10, bytes=1e6) for layer, name in keys)
    job = JobRow(
        job=recorder, name=recorder, status="read", operations=10, recorder=recorder, layers_recorded=layers,
        directions_recorded=directions, findings_sought=sought, layers=tuple(dict.fromkeys(key[0] for key in keys)),
    )  # fmt: skip
    return Run(job, rows)


def finding(name: str = "funnel", evidence: str = "{}") -> FindingRow:
    return FindingRow(job="", id=name, severity="critical", layer="MPI-IO", text="text", advice="", evidence=evidence)


WRITES = (("MPI-IO", "write"), ("POSIX", "write"))
FULL = run("OTF2", ("MPI-IO", "POSIX"), *WRITES)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        # A layer that the other does not watch, or a kind of operation.
        (FULL, run("TMIO", ("MPI-IO",), ("MPI-IO", "write"))),
        (run("OTF2", ("MPI-IO", "POSIX"), *WRITES, ("POSIX", "flush")),
         run("Darshan", ("MPI-IO", "POSIX"), *WRITES, directions=("read", "write"))),
        # Operations on metadata, which each recorder counts in its own way.
        (run("OTF2", ("MPI-IO", "POSIX"), *WRITES, ("POSIX", "metadata")),
         run("DFTracer", ("MPI-IO", "POSIX"), *WRITES)),
        # A layer that nobody knows whether it would be there.
        (FULL, run("table", (), ("POSIX", "write"))),
        # Findings that the other does not look for, or of a layer that it does not watch.
        (replace(FULL, findings=(finding(),)), run("Darshan", ("MPI-IO", "POSIX"), *WRITES, sought=("other",))),
        (replace(FULL, findings=(finding("funnel", '{"lower": "POSIX"}'),)),
         run("OTF2", ("MPI-IO",), ("MPI-IO", "write"))),
    ],
)  # fmt: skip
def test_what_the_other_recorder_does_not_tell_is_no_change(more, less):
    for before, after, side in ((more, less, "after"), (less, more, "before")):
        found = diff_runs([before], [after])
        assert (found.verdict, found.changes) == ("same", ())
        assert {one.side for one in found.not_recorded} == {side}
        assert found.to_dict()["not_recorded"]
        (text,) = found.cautions
        assert text.startswith(f"Not compared, as it is not recorded in {'AB'[side == 'after']} ({less.job.recorder})")


def test_what_the_other_recorder_would_have_told_is_a_change():
    alone = run("Darshan", ("MPI-IO", "POSIX"), ("POSIX", "write"))
    assert [one.text[:15] for one in diff_runs([alone], [FULL]).mattering] == ["MPI-IO writes a"]
    flushes = run("table", (), ("POSIX", "flush")), run("table", (), ("POSIX", "write"))
    assert len(diff_runs([flushes[0]], [flushes[1]]).mattering) == 2
    found = diff_runs([FULL], [replace(run("Darshan", ("MPI-IO", "POSIX"), *WRITES), findings=(finding(),))])
    assert [one.id for one in found.mattering] == ["finding:funnel"]
    assert found.not_recorded == ()


def test_a_table_without_rows_of_flushes_has_none_and_no_finding_of_them(tmp_path):
    read = []
    for name, flushes in (("a", False), ("b", True)):
        rows = []
        for step in range(6):
            row = {"layer": "POSIX", "rank": 0, "mode": "write", "start": step, "end": step + 0.1, "bytes": 10**6}
            flush = {**row, "mode": "flush", "start": step + 0.1, "end": step + 0.4, "bytes": 0}
            rows += [row, flush] if flushes else [row]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps({**row, "file": f"/d/f{place}"}) for place, row in enumerate(rows)))
        read.append(read_run(path, Settings()))
    found = diff_runs(read[:1], read[1:])
    assert found.not_recorded == ()
    assert found.changes[0].text.startswith("POSIX flushes are new: 6 operations, which keep the layer busy for 1.8 s")


def test_calls_that_were_not_wrapped_beneath_a_layer_are_no_change():
    """Where MPI-IO's own calls are not recorded, POSIX has the program's alone."""
    full = replace(FULL, layers=(FULL.layers[0], replace(FULL.layers[1], above="MPI-IO", operations=80)))
    full = replace(full, findings=(finding("funnel", '{"lower": "POSIX"}'),))
    unfollowed = (finding("missing-lower-layer"),)
    for layers in (FULL.layers, FULL.layers[:1]):
        for before, after in ((full, part := replace(FULL, layers=layers, findings=unfollowed)), (part, full)):
            found = diff_runs([before], [after])
            assert not {change.layer for change in found.changes} - {"MPI-IO"}
            assert found.mattering == ()
            assert {one.layer for one in found.not_recorded} == {"MPI-IO", "POSIX"}


def test_of_several_runs_those_count_that_could_tell():
    """Three of each side have a finding, of all that could have it."""
    with_it = [replace(FULL, job=replace(FULL.job, job=str(place))) for place in range(3)]
    with_it = [replace(one, findings=(replace(finding(), job=one.job.job),)) for one in with_it]
    blind = [run(f"Darshan {place}", ("MPI-IO", "POSIX"), *WRITES, sought=("other",)) for place in range(3)]
    assert diff_runs(with_it, [*with_it, *blind]).changes == ()


def test_numbers_that_one_recorder_does_not_tell_are_named():
    blind = replace(FULL, layers=tuple(replace(row, operations=None) for row in FULL.layers))
    full = replace(FULL, layers=tuple(replace(row, request_p50=4096, ranks=4) for row in FULL.layers))
    found = diff_runs([full], [blind])
    assert found.changes == ()
    assert "ranks, request sizes, the number of MPI-IO writes" in found.cautions[0]


def test_damage_is_told():
    broken = replace(FULL, job=replace(FULL.job, damaged=True, events_lost=12))
    assert diff_runs([FULL], [broken]).cautions == ("B is damaged and lost 12 events: differences may come from that",)


def test_a_log_of_darshan_beside_an_archive(tmp_path, fixtures):
    """The archive has handles, flushes and ISO C, of which DXT knows nothing; they are not new."""
    log = made.DarshanLog({"DXT_POSIX": (1, [made.dxt(7, 0, [(0, 64, 0.25, 0.5)], host="n1")])}, {7: "/scratch/x"})
    (tmp_path / "log.darshan").write_bytes(bytes(log))
    one, other = read_run(tmp_path / "log.darshan", Settings()), read_run(fixtures / "serial1", Settings())
    for before, after in ((one, other), (other, one)):
        found = diff_runs([before], [after])
        assert not {change.layer for change in found.changes} - {None, "POSIX"}
        assert not {change.direction for change in found.changes} & {"flush", "metadata"}
        assert {"ISOC", "POSIX"} <= {told.layer for told in found.not_recorded}


@pytest.mark.recordings
def test_two_recorders_of_one_program_name_nothing_new(recordings):
    """IOR on 384 ranks, as TMIO and as Score-P saw it."""
    paths = recordings / "recorders" / "tmio" / "384.msgpack", recordings / "traces" / "ior384" / "traces.otf2"
    one, other = (read_run(path, Settings()) for path in paths)
    for before, after in ((one, other), (other, one)):
        assert diff_runs([before], [after]).mattering == ()
