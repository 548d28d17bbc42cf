"""Iterations as samples: made runs with loops whose truth is known."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from iostrata import find_loops, open_trace
from iostrata.model.errors import TraceError
from iostrata.runs import FailRule, FindingRow, IterationRow, JobRow, LayerRow, LoopRow, Run, diff_runs
from iostrata.runs.differences.history import change_point
from iostrata.runs.differences.iterations import loops_of, matches, pairs_of
from iostrata.runs.differences.words import StepsDone, Words, iteration_text, steps_text

LOG = [["ISOC", "write", 30, "/run/a/solver.log", 10]]
STEPS = [["POSIX", "open", None, "/run/a/dump.*", 1], ["POSIX", "write", 1 << 20, "/run/a/dump.*", 4]]


def run(
    rng,
    name="a",
    *,
    count=10,
    slower=1.0,
    jitter=0.05,
    steps=STEPS,
    flushes=0,
    of_run=0.0,
    folder="a",
    machine=1.0,
    **layer,
):
    """Return a run whose only loop keeps POSIX busy for .2 s an iteration, and computes for a second with jitter.

    All of it takes longer by a factor of the machine.
    """
    steps = [[*one[:3], one[3].replace("/a/", f"/{folder}/"), one[4]] for one in steps]
    busy = 0.2 * machine * slower * np.exp(jitter * rng.standard_normal(count) + of_run * rng.standard_normal())
    begin = machine * np.cumsum(1 + 0.15 * rng.standard_normal(count)) + np.append(0, np.cumsum(busy)[:-1])
    loop = LoopRow(
        job=name, loop=0, count=count, ranks=4, layers=("POSIX",), text="", steps=json.dumps(steps), begin_s=begin[0],
        end_s=begin[-1] + busy[-1], interval_s=1.2, jitter=0.15, timing="regular", bits=80.0,
        iteration_begin_s=tuple(begin), iteration_end_s=tuple(begin + busy),
    )  # fmt: skip
    parts = IterationRow(
        job=name, loop=0, layer="POSIX", bytes_read=(0.0,) * count, bytes_written=(1.6e7,) * count,
        operations=(16,) * count, flushes=(flushes,) * count, metadata_operations=(8,) * count, busy_s=tuple(busy),
    )  # fmt: skip
    rows = [LayerRow(
        job=name, layer="POSIX", direction="write", **{
            "operations": 16 * count, "bytes": 1.6e7 * count, "busy_s": float(busy.sum()), "ranks": 4, "files": count,
            "request_p50": 1 << 20, "imbalance": float(1.05 * np.exp(0.02 * rng.standard_normal())), **layer,
        },
    )]  # fmt: skip
    if flushes:
        took = 0.1 * count * float(np.exp(0.4 * rng.standard_normal()))
        rows.append(LayerRow(job=name, layer="POSIX", direction="flush", operations=flushes * count, busy_s=took))
    job = JobRow(
        job=name, name=name, status="read", duration_s=float(begin[-1] + 1), io_s=float(busy.sum()), ranks=4,
        layers=("POSIX",), operations=16 * count, recorder="OTF2",
    )  # fmt: skip
    return Run(job, tuple(rows), loops=(loop,), iterations=(parts,))


def several(rng, count, letter, **made):
    return [run(rng, f"{letter}{place}", of_run=0.05, **made) for place in range(count)]


def test_equal_runs_seldom_differ():
    rng = np.random.default_rng(20264)
    alarms = 0
    for _ in range(200):
        jitter = rng.choice([0.02, 0.15, 0.5])
        sides = [run(rng, name, jitter=jitter, of_run=0.02, folder=name) for name in "ab"]
        alarms += bool(diff_runs(sides[:1], sides[1:]).mattering)
    # 5 % of 200 are 10; 20 would come up less than once in a hundred times.
    assert alarms < 20


def test_a_fifth_more_in_an_iteration_is_found_from_ten():
    rng = np.random.default_rng(20265)
    found = 0
    for _ in range(50):
        told = diff_runs([run(rng)], [run(rng, slower=1.2)])
        found += any(one.id == "iteration-time" and one.layer == "POSIX" for one in told.mattering)
    assert found >= 45


def test_a_machine_that_makes_all_slower_is_no_change_of_iterations():
    rng = np.random.default_rng(20266)
    alarms = 0
    for _ in range(100):
        told = diff_runs([run(rng)], [run(rng, machine=np.exp(0.3 * rng.standard_normal()), folder="b")])
        alarms += any(one.id == "iteration-time" for one in told.mattering)
    # Three in four without a look at the pauses; where these vary by 15 %, a tenth is not seen in them.
    assert alarms <= 20
    slower = [diff_runs([run(rng)], [run(rng, slower=3.0, machine=1.2)]) for _ in range(20)]
    assert sum(any(one.id == "iteration-time" for one in told.mattering) for told in slower) >= 18


def test_few_iterations_are_no_surer_than_their_order_however_far_apart():
    rng = np.random.default_rng(20267)
    told = [diff_runs([run(rng, count=4)], [run(rng, count=4, slower=3.0)]) for _ in range(5)]
    sure = [one.p_value for each in told for one in each.changes if one.id == "iteration-time"]
    assert min(sure) >= 2 / math.comb(8, 4)


@pytest.mark.parametrize(("took", "shorter", "sure"), [(0.1, 40.0, True), (0.002, 400.0, False)])
def test_waiting_for_a_core_explains_a_few_milliseconds_of_an_iteration_and_no_more(took, shorter, sure):
    """Beside a hundred milliseconds two that remain are no matter of waiting, two beside some microseconds may be."""
    rng = np.random.default_rng(20268)
    found = diff_runs([run(rng, count=60, slower=took / 0.2)], [run(rng, count=60, slower=took / 0.2 / shorter)])
    assert [one.id for one in found.mattering if one.layer] == ["iteration-time"] * sure
    assert found.verdict == ("better" if sure else "same")


def test_the_knob_is_first_with_what_it_costs_an_iteration():
    rng = np.random.default_rng(1)
    small = [STEPS[0], ["POSIX", "write", 4096, "/run/a/dump.*", 1024]]
    found = diff_runs([run(rng)], [run(rng, steps=small, slower=3.0, folder="b")])
    first = found.changes[0]
    assert (first.id, first.matters, first.p_value, found.verdict) == ("iteration", True, 0.0, "worse")
    assert first.text.startswith(
        "An iteration on dump.* does 1,024 × write 4.1 kB instead of 4 × write 1 MiB in POSIX. An iteration on dump.* "
        "keeps POSIX busy for "
    ) or first.text.startswith(
        "An iteration on dump.* does 1,024 × write 4 KiB instead of 4 × write 1 MiB in POSIX. An iteration on dump.* "
        "keeps POSIX busy for "
    )
    assert "10 iterations a side" in first.text
    assert FailRule("POSIX:iteration-time>1.5").broken_by(found)
    assert not FailRule("iteration-time>9").broken_by(found)
    assert FailRule("iteration-time>9").check(found) is None


def test_another_number_of_iterations_is_certain():
    rng = np.random.default_rng(2)
    found = diff_runs([run(rng)], [run(rng, count=20)])
    assert found.changes[0].text.startswith("The loop on dump.* has 20 iterations instead of 10. An iteration")
    assert FailRule("iterations>1.5").broken_by(found)


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 6])
def test_flushes_in_all_runs_of_one_side_are_certain_however_many_there_are(runs):
    rng = np.random.default_rng(3)
    flush = [*STEPS, ["POSIX", "flush", None, "/run/a/dump.*", 1]]
    found = diff_runs(several(rng, runs, "a"), several(rng, runs, "b", steps=flush, flushes=4))
    assert found.changes[0].text.startswith("POSIX flushes are new: 40 operations, which keep the layer busy for ")
    for rule in ("changed", "POSIX:flush:operations>1.05"):
        assert FailRule(rule).broken_by(found)


@pytest.mark.parametrize("runs", [3, 4, 6])
def test_a_straggler_is_found_by_the_balance_of_ranks(runs):
    rng = np.random.default_rng(4)
    found = diff_runs(several(rng, runs, "a"), several(rng, runs, "b", imbalance=2.3, slower=2.1))
    assert found.changes[0].text.startswith(
        "POSIX writes: the slowest rank takes 2.3 × the mean of the ranks, before 1"
    )
    assert (found.verdict, found.changes[0].matters) == ("worse", True)


@pytest.mark.parametrize("runs", [2, 3, 6])
def test_a_finding_by_time_of_all_runs_of_one_side_is_the_cause_of_what_surely_takes_longer(runs):
    """The balance of the ranks of busy machines varies; that the same finding came in all slow runs does not."""
    rng = np.random.default_rng(7)
    late = FindingRow(
        job="b",
        id="stragglers",
        severity="warning",
        layer="POSIX",
        text="rank 2 is done last",
        advice="",
        evidence="{}",
    )
    sides = several(rng, runs, "a", imbalance=None), several(rng, runs, "b", imbalance=None, slower=2.1)
    slow = [replace(one, findings=(late,)) for one in sides[1]]
    found = diff_runs(sides[0], slow)
    first, second = found.mattering[:2]
    assert (first.id, second.id, found.verdict) == ("finding:stragglers", "iteration-time", "worse")
    # By itself it may be chance, and so it is where some runs have it not.
    for before, after in (
        (sides[0], [replace(one, findings=(late,)) for one in sides[0]]),
        (sides[0], [*slow[1:], sides[1][0]]),
    ):
        told = diff_runs(before, after).changes
        assert runs > 3 or not [one for one in told if one.id == "finding:stragglers" and one.matters]


def test_what_a_finding_costs_in_all_runs_of_one_side_explains_what_surely_takes_longer():
    rng = np.random.default_rng(8)
    small = FindingRow(
        job="b", id="small-requests", severity="warning", layer="POSIX", text="x", advice="", evidence="{}"
    )
    sides = several(rng, 3, "a", imbalance=None), several(rng, 3, "b", imbalance=None, slower=2.1)
    costs = [
        [replace(one, findings=(replace(small, cost_s=cost),)) for one in sides[n]] for n, cost in enumerate((1, 3))
    ]
    mattering = {one.id for one in diff_runs(*costs).mattering}
    assert {"finding-cost:small-requests", "iteration-time"} <= mattering
    # Of equal runs it tells nothing, whatever it costs.
    equal = costs[0], [replace(one, findings=costs[1][0].findings) for one in sides[0]]
    assert not [one for one in diff_runs(*equal).mattering if one.id.startswith("finding-cost")]


def test_the_cost_of_the_first_change_is_told_with_the_interval_of_the_test():
    rng = np.random.default_rng(1)
    small = [STEPS[0], ["POSIX", "write", 4096, "/run/a/dump.*", 1024]]
    found = diff_runs(several(rng, 3, "a"), several(rng, 3, "b", steps=small, slower=3.0))
    cost = next(one for one in found.changes if one.id == "iteration-time" and one.layer == "POSIX")
    assert found.changes[0].text.endswith(f". {cost.text}")


def test_what_stands_behind_the_first_change_is_not_told_again_as_chance():
    rng = np.random.default_rng(1)
    small = [STEPS[0], ["POSIX", "write", 4096, "/run/a/dump.*", 1024]]
    found = diff_runs([run(rng, jitter=0.2)], [run(rng, jitter=0.2, steps=small, slower=1.1)])
    first = found.mattering[0].text
    again = [one for one in found.changes if not one.matters and one.text in first]
    assert again
    assert not set(again) & set(found.smaller)


def test_how_long_flushes_take_is_no_change_of_single_runs():
    """They wait for whatever a device has to write: equal runs differed by a factor of 12."""
    flush = [*STEPS, ["POSIX", "flush", None, "/run/a/dump.*", 1]]
    rng = np.random.default_rng(8)
    slow = run(rng, "b", steps=flush, flushes=4, slower=3.0)
    assert not [one for one in diff_runs([run(rng, steps=flush, flushes=4)], [slow]).mattering if one.id != "duration"]
    many = several(rng, 6, "a", steps=flush, flushes=4), several(rng, 6, "b", steps=flush, flushes=4, slower=3.0)
    assert [one for one in diff_runs(*many).mattering if one.id == "iteration-time"]


def test_what_may_be_chance_has_an_interval_that_says_so():
    rng = np.random.default_rng(5)
    for _ in range(30):
        sides = several(rng, 3, "a"), several(rng, 3, "b", slower=1.15)
        for one in diff_runs(*sides).smaller:
            if one.interval is not None and one.p_value is not None and one.p_value >= 0.05 and one.id != "bytes":
                assert one.interval[0] <= 1 <= one.interval[1], one


def test_steps_of_all_ranks_are_not_compared_with_those_of_each():
    rng = np.random.default_rng(8)
    every = [[*one[:4], 4 * one[4]] for one in STEPS]
    known, other = run(rng), run(rng, "b", steps=every)
    unknown = replace(other, loops=(replace(other.loops[0], ranks=0),))
    for sides in ((known, unknown), (unknown, known)):
        assert "iteration" not in [one.id for one in diff_runs([sides[0]], [sides[1]]).changes]
    assert "iteration" in [one.id for one in diff_runs([known], [other]).changes]


def test_loops_that_cannot_be_compared_do_no_harm():
    rng = np.random.default_rng(6)
    usual, single = run(rng), run(rng, count=1)
    without = replace(usual, loops=(), iterations=())
    broken = replace(usual, loops=(replace(usual.loops[0], steps="{"),))
    unlisted = replace(usual, loops=(replace(usual.loops[0], iteration_begin_s=(), iteration_end_s=()),), iterations=())
    for other in (without, single, broken, unlisted):
        for sides in ((usual, other), (other, usual), (other, other)):
            found = diff_runs([sides[0]], [sides[1]])
            assert not [one for one in found.changes if one.id == "iteration-time"]
    assert pairs_of([usual], [without]) == ()
    pieces = run(rng, count=40, steps=[["POSIX", "write", 1 << 20, "/run/a/dump.*", 1]])
    assert pairs_of([usual], [pieces]) == ()


def test_the_run_of_a_history_that_brought_a_change_is_found_and_none_where_there_was_none():
    rng = np.random.default_rng(8)
    flush = [*STEPS, ["POSIX", "flush", None, "/run/a/dump.*", 1]]
    before, after = several(rng, 5, "a"), several(rng, 4, "b", steps=flush, flushes=4)
    found = change_point([*after, *before])
    assert [len(found.before), len(found.after)] == [5, 4]
    assert found.changes[0].text.startswith("POSIX flushes are new")
    slower = change_point([*before, *several(rng, 5, "b", slower=2.0)])
    assert [one.job.job for one in slower.after] == ["b0", "b1", "b2", "b3", "b4"]
    assert slower.verdict == "worse"
    assert sum(change_point(several(rng, 6, "a")) is not None for _ in range(20)) <= 3
    with pytest.raises(TraceError, match="3 to 200 runs"):
        change_point(before[:2])


def by_rank(rng, name, slower=1.0, ranks=8):
    """Return a run whose ranks have a jitter of 15 % each; the slowest one says how long the layer is busy."""
    one, each = run(rng, name, folder=name), 0.2 * slower * np.exp(0.15 * rng.standard_normal((ranks, 10)))
    (row,) = one.iterations
    end = np.add(one.loops[0].iteration_begin_s, each.max(axis=0))
    loop = replace(one.loops[0], iteration_end_s=tuple(end))
    return replace(one, loops=(loop,), iterations=(
        replace(row, busy_s=tuple(each.max(axis=0)), summed_s=tuple(each.sum(axis=0))),
    ))  # fmt: skip


def test_ranks_whose_times_vary_each_by_itself_are_compared_together():
    rng = np.random.default_rng(6)
    told = [diff_runs([by_rank(rng, "a")], [by_rank(rng, "b", slower)]) for slower in [1.2] * 30 + [1.0] * 30]
    found = [any(one.id == "iteration-time" for one in each.mattering) for each in told]
    assert sum(found[:30]) >= 25
    assert sum(found[30:]) <= 4
    texts = [one.text for each in told[:30] for one in each.mattering if one.layer == "POSIX"]
    assert sum(text.startswith("In an iteration on dump.* all ranks together are in POSIX for ") for text in texts) > 20


def test_the_time_of_all_ranks_is_that_of_their_operations(fixtures):
    trace = open_trace(fixtures / "ckpt4")
    found = find_loops(trace)
    table = trace.to_dataframe(found)
    for loop in found.outermost:
        for layer, part in loop.iterations[0].layers.items():
            mine = table[(table.loop == loop.id) & (table.iteration == 1) & (table.layer == layer)]
            assert part.summed_s == pytest.approx((mine.end_s - mine.begin_s).sum())


def test_where_files_are_not_recorded_a_sentence_names_none():
    flush = {("POSIX", "flush"): [StepsDone(1, None)]}
    varying, same = ({("MPI-IO", "write"): [StepsDone(1, size)]} for size in (None, 8_800_000))
    told = steps_text("", varying, same)[0]
    assert told == "An iteration does 1 × write 8.8 MB instead of 1 × write of varying size in MPI-IO"
    assert steps_text("", {}, flush)[0] == "An iteration does 1 × flush instead of no flush in POSIX"
    assert steps_text("out.*", {}, flush)[0].startswith("An iteration on out.* does 1 × flush")


def test_steps_of_an_iteration_are_told_by_their_means_and_without_those_of_both_sides():
    key, header = ("MPI-IO", "write"), StepsDone(2, 96)
    before, after = {key: [StepsDone(1794, None, 128.4, True), header]}, {key: [header, StepsDone(1, None, 230_000.0)]}
    told = "An iteration does 1 × write ~230 kB instead of ~1,794 × write ~128 B in MPI-IO"
    assert steps_text("", before, after) == (told, "~1,794 × write ~128 B", "1 × write ~230 kB")
    sizes = [StepsDone(10**place, size) for place, size in enumerate((19, 20, 21, 22))]
    told = "An iteration does 1,111 × write ~22 B instead of no write in MPI-IO"
    assert steps_text("", {}, {key: sizes})[0] == told
    alike = {key: [StepsDone(3, None, 1.0e6)]}, {key: [StepsDone(3, None, 1.00001e6)]}
    assert steps_text("", *alike)[1:] == ("", "")
    also = "An iteration does also 1 × write ~230 kB in MPI-IO"
    assert steps_text("", {key: [header]}, after) == (also, "", "1 × write ~230 kB")


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ((0.4, 2.5), "half (0.4 … 2.5 times; 14 iterations a side)"),
        ((1.7e-9, 4.4e8), "half (too uncertain to tell how much; 14 iterations a side)"),
    ],
)
def test_an_interval_over_orders_of_magnitude_is_no_number(interval, text):
    told = iteration_text("out.h5", "HDF5", Words(0.002, 0.001, 0.5, interval, 1), 14)
    assert told == f"An iteration on out.h5 keeps HDF5 busy for 1 ms instead of 2 ms: {text}"


def test_two_loops_on_the_same_files_are_told_apart_by_how_often_they_are_done():
    def both(name: str) -> Run:
        rng = np.random.default_rng(ord(name))
        writes = [["POSIX", "write", 4096, "/run/a/dump.*", 1]]
        one, other = run(rng, name, folder=name), run(rng, name, count=60, steps=writes, folder=name)
        rows = tuple(replace(row, loop=1) for row in other.iterations)
        return replace(one, loops=(*one.loops, replace(other.loops[0], loop=1)), iterations=(*one.iterations, *rows))

    assert {one.name for one in pairs_of([both("a")], [both("b")])} == {"dump.* (10 ×)", "dump.* (60 ×)"}
    texts = [one.text for one in diff_runs([both("a")], [both("b")]).changes if one.id == "iteration-time"]
    assert any(text.startswith("An iteration on dump.* (60 ×) ") for text in texts)


def test_files_of_a_loop_that_are_those_of_another_on_the_other_side_are_no_change_of_it():
    """A log that is written between dumps is part of their loop in one run, and one of its own in the next."""
    rng = np.random.default_rng(4)
    nested, alone = run(rng, "a", steps=[*STEPS, *LOG]), run(rng, "b", folder="b")
    log = run(rng, "b", count=100, steps=[[*LOG[0][:-1], 1]], folder="b")
    apart = Run(
        alone.job, alone.layers, (),
        loops=(*alone.loops, replace(log.loops[0], loop=1, layers=("ISOC",))), iterations=alone.iterations,
    )  # fmt: skip
    (pair,) = pairs_of([nested], [apart])
    assert pair.elsewhere == {"solver.log"}
    ids = [one.id for one in diff_runs([nested], [apart]).changes if one.layer is None]
    assert not {"iteration", "iteration-time"} & set(ids)
    # Where it is written far less often, that is one.
    seldom = replace(
        apart, loops=(apart.loops[0], replace(apart.loops[1], count=20, iteration_begin_s=(), iteration_end_s=()))
    )
    told = diff_runs([nested], [seldom]).mattering[0]
    assert told.text.startswith(
        "An iteration on dump.* no longer does on solver.log what is now done outside of it: 10 × write 30 B"
    )
    # Where nobody writes the log on the other side, its writes went.
    assert pairs_of([nested], [alone])[0].elsewhere == frozenset()
    told = diff_runs([nested], [alone]).mattering[0]
    assert (told.id, "no write instead of 10 × write 30 B in ISOC" in told.text) == ("iteration", True)


def test_what_tells_nothing_of_a_change_does_not_stand_behind_it():
    rng = np.random.default_rng(1)
    small = [STEPS[0], ["POSIX", "write", 4096, "/run/a/dump.*", 1024]]
    vague = diff_runs([run(rng, jitter=2.0)], [run(rng, jitter=2.0, steps=small)]).changes[0]
    assert (vague.id, "keeps POSIX busy" in vague.text) == ("iteration", False)
    # The loop only writes.
    reads = LayerRow(job="b", layer="POSIX", direction="read", operations=500, bytes=5e8, busy_s=1.0, request_p50=1e6)
    one, other = run(rng), run(rng, slower=3.0)
    other = replace(other, layers=(*other.layers, reads))
    first = diff_runs([one], [other]).changes[0]
    assert (first.id, first.direction, "keeps POSIX busy" in first.text) == ("layer", "read", False)


def test_an_iteration_that_takes_next_to_nothing_is_nothing_to_judge_a_run_by():
    """Seven microseconds more in each of ten, of twelve seconds."""
    rng = np.random.default_rng(6)
    sides = [[run(rng, f"{name}{place}", slower=by) for place in range(4)] for name, by in (("a", 1e-4), ("b", 1.4e-4))]
    found = diff_runs(*sides)
    assert any(one.id == "iteration-time" and one.good < 0 for one in found.changes)
    assert (found.verdict, found.mattering) == ("same", ())


def test_operations_that_are_waited_for_later_are_no_worse_for_it():
    """Neither side blocks, and in one they are under way for three times as long."""
    one = run(np.random.default_rng(1), non_blocking_operations=160)
    verdicts = []
    for blocks in (False, True):
        before = replace(
            one, layers=tuple(replace(row, non_blocking_operations=160 - 160 * blocks) for row in one.layers)
        )
        (loop,), (row,), (part,) = before.loops, before.layers, before.iterations
        end = 3 * np.array(loop.iteration_end_s) - 2 * np.array(loop.iteration_begin_s)
        after = replace(
            before,
            job=replace(one.job, job="b", name="b"),
            loops=(replace(loop, iteration_end_s=tuple(end)),),
            layers=(replace(row, busy_s=3 * row.busy_s),),
            iterations=(replace(part, busy_s=tuple(3 * np.array(part.busy_s))),),
        )
        times = [one for one in diff_runs([before], [after]).changes if one.id in ("iteration-time", "time")]
        verdicts.append({one.good for one in times})
    assert verdicts == [{0}, {-1}]


def test_how_far_iterations_lie_apart_is_compared_too():
    """A program that waits for what is no I/O for half a second less in each of twelve iterations."""
    rng = np.random.default_rng(3)
    for runs in (1, 3):
        sides = [[spaced(run(rng, f"{name}{place}", count=12), by) for place in range(runs)] for name, by in ENDS]
        found = diff_runs(*sides)
        told = next(one for one in found.mattering if one.id == "iteration-interval")
        assert (found.verdict, told.good) == ("better", 1)
        assert "Iterations on dump.* begin every " in told.text
        assert FailRule("iteration-interval<0.9").broken_by(found)
        assert not FailRule("iteration-interval>1.1").broken_by(found)


ENDS = (("a", 1.0), ("b", 0.4))


def spaced(one, by):
    """Return a run in which all but the iterations takes longer by a factor."""
    (loop,) = one.loops
    begin, end = np.array(loop.iteration_begin_s), np.array(loop.iteration_end_s)
    moved = begin[0] + np.append(0, np.cumsum(by * (begin[1:] - end[:-1]) + (end - begin)[:-1]))
    loop = replace(loop, iteration_begin_s=tuple(moved), iteration_end_s=tuple(moved + end - begin))
    return replace(one, loops=(loop,), job=replace(one.job, duration_s=float(moved[-1] + 1)))


def test_operations_that_block_on_one_side_only_make_neither_better():
    """What is under way beside computing takes longer and costs less."""
    rng = np.random.default_rng(1)
    found = diff_runs(
        [run(rng, non_blocking_operations=160, bandwidth=1e9)],
        [run(rng, slower=0.3, non_blocking_operations=0, bandwidth=2e9)],
    )
    assert (found.changes[0].id, "keeps POSIX busy" in found.changes[0].text) == ("non-blocking", False)
    times = [one for one in found.changes if one.id in ("iteration-time", "time", "bandwidth")]
    assert {one.id for one in times} == {"iteration-time", "time", "bandwidth"}
    assert not [one for one in times if one.matters or one.good]
    assert any("how long these are under way is no cost" in one.text for one in times)
    assert found.verdict == "changed"
    # Who asks for it is told of what was measured.
    assert FailRule("POSIX:write:time<0.9").check(found) is None


def test_iterations_that_more_ranks_share_are_not_compared_by_number():
    rng = np.random.default_rng(1)
    alone, shared = run(rng, count=40, ranks=1), run(rng, count=10, slower=4.0)
    alone = replace(alone, loops=tuple(replace(one, ranks=1) for one in alone.loops))
    shared = replace(shared, loops=tuple(replace(one, ranks=4) for one in shared.loops))
    found = diff_runs([alone], [shared])
    told = {one.id: one.text for one in found.changes}
    assert told["iterations"] == "The 40 iterations on dump.* are shared by 4 ranks instead of 1"
    assert "ranks" in told
    assert not {"iteration", "iteration-time"} & told.keys()


def in_threads(one, *counts, slower=1.0):
    """Return a run whose iterations are shared by threads, those with as many iterations in one loop."""
    (row,), (part,) = one.loops, one.iterations
    took, loops, parts = row.iteration_end_s[-1], [], []
    for place, (count, threads) in enumerate(counts):
        begin = 0.01 * place + took * np.arange(count) / count
        end = tuple(begin + slower * 0.02)
        loops.append(replace(
            row, loop=place, count=count, ranks=1, threads=threads if threads > 1 else None, begin_s=begin[0],
            end_s=end[-1], iteration_begin_s=tuple(begin), iteration_end_s=end,
        ))  # fmt: skip
        parts.append(replace(part, loop=place, busy_s=(slower * 0.02,) * count, summed_s=(slower * 0.02,) * count))
    return replace(one, loops=tuple(loops), iterations=tuple(parts))


def test_threads_that_share_iterations_are_compared_by_the_work_of_all():
    """One thread does 240 in 12 s; then four do 180 and 60 in 4.8 s, each of which takes three times as long."""
    rng = np.random.default_rng(2)
    sides = [run(rng, count=10), run(rng, count=4)]
    alone, shared = in_threads(sides[0], (240, 1)), in_threads(sides[1], (60, 3), (58, 1), slower=3.0)
    found = diff_runs([alone], [shared])
    told = {one.id: one for one in found.changes if one.layer is None}
    assert told["iterations"].text == "The 240 iterations on dump.* are shared by 4 threads instead of 1"
    assert not {"iteration", "iteration-time"} & told.keys()
    pace = told["iteration-interval"]
    assert pace.after / pace.before == pytest.approx(shared.job.duration_s / alone.job.duration_s, rel=0.15)
    assert (pace.good, found.verdict == "worse") == (1, False)
    # As many on both sides are compared one by one, all as samples of one loop.
    farms = [in_threads(one, (9, 1), (13, 1), (14, 1), slower=by) for one, by in zip(sides, (1.0, 0.1), strict=True)]
    (time,) = (one for one in diff_runs(*([one] for one in farms)).changes if (one.id, one.layer) == (TIME, None))
    assert time.text.endswith("; 36 iterations a side)")


TIME = "iteration-time"


def test_a_verdict_does_not_contradict_the_length_of_the_runs():
    rng = np.random.default_rng(4)
    before, after = run(rng), run(rng, slower=3.0)
    assert diff_runs([before], [after]).verdict == "worse"
    shorter = replace(after, job=replace(after.job, duration_s=0.6 * before.job.duration_s))
    assert diff_runs([before], [shorter]).verdict == "changed"


def test_iterations_of_ranks_out_of_step_take_the_time_to_the_next():
    one = run(np.random.default_rng(5), count=8)
    (row,) = one.loops
    begin = 0.07 * np.arange(8)
    late = replace(row, iteration_begin_s=tuple(begin), iteration_end_s=tuple(begin + 0.27))
    (pair,) = pairs_of([replace(one, loops=(late,))], [replace(one, loops=(late,))])
    assert pair.compared(None).before == pytest.approx(0.07)
    assert pair.compared(None).iterations == 8


@pytest.mark.parametrize(("took", "widest"), [(0.01, 1.2), (1.6, 12.0)])
def test_flushes_make_an_iteration_as_uncertain_as_is_their_share_of_it(took, widest):
    rng = np.random.default_rng(6)
    steps = [*STEPS, ["POSIX", "flush", None, "/run/a/dump.*", 1]]

    def flushing(name):
        one = run(rng, name, steps=steps, flushes=1, count=8)
        return replace(
            one, layers=tuple(replace(row, busy_s=took) if row.direction == "flush" else row for row in one.layers)
        )

    (pair,) = pairs_of([flushing("a")], [flushing("b")])
    low, high = pair.compared("POSIX").outcome.interval()
    assert widest / 1.2 < math.exp((high - low) / 2) < 1.2 * widest


@pytest.mark.parametrize(
    ("bytes_of_call", "often", "file", "similarity"),
    [(None, 2, "dump.*", 2.75), (786432, 1, "dump.*", 3.0), (4096, 1, "dump.*", 1.5), (None, 2, "other", 1.0)],
)
def test_a_loop_whose_sizes_vary_in_one_run_only_is_the_same_loop(bytes_of_call, often, file, similarity):
    about = [["POSIX", "write", bytes_of_call, f"/run/a/{file}", often, 0, 333776.4, often > 1]]
    one, other = (list(loops_of(run(np.random.default_rng(7), name))) for name in "ab")
    exact = [["POSIX", "write", 786432, "/run/a/dump.*", 1]]
    (one, other) = (
        [replace(loop, row=replace(loop.row, steps=json.dumps(steps))) for loop in loops]
        for loops, steps in ((one, exact), (other, about))
    )
    assert bool(matches(one, other, similarity))
    assert not matches(one, other, similarity + 0.01)


def test_a_loop_is_named_by_the_files_of_which_most_is_moved():
    steps = [["ISOC", "write", 30, "/run/a/solver.log", 3], *STEPS]
    sides = [run(np.random.default_rng(7), name, steps=steps) for name in "ab"]
    assert [one.name for one in pairs_of(sides[:1], sides[1:])] == ["dump.*"]


def test_what_other_ranks_do_is_compared_over_all_of_them():
    def sharing(*parts, ranks=2):
        one = run(np.random.default_rng(8))
        steps = json.dumps([["POSIX", "write", 1 << 20, "/run/a/dump.*", often, who] for often, who in parts])
        return replace(one, loops=(replace(one.loops[0], steps=steps, ranks=ranks),))

    def told(before, after):
        return [one.text for one in diff_runs([before], [after]).changes if one.id == "iteration" and one.matters]

    # Rank 0 writes 8 and rank 2 writes 32, then each 20.
    assert told(sharing((8, 1), (32, 1)), sharing((20, 0))) == []
    assert told(sharing((8, 1), (32, 1)), sharing((10, 0))) == [
        "An iteration on dump.* does 20 × write 1 MiB instead of 40 × write 1 MiB in POSIX, over all ranks"
    ]
    assert told(sharing((64, 0), ranks=1), sharing((16, 0), ranks=4)) == []
    assert told(sharing((40, 0)), sharing((20, 0))) == [
        "An iteration on dump.* does 20 × write 1 MiB instead of 40 × write 1 MiB in POSIX"
    ]


def test_a_loop_on_other_files_is_named_by_both():
    rng = np.random.default_rng(61)
    steps = [[*one[:3], one[3].replace("dump.*", "all.dat"), one[4]] for one in STEPS]
    steps[0][4] = 2
    told = diff_runs([run(rng)], [run(rng, steps=steps)]).changes[0]
    assert told.text.startswith("An iteration on all.dat (before dump.*) does 2 × open instead of 1 × open")


def test_ranks_that_do_the_same_each_did_not_change_where_one_of_them_left_the_loop():
    rng = np.random.default_rng(62)
    before, after = run(rng), run(rng, steps=[[*STEPS[0][:4], 2], STEPS[1]])
    fewer = replace(before, loops=(replace(before.loops[0], ranks=3),))
    told = next(one for one in diff_runs([fewer], [after]).changes if one.id == "iteration")
    assert told.text.split(". ")[0] == "An iteration on dump.* does 2 × open instead of 1 × open in POSIX, on each rank"


def test_iterations_that_are_not_the_same_are_not_compared_by_their_number():
    rng = np.random.default_rng(63)
    other = [["POSIX", "write", 4096, "/run/a/dump.*", 3], ["POSIX", "flush", None, "/run/a/dump.*", 1]]
    found = diff_runs([run(rng, count=48)], [run(rng, count=43, steps=other)])
    (count,) = (one for one in found.changes if one.id == "iterations")
    assert not count.matters
    assert count.text.endswith("but an iteration is not the same on both sides")
    same = diff_runs([run(rng, count=48)], [run(rng, count=43)])
    assert [one.matters for one in same.changes if one.id == "iterations"] == [True]


def test_means_that_are_geometric_say_so_where_they_are_not_those_of_a_table():
    rng = np.random.default_rng(64)
    for jitter, said in ((0.02, False), (0.7, True)):
        told = diff_runs([run(rng, jitter=jitter)], [run(rng, jitter=jitter, slower=1.5)])
        (time,) = (one.text for one in told.changes if one.id == "iteration-time" and one.layer == "POSIX")
        assert ("geometric means" in time) == said
