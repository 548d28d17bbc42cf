"""Changes between runs: made ones whose truth is known, noise of several shapes, and recorded pairs where they are."""

from dataclasses import replace
from io import StringIO
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from iostrata import SelectionError, TraceError
from iostrata.analysis.findings import rules
from iostrata.export.runs.differences_text import print_difference, verdict_text
from iostrata.runs import FailRule, FindingRow, JobRow, LayerRow, LoopRow, Run, Settings, diff_runs, read_run
from iostrata.runs.differences.changes import Change
from iostrata.runs.differences.difference import aligned_phases
from iostrata.runs.differences.testing import Group, RunSpread, compare, compare_counts, corrected, effective_count
from iostrata.runs.differences.words import average_text
from rich.console import Console
from scipy.stats import ttest_ind

WRITE = LayerRow(
    job="a", layer="POSIX", direction="write", operations=320, bytes=1.6e8, busy_s=2.0, summed_s=16.0, bandwidth=8e7,
    files=1, handles=8, ranks=8, request_p50=524288, collective_operations=0, non_blocking_operations=0,
    periodic=True, period_s=1.5, phases=10,
    phase_start_s=tuple(1.5 * place for place in range(10)),
    phase_end_s=tuple(1.5 * place + 0.2 for place in range(10)),
    phase_bytes=(1.6e7,) * 10,
)  # fmt: skip


def run(name: str = "a", factor: float = 1.0, findings: tuple[FindingRow, ...] = (), **changes: object) -> Run:
    """Return a run of one layer; `factor` is by what its I/O takes longer."""
    busy = 2.0 * factor
    ends = tuple(start + 0.2 * factor for start in WRITE.phase_start_s)
    row = replace(WRITE, job=name, busy_s=busy, bandwidth=1.6e8 / busy, phase_end_s=ends)
    row = replace(row, **changes)
    job = JobRow(
        job=name, name=name, status="read", duration_s=20.0 + busy, io_s=busy, ranks=8, nodes=2, layers=("POSIX",),
        operations=row.operations,
    )  # fmt: skip
    return Run(job, (row,), findings)


def finding(name: str, severity: str = "warning") -> FindingRow:
    return FindingRow(job="a", id=name, severity=severity, layer="POSIX", text="text", advice="", evidence="{}")


def lasting(seconds: float, *costs: tuple[str, float]) -> Run:
    one = run(findings=tuple(replace(finding(name, "critical"), cost_s=cost) for name, cost in costs))
    # Of which 8 s are no I/O.
    return Run(replace(one.job, duration_s=seconds, io_s=seconds - 8.0), one.layers, one.findings)


def test_what_one_run_a_side_leaves_open_names_the_finding_that_costs_what_is_taken_longer():
    slow, fast = lasting(30.0, ("late-arrivals", 9.0), ("metadata-time", 2.0)), lasting(19.0, ("metadata-time", 1.9))
    found = diff_runs([slow], [fast])
    assert (found.verdict, found.uncertain) == (
        "same",
        "B takes 11 s less than A, of which up to 9 s may be late-arrivals (POSIX)",
    )
    assert diff_runs([fast], [slow]).uncertain == found.uncertain.replace("less", "more")
    assert found.to_dict()["uncertain"] == found.uncertain
    # What costs as much on both sides, far less than the difference, or more than it, is no cause of it.
    same = ("late-arrivals", 9.0)
    for before, after in (((same,), (same,)), ((("late-arrivals", 2.0),), ()), ((("late-arrivals", 25.0),), ())):
        assert diff_runs([lasting(30.0, *before)], [lasting(19.0, *after)]).uncertain == "B takes 11 s less than A"


def test_where_no_io_takes_longer_the_function_of_mpi_is_named_in_which_ranks_wait():
    def waiting(seconds: float, **took: float) -> Run:
        one = lasting(seconds)
        names, times = tuple(f"MPI_{name}" for name in took), tuple(took.values())
        return Run(replace(one.job, io_share=1 / seconds, mpi_functions=names, mpi_s=times), one.layers)

    before, after = waiting(20.0, Send=14.4, Barrier=0.8), waiting(18.0, Barrier=0.8)
    told = diff_runs([before], [after]).took
    assert "none of that is I/O" in told
    assert told.endswith("; ranks are in MPI_Send for 0 s each on average instead of 1.8 s")
    # Where it is no more, little of what is taken longer, or not known, nothing is said of it.
    for other in (waiting(18.0, Barrier=0.8, Send=20.0), waiting(18.0, Send=12.0), waiting(18.0)):
        assert "ranks are in" not in diff_runs([before], [other]).took


def in_io(seconds: float, io: float, *findings: FindingRow, **changes: object) -> Run:
    """Return a run that is so long in I/O, and has flushes in POSIX where changes are given."""
    one = run(findings=findings)
    flushes = (replace(WRITE, direction="flush", bytes=0.0, **changes),) if changes else ()
    return Run(replace(one.job, duration_s=seconds, io_share=io / seconds), (*one.layers, *flushes), findings)


def test_io_that_takes_longer_in_runs_as_long_is_told_with_what_it_is():
    costly = replace(finding("metadata-time"), cost_s=4.0)
    told = diff_runs([in_io(20.0, 1.0)], [in_io(20.1, 3.0, costly)])
    assert told.took.startswith("B takes as long as A, but is in I/O for 2 s more (3 s instead of 1 s); ")
    assert told.took.endswith("; metadata-time (POSIX) costs up to 4 s instead of 0 s")
    assert verdict_text(told) == f"No change is certain with one run a side: {told.took}."
    assert diff_runs([in_io(20.0, 1.0)], [in_io(20.1, 1.3, costly)]).took is None


def test_what_is_done_more_often_costs_no_more_than_the_io_of_a_rank_and_is_named_before_what_any_io_costs():
    """Two ranks flush one after the other: the layer is busy for as long as both of them."""
    any_io = replace(finding("not-overlapped"), cost_s=2.6)
    before, after = in_io(20.0, 3.0, any_io, operations=800, busy_s=4.8), in_io(17.4, 0.4, operations=20, busy_s=0.1)
    assert diff_runs([before], [after]).took.endswith("up to 2.6 s may be POSIX flushes (20 instead of 800)")
    alone = diff_runs([in_io(20.0, 3.0, any_io)], [in_io(17.4, 0.4)])
    assert alone.took == "B takes 2.6 s less than A, and is in I/O for 400 ms instead of 3 s"


def test_the_same_of_several_layers_is_told_once_and_many_changes_in_short():
    layers = [replace(WRITE, layer=name) for name in ("netCDF", "HDF5", "POSIX")]
    job = replace(run().job, layers=tuple(row.layer for row in layers))
    less = [replace(row, operations=2, request_p50=10**8, period_s=0.5, files=5, ranks=1) for row in layers]
    others = tuple(finding(rule.id) for rule in rules()[:12])
    with Console(width=200, file=StringIO()) as screen:
        print_difference(diff_runs([Run(job, tuple(layers))], [Run(job, tuple(less), others)]), screen, {})
    text = screen.file.getvalue()
    assert "  netCDF, HDF5 and POSIX each have 2 write operations instead of 320: 1/160\n" in text
    assert text.count("instead of 320") == 1
    assert "more that matter; --json has all" in text


def test_what_a_finding_of_both_sides_costs_is_told_where_it_is_far_more_or_less():
    def told(before: float, after: float, runs: int = 1) -> list[str]:
        sides = [[lasting(20.0, ("small-requests", cost))] * runs for cost in (before, after)]
        return [one.text for one in diff_runs(*sides).changes if one.id == "finding-cost:small-requests"]

    (text,) = told(9.0, 0.09)
    assert text == "Finding small-requests (POSIX) costs up to 90 ms instead of 9 s: 1/100"
    assert told(0.09, 9.0) == ["Finding small-requests (POSIX) costs up to 9 s instead of 90 ms: 100 times"]
    assert not told(9.0, 6.1)
    assert not told(9.0, 9.0, 3)
    # It is nothing that a rule for findings that came, or a verdict, goes by.
    found = diff_runs([lasting(20.0, ("small-requests", 0.09))], [lasting(20.0, ("small-requests", 9.0))])
    assert found.verdict == "same"
    assert not FailRule("finding").broken_by(found)
    # What does not matter on either side is not worth a sentence.
    small = [run(findings=(replace(finding("small-requests", "info"), cost_s=cost),)) for cost in (1e-3, 1e-1)]
    assert not [one for one in diff_runs(small[:1], small[1:]).changes if one.id.startswith("finding-cost")]


def test_which_side_takes_longer_is_told_beside_what_is_certain_as_long_as_no_time_is():
    slow, fast = lasting(30.0, ("flush-dominates", 9.0)), lasting(19.0)
    fewer = Run(fast.job, tuple(replace(one, operations=32, request_p50=5_000_000) for one in fast.layers))
    found = diff_runs([slow], [fewer])
    assert {one.id for one in found.mattering} == {"operations", "request-size"}
    assert found.uncertain == "B takes 11 s less than A, of which up to 9 s may be flush-dominates (POSIX)"
    assert verdict_text(found) == f"B differs from A. {found.uncertain}; one run a side does not make that certain."
    # A time that is certain says it better.
    assert diff_runs([slow], [run(factor=1e-4)]).uncertain is None


@pytest.mark.parametrize(("length", "told"), [(60.0, True), (10_000.0, False)])
def test_how_long_a_layer_takes_matters_where_it_is_worth_a_sentence_in_front(length, told):
    sides = [Run(replace(one.job, duration_s=length), one.layers) for one in (run("a"), run("b", factor=20.0))]
    mattering = {one.id for one in diff_runs(sides[:1], sides[1:]).mattering}
    assert bool(mattering & {"time", "bandwidth"}) == told


def test_how_long_the_slowest_rank_takes_matters_where_counters_know_nothing_else():
    no_phases = dict.fromkeys(("phase_start_s", "phase_end_s", "phase_bytes"), ())
    sides = [
        run("a", busy_s=None, bandwidth=None, slowest_s=465.0, **no_phases),
        run("b", busy_s=None, bandwidth=None, slowest_s=1.58, **no_phases),
    ]
    sides = [
        Run(replace(one.job, duration_s=length), one.layers) for one, length in zip(sides, (465.0, 2.0), strict=True)
    ]
    assert "slowest-rank" in {one.id for one in diff_runs(sides[:1], sides[1:]).mattering}


def test_a_period_that_changes_far_more_than_the_run_is_of_another_level():
    def of(period: float, operations: int = 320, length: float = 20.0) -> Run:
        one = run(period_s=period, operations=operations)
        return Run(replace(one.job, duration_s=length), one.layers)

    def told(before: Run, after: Run) -> Change:
        return next(one for one in diff_runs([before], [after]).changes if one.id == "period")

    other = told(of(1.5), of(1.5e-5))
    assert (other.matters, "another level" in other.text) == (False, True)
    # A fortieth of the operations comes more seldom, or as often and less at a time, and not 600 times as often.
    fewer = told(of(0.36), of(6e-4, operations=8))
    assert (fewer.matters, "another level" in fewer.text) == (False, True)
    assert told(of(0.36), of(12.0, operations=8)).matters
    assert told(of(1.5), of(0.3, length=4.0)).matters
    assert told(of(1.5), of(0.75)).matters
    # Where far more is done it may recur as much more often.
    assert told(of(1.5), of(0.015, operations=32_000)).matters


def test_a_median_between_two_sizes_is_no_change_of_sizes():
    def told(before: LayerRow, after: LayerRow) -> Change:
        sides = [Run(run().job, (one,)) for one in (before, after)]
        return next(one for one in diff_runs(sides[:1], sides[1:]).changes if one.id == "request-size")

    # Of 300 headers of 512 B and 300 frames of 64 KiB the headers went.
    both, alone = 300 * (512 + 65_536), 300 * 65_536
    mixed = replace(WRITE, operations=600, bytes=float(both), request_p50=512)
    found = told(mixed, replace(WRITE, operations=300, bytes=float(alone), request_p50=65_536))
    told_so = "ask for 65.5 kB at a time on average instead of 33 kB (median: 65.5 kB instead of 512 B)"
    equal = average_text("POSIX", "write", (8.801e6, 8.8e6), (3.2e6, 8.8e6))
    assert equal.endswith(
        "ask for 8.8 MB at a time on average on both sides, in the median for 8.8 MB instead of 3.2 MB"
    )
    assert (found.matters, found.text.endswith(told_so)) == (False, True)
    assert told(WRITE, replace(WRITE, operations=32, request_p50=5_000_000)).matters
    # A mean that goes the other way speaks for it even less.
    assert not told(replace(WRITE, bytes=1.6e9), replace(WRITE, bytes=1.6e7, request_p50=5_000_000)).matters


def test_what_is_compressed_below_is_no_amplification_that_went():
    sides = [run(amplification=0.48), run(amplification=1.0)]
    assert not [one for one in diff_runs(sides[:1], sides[1:]).changes if one.id == "amplification"]
    sides = [run(amplification=0.48), run(amplification=2.0)]
    assert [one.good for one in diff_runs(sides[:1], sides[1:]).mattering if one.id == "amplification"] == [-1]


def test_runs_that_take_about_as_long_and_many_runs_leave_nothing_open():
    assert diff_runs([lasting(20.3, ("late-arrivals", 0.2))], [lasting(20.0)]).took is None
    slow, fast = lasting(30.0, ("late-arrivals", 9.0)), lasting(19.0)
    found = diff_runs([slow] * 3, [fast] * 3)
    assert (found.uncertain, found.took) == (
        None,
        "B takes 11 s less than A, of which up to 9 s may be late-arrivals (POSIX)",
    )
    # The verdict tells it, so it is not told again as chance.
    alone = diff_runs([slow], [fast])
    assert "duration" in {one.id for one in alone.changes} - {one.id for one in alone.smaller}


def test_where_no_finding_is_the_cause_it_is_told_how_long_each_is_in_io():
    sides = [
        Run(replace(one.job, io_share=share), one.layers) for one, share in ((lasting(5.0), 0.34), (lasting(3.5), 0.04))
    ]
    found = diff_runs(sides[:1], sides[1:])
    assert found.took == "B takes 1.5 s less than A, and is in I/O for 140 ms instead of 1.7 s"
    # Where it is computation that takes less, that is said.
    for share, most in ((0.46, "most of that is no I/O: B is in I/O for 1.61 s"), (0.6, "none of that is I/O: B is")):
        other = Run(replace(sides[1].job, io_share=share), sides[1].layers)
        assert diff_runs(sides[:1], [other]).took.startswith(f"B takes 1.5 s less than A; {most}")


def starting(seconds: float, start: float, in_io: float, *costs: tuple[str, float]) -> Run:
    one = lasting(seconds, *costs)
    begins = tuple(start + at for at in WRITE.phase_start_s)
    rows = tuple(replace(row, phase_start_s=begins) for row in one.layers)
    return Run(replace(one.job, io_share=in_io / seconds), rows, one.findings)


def test_what_passes_before_the_first_operation_is_no_effect_of_what_is_done_in_it():
    slow = starting(13.5, 2.7, 7.2, ("small-requests", 5.0))
    found = diff_runs([slow], [starting(7.6, 1.1, 4.0)]).took
    told = "1.6 s of it before the first I/O and up to 3.2 s of it may be small-requests (POSIX)"
    assert found == f"B takes 5.9 s less than A, {told}"
    # Where the start hides a part of what was saved, that is said, too.
    found = diff_runs([slow], [starting(11.0, 4.0, 4.0)]).took
    told = "of which up to 2.5 s may be small-requests (POSIX), although its first I/O comes 1.3 s later"
    assert found == f"B takes 2.5 s less than A, {told}"


def flushed(count: int, busy: float, seconds: float) -> Run:
    one = lasting(seconds)
    # How long the writes take is asked, too.
    one = replace(one, layers=run(factor=1.0 + 0.01 * seconds).layers)
    flush = LayerRow(job="a", layer="POSIX", direction="flush", operations=count, busy_s=busy)
    return Run(one.job, (*one.layers, flush))


def test_the_time_of_what_is_surely_done_far_less_is_tested_by_itself():
    found = diff_runs([flushed(6_024, 14.5, 24.0)], [flushed(264, 0.98, 4.4)])
    (time,) = (one for one in found.mattering if (one.id, one.direction) == ("time", "flush"))
    assert (found.verdict, time.good, found.uncertain) == ("better", 1, None)
    assert time.interval[1] < 1
    # As many flushes that take a fifteenth of the time may have met another device.
    assert diff_runs([flushed(264, 14.5, 24.0)], [flushed(264, 0.98, 4.4)]).verdict == "same"
    # Fewer that take longer are no explanation of that.
    assert diff_runs([flushed(6_024, 0.98, 4.4)], [flushed(264, 14.5, 24.0)]).verdict != "better"


def test_what_is_done_less_and_takes_less_by_as_much_as_the_run_is_sure_and_named_first():
    slow, fast = flushed(624, 2.15, 7.0), flushed(25, 0.40, 5.3)
    slow = replace(slow, findings=(replace(finding("not-overlapped"), cost_s=1.8),))
    found = diff_runs([slow], [fast])
    assert verdict_text(found) == (
        "B is better than A. B takes 1.7 s less than A, of which up to 1.7 s may be POSIX flushes (25 instead of 624)."
    )
    assert found.mattering[0].text == (
        "POSIX has 25 flushes instead of 624: 1/25. POSIX flushes keep the layer busy for 400 ms instead of 2.15 s: "
        "1/5.4"
    )
    # A run that is as long as before says nothing for it.
    assert diff_runs([slow], [flushed(25, 0.40, 7.0)]).verdict == "changed"


def test_no_finding_explains_more_than_the_runs_differ_by():
    alone = lasting(30.0, ("split-requests", 11.0))
    assert diff_runs([alone], [lasting(19.5)]).took.endswith("of which up to 10.5 s may be split-requests (POSIX)")


def test_what_is_behind_is_told_first_and_is_nothing_that_was_there_or_only_took_longer():
    slow = lasting(30.0, ("slow-operations", 9.0), ("serial-io", 7.0), ("split-requests", 11.0))
    fast = lasting(19.5, ("split-requests", 1.0))
    few = Run(fast.job, tuple(replace(one, files=2) for one in fast.layers), fast.findings)
    found = diff_runs([slow], [few])
    # One has no cause, the other may be meant and is there as before.
    assert found.took.endswith("of which up to 7 s may be serial-io (POSIX)")
    assert [one.id for one in found.shown] == ["finding:serial-io", "files"]
    assert "finding:serial-io" not in {one.id for one in found.smaller}
    # What both have explains it where something is done in another way, and else costs more as all does.
    some = lasting(19.5, ("compression", 1.0))
    dear = lasting(30.0, ("compression", 11.0))
    assert "compression" not in diff_runs([dear], [some]).took
    other = Run(some.job, tuple(replace(one, files=2) for one in some.layers), some.findings)
    assert diff_runs([dear], [other]).took.endswith("may be compression (POSIX)")


def test_writes_that_block_are_behind_what_those_that_did_not_spared():
    fast, slow = starting(20.0, 1.0, 2.0), starting(30.0, 1.0, 12.0, ("shared-file-independent", 10.0))
    fast = Run(fast.job, tuple(replace(one, non_blocking_operations=one.operations, busy_s=9.0) for one in fast.layers))
    slow = Run(slow.job, tuple(replace(one, busy_s=9.0) for one in slow.layers), slow.findings)
    found = diff_runs([fast], [slow])
    assert found.took.endswith("of which up to 9 s may be POSIX writes that block")
    assert found.shown[0].id == "non-blocking"


def test_what_takes_as_long_as_before_is_told_behind_what_does_not():
    def both(flushes: int, busy: float, reads: int) -> Run:
        one = flushed(flushes, busy, 20.0)
        read = replace(WRITE, direction="read", layer="ISOC", operations=reads, busy_s=0.01)
        return Run(one.job, (*one.layers, *(read,) * bool(reads)))

    order = [(one.id, one.layer) for one in diff_runs([both(400, 3.0, 900)], [both(10, 0.1, 0)]).mattering]
    assert order.index(("operations", "POSIX")) < order.index(("layer", "ISOC"))


def test_times_of_single_runs_alone_are_not_certain():
    def looped(factor: float) -> Run:
        return run(factor=factor)

    assert diff_runs([looped(1.0)], [looped(1e-4)]).uncertain is None
    found = diff_runs([looped(1.0)], [looped(0.3)])
    assert found.uncertain == found.took


def test_phases_are_no_change_by_themselves():
    sides = [Run(run().job, (replace(WRITE, phases=count),)) for count in (8, 1_608)]
    (phases,) = (one for one in diff_runs(sides[:1], sides[1:]).changes if one.id == "phases")
    assert not phases.matters


def test_a_screen_has_three_differences_that_may_be_chance_and_findings_without_where():
    told = "5 writes take 3 s (2 ranks); most of it on rank 0 (/run/a; rank 0); costs at most 3 s, 9 % of the run"
    names = ("late-arrivals", "imbalance", "small-requests", "slow-operations", "not-overlapped")
    found = tuple(replace(finding(name), severity="info", text=told, cost_s=3.0) for name in names)
    with Console(width=200, file=StringIO()) as screen:
        print_difference(diff_runs([run(findings=found)], [run("b")]), screen, {})
    text = screen.file.getvalue().partition("too small to matter:")[2]
    assert text.count("went: 5 writes take 3 s (2 ranks); costs up to 3 s\n") == 3
    assert "and 2 more; --json has all" in text


@pytest.mark.parametrize(("busy", "first"), [(1e-4, "operations"), (2.0, "layer")])
def test_flushes_that_went_and_took_no_time_are_told_behind_what_is_large(busy, first):
    before, after = flushed(40, busy, 20.0), lasting(20.0)
    after = Run(after.job, tuple(replace(one, operations=32) for one in after.layers))
    assert diff_runs([before], [after]).mattering[0].id == first


def test_a_finding_that_came_beside_times_that_are_surely_better_leaves_them_better():
    fast = run("b", 1e-4, (finding("funnelled-collective"),))
    assert diff_runs([run()], [fast]).verdict == "better"
    assert diff_runs([run()], [run("b", findings=(finding("funnelled-collective"),))]).verdict == "changed"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(1397, 177, True), (1258, 0, True), (620, 600, False), (10, 25, False), (None, 900, False)],
)
def test_opens_in_vain_are_counted(before, after, told):
    sides = [replace(one, job=replace(one.job, failed_opens=fail)) for one, fail in ((run(), before), (run(), after))]
    texts = [one.text for one in diff_runs(sides[:1], sides[1:]).mattering]
    assert texts == ([f"Files are opened in vain {after:,} times instead of {before:,}"] if told else [])


def test_sizes_of_operations_that_were_too_many_to_be_kept_are_not_known():
    (told,) = diff_runs([run(request_p50=None)], [run("b")]).cautions
    assert told == "Not compared, as it is not known of A: request sizes of POSIX writes"


def moving(written: float, read: float, *findings: FindingRow) -> Run:
    """Return a run that asks for these bytes itself, whatever POSIX moves for it."""
    one = run(findings=findings, bytes=1.6e8)
    reads = replace(one.layers[0], direction="read", bytes=read or 5e8)
    return Run(replace(one.job, bytes_written=written, bytes_read=read), (*one.layers, reads), findings)


def again(read: float, distinct: float) -> FindingRow:
    return replace(finding("redundant-reads"), evidence=f'{{"read_bytes": {read}, "distinct_bytes": {distinct}}}')


def test_other_work_is_what_the_program_asks_for_itself_each_byte_once():
    def other(before: Run, after: Run) -> bool:
        return any("other work" in one for one in diff_runs([before], [after]).cautions)

    assert other(moving(1.6e8, 0.0), moving(8e8, 0.0))
    # What a library reads and writes again below is its own doing.
    below = moving(1.6e8, 0.0)
    fewer = Run(below.job, (replace(below.layers[0], bytes=1.6e7),), ())
    assert not other(below, fewer)
    told = diff_runs([moving(0.0, 1e8)], [moving(0.0, 8e8, again(8e8, 4e8))]).cautions[0]
    assert "it reads 100 MB in A, 400 MB in B, each byte once" in told
    # What is read again may be left out; another file may not.
    assert not other(moving(0.0, 8e8, again(8e8, 1e8)), moving(0.0, 1e8))
    assert other(moving(0.0, 8e8, again(8e8, 8e8)), moving(0.0, 1e8))
    # A library that reads what it has written over and over does so for as many bytes of its caller's.
    back = replace(finding("read-back"), evidence='{"read_back_bytes": 9e8}')
    assert not other(moving(0.0, 1e8, back), moving(0.0, 1e8))
    # A library that reads again what its chunks hold reads far more than it is asked for.
    chunks = moving(0.0, 2e7, again(4e8, 3e7))
    chunks = replace(chunks, layers=(*chunks.layers[:-1], replace(chunks.layers[-1], bytes=4e8)))
    (told,) = [one for one in diff_runs([chunks], [moving(0.0, 1e8)]).cautions if "other work" in one]
    assert "it reads 20 MB in A, 100 MB in B." in told
    # What a loop writes and reads again is no input.
    steps = '[["POSIX", "write", 1000000, "/s/hist.*", 1, 0], ["POSIX", "read", null, "/s/hist.*", 50, 0, 1e6, true]]'
    loop = LoopRow(
        job="a", loop=0, count=100, ranks=2, layers=("POSIX",), text="", steps=steps, begin_s=0.0, end_s=9.0,
        interval_s=1.0, jitter=0.0, timing="regular", bits=80.0,
    )  # fmt: skip
    keeps, reads = moving(2e8, 1e-9), replace(moving(2e8, 5e9, again(5e9, 2e8)), loops=(loop,))
    assert other(replace(reads, loops=()), keeps)
    assert not other(reads, keeps)
    # Nor is it nothing beside what is read on the other side.
    part = replace(moving(2e8, 2e7), loops=(loop,))
    (told,) = [one for one in diff_runs([part], [moving(2e8, 1e8)]).cautions if "other work" in one]
    assert "it reads 20 MB in A, 100 MB in B." in told
    # Several layers read it again, and evidence that makes no sense says nothing.
    lower = replace(again(7e8, 6e8), layer="ISOC")
    assert not other(moving(0.0, 8e8, again(8e8, 1e8), lower), moving(0.0, 1e8))
    for evidence in ("{", "{}", "[]", '{"read_bytes": "x", "distinct_bytes": 1}'):
        assert other(moving(0.0, 8e8, replace(again(8e8, 1e8), evidence=evidence)), moving(0.0, 1e8))


def test_ranks_that_do_more_alike_make_no_run_better_by_themselves():
    sides = [[run(str(place), imbalance=uneven + place / 50) for place in range(3)] for uneven in (2.5, 1.05)]
    found = diff_runs(*sides)
    assert ([one.id for one in found.mattering], found.verdict) == (["imbalance"], "changed")


def test_a_run_against_itself_is_the_same():
    found = diff_runs([run()], [run()])
    assert (found.verdict, found.changes) == ("same", ())


@pytest.mark.parametrize(
    ("changed", "first", "verdict"),
    [
        ({"collective_operations": 320}, "collective", "changed"),
        ({"bytes": 3.2e8, "bandwidth": 1.6e8}, "bytes", "changed"),
        ({"operations": 32, "request_p50": 5242880}, "request-size", "changed"),
        ({"ranks": 1}, "ranks", "changed"),
        ({"files": 8}, "files", "changed"),
        ({"factor": 8.0}, "time", "worse"),
        ({"factor": 1 / 8}, "time", "better"),
        ({"findings": (finding("small-requests"),)}, "finding:small-requests", "changed"),
    ],
)
def test_what_was_changed_is_the_first_sentence_both_ways(changed, first, verdict):
    forth, back = diff_runs([run()], [run(**changed)]), diff_runs([run(**changed)], [run()])
    assert (forth.verdict, forth.changes[0].id, forth.changes[0].matters) == (verdict, first, True)
    opposite = {"worse": "better", "better": "worse", "changed": "changed"}[verdict]
    assert (back.verdict, back.changes[0].id) == (opposite, first)
    if forth.changes[0].ratio and first != "collective":
        assert forth.changes[0].ratio * back.changes[0].ratio == pytest.approx(1.0)


def test_less_time_for_less_work_is_not_better():
    lighter = run(factor=1 / 8, bytes=2e7, bandwidth=8e7)
    (time,) = (one for one in diff_runs([run()], [lighter]).mattering if one.id == "time")
    assert (time.good, diff_runs([run()], [lighter]).verdict) == (0, "changed")
    assert diff_runs([lighter], [run()]).verdict == "changed"
    assert FailRule("worse").broken_by(diff_runs([lighter], [run()]))


def test_less_in_a_lower_layer_for_the_same_work_is_better():
    upper = replace(WRITE, layer="netCDF", phase_start_s=(), phase_end_s=(), phase_bytes=())
    job = replace(run().job, layers=("netCDF", "POSIX"))
    before, after = (
        replace(one, job=job, layers=(upper, *one.layers)) for one in (run(), run(factor=1 / 8, bytes=8e7))
    )
    assert diff_runs([before], [after]).verdict == "better"


def test_what_differs_beyond_three_digits_is_kept_but_not_told():
    found = diff_runs([run()], [run(bytes=1.6e8 + 1)])
    assert ([one.id for one in found.changes], found.smaller) == (["bytes"], ())


def test_single_runs_tell_times_from_a_large_factor_on_only():
    assert diff_runs([run()], [run(factor=1.6)]).verdict == "same"
    assert diff_runs([run(factor=1.6)], [run()]).verdict == "same"


def test_several_runs_tell_what_single_ones_do_not():
    before = [run(f"a{place}", factor) for place, factor in enumerate((0.98, 1.0, 1.03, 1.01))]
    after = [run(f"b{place}", 1.4 * factor) for place, factor in enumerate((1.02, 0.99, 1.0, 1.04))]
    found = diff_runs(before, after)
    (time,) = (one for one in found.mattering if one.id == "time")
    assert found.verdict == "worse"
    assert time.ratio == pytest.approx(1.4, rel=0.05)
    assert time.interval[0] < 1.4 < time.interval[1]


def test_one_phase_that_met_a_busy_file_system_is_no_change():
    ends = list(WRITE.phase_end_s)
    ends[4] += 1.0
    slow = run(busy_s=40.0, bandwidth=4e6, phase_end_s=tuple(ends))
    assert not [one for one in diff_runs([run()], [slow]).mattering if one.id in ("time", "bandwidth")]


def test_findings_by_time_need_several_runs():
    alone = diff_runs([run()], [run(findings=(finding("waiting-ranks"),))])
    waiting = (finding("waiting-ranks"),)
    several = diff_runs([run(f"a{n}") for n in range(6)], [run(f"b{n}", findings=waiting) for n in range(6)])
    assert (alone.verdict, several.verdict) == ("same", "changed")


@pytest.mark.parametrize(("before", "after", "told"), [(2.3, 4.5, False), (200.0, 400.0, True)])
def test_how_long_ranks_take_to_start_is_no_change_of_a_short_run(before, after, told):
    sides = [run("a"), run("b")]
    for one, length in zip(sides, (before, after), strict=True):
        object.__setattr__(one, "job", replace(one.job, duration_s=length, io_s=0.1))
    assert [one.id for one in diff_runs(sides[:1], sides[1:]).mattering] == ["duration"] * told


def test_layers_that_came_and_went_are_told():
    empty = replace(run(), layers=())
    assert diff_runs([run()], [empty]).changes[0].text.startswith("There are no POSIX writes any more")
    assert diff_runs([empty], [run()]).changes[0].text.startswith("POSIX writes are new")
    assert diff_runs([empty], [empty]).verdict == "same"


def test_unusable_runs_are_left_out_and_told():
    bad = Run(JobRow(job="bad", name="bad", status="failed", reason="no anchor"))
    assert diff_runs([run(), bad], [run()]).unusable == (bad,)
    with pytest.raises(TraceError, match="no anchor"):
        diff_runs([bad], [run()])
    with pytest.raises(TraceError):
        diff_runs([], [run()])


@pytest.mark.parametrize("sides", [(1, 1), (1, 5), (3, 3), (5, 5)])
@pytest.mark.parametrize("shape", ["lognormal", "two humps", "rare"])
def test_noise_is_seldom_taken_for_a_change(shape, sides):
    rng = np.random.default_rng(20261)
    factors = {
        "lognormal": lambda: np.exp(0.25 * rng.standard_normal()),
        "two humps": lambda: rng.choice([1.0, 1.8]) * np.exp(0.03 * rng.standard_normal()),
        "rare": lambda: rng.choice([1.0, 3.0], p=[0.9, 0.1]) * np.exp(0.05 * rng.standard_normal()),
    }[shape]
    alarms = 0
    for _ in range(60):
        before, after = ([run(f"{side}{n}", factors()) for n in range(count)] for side, count in enumerate(sides))
        alarms += bool(diff_runs(before, after).mattering)
    # 5 % of 60 are 3; ten would come up less than once in a thousand times.
    assert alarms < 10


# SciPy warns of runs that are alike on one side; the variances of both together are large enough.
@pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=8), st.lists(st.floats(-3, 3), min_size=3, max_size=8))
@example([0.0, 0.0, 1.0], [1.0, 1.0, 1.0])
def test_three_runs_and_more_are_tested_as_scipy_does(before, after):
    one, other = np.array(before), np.array(after)
    if one.var() + other.var() < 1e-6:
        return
    found = compare(one, other, RunSpread(0.35, 0.1))
    expected = ttest_ind(other, one, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert found.interval() == pytest.approx((interval.low, interval.high))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrected_lies_between_each_and_bonferroni_and_keeps_the_order(p_values):
    told = [one for (one,) in corrected([Group([p_value], 1.0) for p_value in p_values])]
    for p_value, found in zip(p_values, told, strict=True):
        assert p_value - 1e-12 <= found <= min(1.0, len(p_values) * p_value) + 1e-12
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(told)[order]) >= 0).all()


def test_groups_share_the_chance_to_err_by_weight_and_tests_that_say_the_same_are_one():
    (first,), (second,) = corrected([Group([0.04], 0.9), Group([0.04], 0.1)])
    assert first == pytest.approx(0.04 / 0.9)
    assert second == pytest.approx(max(first, 0.04))
    ((one, other),) = corrected([Group([0.01, 0.5], 1.0, 2.0)])
    assert (one, other) == pytest.approx((1 - 0.99**2, 0.75))
    rng = np.random.default_rng(1)
    same = rng.standard_normal((1000, 1))
    assert effective_count(np.hstack([same, 2 * same])) == pytest.approx(1)
    assert effective_count(rng.standard_normal((1000, 3))) == pytest.approx(3, abs=0.1)


def test_few_runs_that_have_something_or_not_are_not_tested():
    assert compare_counts((0, 1), (1, 1)) is compare_counts((0, 3), (3, 3)) is None
    assert compare_counts((0, 4), (4, 4)) == pytest.approx(2 / 70)


def test_phases_are_aligned_by_bytes_where_noise_cuts_them():
    before = replace(WRITE, phase_start_s=(1.0, 5.0), phase_end_s=(2.0, 6.0), phase_bytes=(10.0, 20.0))
    after = replace(
        WRITE,
        phase_start_s=(3.0, 4.0, 9.0, 20.0),
        phase_end_s=(3.5, 4.5, 10.0, 21.0),
        phase_bytes=(5.0, 5.0, 20.0, 9.0),
    )
    pairs = aligned_phases(before, after)
    assert [pair[3:] for pair in pairs] == [(3.0, 4.5, 10.0), (9.0, 10.0, 20.0)]
    assert aligned_phases(before, replace(WRITE, phase_start_s=(), phase_end_s=(), phase_bytes=())) == ()


def test_rules_look_at_whole_intervals():
    slow, huge = diff_runs([run()], [run(factor=1.5)]), diff_runs([run()], [run(factor=50)])
    assert FailRule("time>1.2").broken_by(slow) == ()
    assert FailRule("time>1.2").broken_by(huge)
    assert FailRule("POSIX:write:time>1.2").broken_by(huge)
    assert FailRule("bandwidth<0.9").broken_by(huge)
    assert FailRule("POSIX:read:time>1.2").broken_by(huge) == ()
    assert FailRule("POSIX:time>1.2").check(huge) is FailRule("worse").check(huge) is None
    assert "neither A nor B has POSIX read" in (FailRule("POSIX:read:time>1.2").check(huge) or "")
    assert FailRule("worse").broken_by(huge)
    assert FailRule("worse").broken_by(slow) == ()
    assert FailRule("finding").broken_by(diff_runs([run()], [run(findings=(finding("small-requests"),))]))
    for text in (
        "POSIX:duration>2",
        "POSIX:flush:bytes>1",
        "POSIX:wrte:time>1",
        "",
        "time",
        "time>x",
        "speed>1",
        "time>1e3",
        "time>1.2.3",
        "better",
    ):
        with pytest.raises(SelectionError):
            FailRule(text)


def test_what_came_is_infinitely_more_and_what_went_is_none():
    none = replace(run(), layers=())
    came, went = diff_runs([none], [run()]), diff_runs([run()], [none])
    for quantity in ("bytes", "operations", "time", "POSIX:write:bytes"):
        assert FailRule(f"{quantity}>1.05").broken_by(came)
        assert FailRule(f"{quantity}<0.95").broken_by(went)
        assert not FailRule(f"{quantity}<0.95").broken_by(came)
        assert not FailRule(f"{quantity}>1.05").broken_by(went)
    assert not FailRule("bandwidth>1").broken_by(came)
    assert "A does not have bandwidth" in (FailRule("bandwidth>1").check(came) or "")
    assert FailRule("bytes>1").check(came) is None


def test_rules_on_shares_are_ratios_too():
    more = diff_runs([run(collective_operations=160)], [run(collective_operations=320)])
    assert FailRule("collective>1.9").broken_by(more)
    assert not FailRule("collective>2.1").broken_by(more)
    assert not FailRule("collective<0.9").broken_by(more)


def test_a_rule_on_a_layer_that_is_not_recorded_is_refused():
    """What a recorder watches and the run does not use is no mistake; a name that nobody has, or one side, is."""
    both, one = (
        replace(run(), job=replace(run().job, recorder="OTF2", layers_recorded=layers))
        for layers in (("MPI-IO", "POSIX"), ("POSIX",))
    )
    assert FailRule("MPI-IO:write:bytes>1.05").check(diff_runs([both], [both]))
    for text, sides, said in (
        ("POSX:bytes>1.05", (both, both), "no layer 'POSX' is recorded; .* there are POSIX, MPI-IO"),
        ("wrte:bytes>1.05", (both, both), "no layer 'wrte'"),
        ("MPI-IO:bytes>1.05", (both, one), "MPI-IO is not recorded in B"),
        ("MPI-IO:bytes>1.05", (one, both), "MPI-IO is not recorded in A"),
    ):
        with pytest.raises(SelectionError, match=said):
            FailRule(text).check(diff_runs([sides[0]], [sides[1]]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bandwith<0.9", r"no quantity 'bandwith'; did you mean bandwidth\? there are collective, .*nodes-of-run"),
        ("POSIX:velocity>1", "no quantity 'velocity'; there are collective"),
        ("POSIX:wrte:time>1", r"no direction 'wrte'; did you mean write\? there are read, write"),
        ("worst", r"did you mean worse\? give worse, changed, finding, or"),
        ("time>1,2", "'1,2' is no number"),
        ("time>-1", "'-1' is no number"),
        ("write:collective>0", "1 where nothing changes, so behind > at least 1"),
        ("bytes<1.5", "1 where nothing changes, so behind < at most 1"),
        ("write:duration>2", "duration is of the whole run"),
        ("metadata:time>1", "only operations is known"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_there_is_and_what_is_nearest(text, said):
    with pytest.raises(SelectionError, match=said):
        FailRule(text)


def test_a_rule_may_name_a_direction_alone():
    """What stands before the first colon is a direction where it is the name of one."""
    twice = diff_runs([run()], [run(bytes=3.2e8)])
    assert FailRule("write:bytes>1.05").check(twice) is None
    assert FailRule(" write : bytes > 1.05 ").broken_by(twice)
    assert FailRule("read:bytes>1.05").check(twice) == "rule 'read:bytes>1.05': neither A nor B has read operations"
    with pytest.raises(SelectionError, match=r"no layer 'wrte' is recorded; did you mean write\? there are POSIX"):
        FailRule("wrte:bytes>1.05").check(twice)
    with pytest.raises(SelectionError, match=r"did you mean POSIX\?"):
        FailRule("posix:bytes>1.05").check(twice)


def test_a_quantity_that_a_side_does_not_have_or_does_not_tell_is_no_silent_pass():
    without = diff_runs([run()], [run(period_s=None, periodic=False)])
    assert FailRule("period>1.2").check(without) == "rule 'period>1.2': B does not have period to compare"
    assert "neither A nor B has amplification of POSIX" in (FailRule("POSIX:amplification>1").check(without) or "")
    for sides, letter in (((run(), run(operations=None)), "B"), ((run(operations=None), run()), "A")):
        with pytest.raises(SelectionError, match=f"operations is not recorded in {letter}"):
            FailRule("operations>1.05").check(diff_runs([sides[0]], [sides[1]]))


def test_a_period_that_some_of_equal_runs_have_is_told_as_no_change():
    few = diff_runs([run("a"), run("b")], [run("c"), run("d", period_s=None, periodic=False)])
    (one,) = few.smaller
    assert one.text == (
        "Whether POSIX writes have a period is not sure enough to compare: in 2 of 2 runs before, 1 of 2 after"
    )
    alone = diff_runs([run()], [run(period_s=None, periodic=False)])
    assert alone.smaller[0].text.endswith("not sure enough to compare: every 1.5 s before, none after")
    many = [run(f"b{n}", period_s=None, periodic=False) for n in range(8)]
    sure = diff_runs([run(f"a{n}") for n in range(8)], many)
    assert sure.mattering[0].text == "POSIX writes have a period in 0 of 8 runs, before in 8 of 8"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ((0.0, 2.7e8), (0.0, 1.6e8), "it writes 270 MB in A, 160 MB in B"),
        ((1e9, 1e9), (0.0, 1e9), "it reads 1 GB in A, nothing in B"),
        ((0.0, 0.0), (0.0, 0.0), "it has 9 metadata operations in A, 99 metadata operations in B"),
        # A step more, and little beside the rest.
        ((0.0, 1e9), (0.0, 1.1e9), None),
        ((0.0, 1e9), (1e7, 1e9), None),
    ],
)
def test_runs_that_do_other_work_are_called_neither_better_nor_worse(before, after, said):
    made = []
    for work, count, findings in ((before, 9, ()), (after, 99, (finding("small-requests"),))):
        rows = tuple(
            LayerRow(job="a", layer="POSIX", direction=direction, operations=10, bytes=volume)
            for direction, volume in zip(("read", "write"), work, strict=True)
            if volume
        )
        job = replace(run().job, metadata_operations=count)
        made.append(Run(job, rows, findings))
    found, back = diff_runs(made[:1], made[1:]), diff_runs(made[1:], made[:1])
    assert len(found.cautions) == len(back.cautions) == bool(said)
    assert said is None or said in found.cautions[0]
    assert (found.verdict, back.verdict) == (("changed", "changed") if said else (found.verdict, back.verdict))
    assert any(one.good < 0 for one in found.mattering)


def test_the_same_bytes_by_another_layer_are_the_same_work():
    upper = replace(WRITE, layer="MPI-IO")
    through = replace(
        run(), job=replace(run().job, layers=("MPI-IO", "POSIX")), layers=(upper, *run(bytes=3.2e8).layers)
    )
    assert not [one for one in diff_runs([run()], [through]).cautions if "other work" in one]


@pytest.fixture(scope="module")
def recorded(recordings) -> dict[str, Run]:
    names = [f"sig_run{number}" for number in range(1, 7)]
    names += ["pair_strided_coll", "pair_strided_indep", "pair_xfer_1m", "pair_xfer_4k", "pair_ompio", "pair_romio"]
    found = {name: read_run(recordings / "benchmarks" / name / "traces.otf2", Settings()) for name in names}
    return {name: one for name, one in found.items() if one is not None}


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("one", "other", "knob"),
    [
        ("pair_strided_coll", "pair_strided_indep", "collective"),
        ("pair_xfer_1m", "pair_xfer_4k", "iteration"),
        ("pair_ompio", "pair_romio", "ranks"),
    ],
)
def test_the_knob_of_a_recorded_pair_is_the_first_sentence(one, other, knob, recorded):
    for before, after in ((one, other), (other, one)):
        found = diff_runs([recorded[before]], [recorded[after]])
        assert (found.changes[0].id, found.changes[0].matters) == (knob, True)


@pytest.mark.recordings
def test_repeated_recordings_do_not_differ(recorded):
    repeated = [recorded[f"sig_run{number}"] for number in range(1, 7)]
    alarms = sum(bool(diff_runs([one], [other]).mattering) for one, other in permutations(repeated, 2))
    assert alarms <= 0.05 * 30
    assert diff_runs(repeated[:3], repeated[3:]).verdict == "same"
    assert diff_runs(repeated[:1], repeated[1:]).verdict == "same"


def test_three_runs_a_side_show_themselves_how_much_their_lengths_vary():
    sides = [[lasting(length * part) for part in (0.99, 1.0, 1.02)] for length in (5.0, 3.4)]
    assert {one.id for one in diff_runs(*sides).mattering} == {"duration"}
    assert not diff_runs(sides[0][:1], sides[1][:1]).mattering
