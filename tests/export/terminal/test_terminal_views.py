"""Terminal views of what no small archive holds: chains of handles, several regimes, layers without bytes."""

import re
from copy import copy
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from iostrata import Period, Phase, Regime, detect_period, open_trace, step_signal
from iostrata.analysis.comparison.layer_periods import LayerPeriod
from iostrata.analysis.comparison.overview import overview_of
from iostrata.analysis.findings import find
from iostrata.analysis.results.result import PeriodMetrics
from iostrata.export.terminal.console import UNBOUNDED, bounded, damage_summary, first_findings, stdout_console
from iostrata.export.terminal.handles import print_handles
from iostrata.export.terminal.layers import print_breakdown, print_layers
from iostrata.export.terminal.overview import print_overview
from iostrata.export.terminal.periods import Row, notes, print_periods
from iostrata.layers.trace import trace_of
from rich.console import Console

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def trace():
    """Return a small trace."""
    return open_trace(FIXTURES / "ckpt4_linktime")


def shown(view, *arguments, width=None):
    """Return what `view` prints into a pipe or, with a width, into so many columns."""
    stream = StringIO()
    view(*arguments, stdout_console(stream, width))
    return stream.getvalue()


def with_handles(trace, **columns):
    """Return `trace` with other handles in its definitions."""
    handles = replace(trace.definitions.handles, **columns)
    return with_definitions(trace, handles=handles)


def with_definitions(trace, **tables):
    """Return `trace` with other tables in its definitions."""
    scope = replace(trace.scope, definitions=replace(trace.definitions, **tables))
    return trace_of(replace(trace.stream, scope=scope), trace.tally)


def test_a_pipe_has_no_width():
    assert stdout_console(StringIO()).width == UNBOUNDED
    assert not bounded(stdout_console(StringIO()))
    assert bounded(stdout_console(StringIO(), 80))


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_chain_of_handles_does_not_run_off_the_screen(width):
    trace = open_trace(FIXTURES / "ckpt4")
    # Every handle hangs below the one before it, which no program does but a broken trace can say.
    count = len(trace.definitions.handles.id)
    assert count > 100
    chain = with_handles(trace, parent=np.arange(-1, count - 1, dtype=np.int32))
    text = shown(print_handles, chain.select(files="all"), width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    tree = lines[lines.index("") + 2 : len(lines) - 1 - lines[::-1].index("")]
    assert len(tree) > 100
    assert all(re.search(r" [\d,]+( +(–|[\d.]+ .?s))?$", line) for line in tree)


def test_wide_characters_keep_the_columns_straight(trace):
    files = trace.definitions.files
    names = tuple(name.replace("run.log", "記録記録記録.log") for name in files.name)
    wide = with_definitions(trace, files=replace(files, name=names))
    lines = shown(print_handles, wide, width=80).splitlines()
    (line,) = (line for line in lines if "記録" in line)
    header = next(line for line in lines if line.startswith("layer and file"))
    assert len(line) + line.count("記") + line.count("録") == len(header)


@pytest.fixture(scope="module")
def bursts():
    """Return bursts of 1 s every 10 s for 50 s, then every 5 s for 50 s, at 1 GB/s, with their verdict filled in."""
    starts = np.concatenate([np.arange(2.0, 50, 10), np.arange(52.0, 100, 5)])
    signal = step_signal(starts, starts + 1, np.full(len(starts), 10**9), window=(0.0, 100.0))
    result = replace(
        detect_period(signal, method="ftio"),
        recurrence=7.0,
        jitter=0.33,
        periods=(Period(5.0, (4.9, 5.1), 0.876, 1e10), Period(10.0, (9.5, 10.5), 0.5, 5e9)),
        phases=tuple(Phase(start, start + 1, 1e9) for start in starts.tolist()),
        regimes=(Regime(0.0, 50.0, 10.0), Regime(50.0, 100.0, 5.0)),
        reason="It recurs.",
    )
    return LayerPeriod("POSIX", "write", "own", signal, result)


def test_the_verdict_has_its_interval_and_confidence(trace, bursts):
    text = shown(print_periods, trace, [bursts], width=120)
    assert "POSIX write  15 GB, own traffic" in text
    assert "periodic, 5.00 s (4.90 … 5.10 s), in 2 regimes, confidence 0.88" in text
    assert "It recurs." in text
    assert "15 phases with 100 % of the bytes, one every 7 s on average, jitter 33 %" in text
    assert "also 10.0 s (9.5 … 10.5 s), confidence 0.50, 5 GB" in text
    assert "from 0 s to 50 s: every 10 s" in text
    assert "from 50 s to 100 s: every 5 s" in text


def test_the_curve_stands_above_its_phases_and_beats(trace, bursts):
    lines = shown(print_periods, trace, [bursts], width=213).splitlines()  # 200 columns for 100 s
    top = next(line for line in lines if line.startswith("     1 GB/s┤"))
    phases = next(line for line in lines if line.lstrip().startswith("phases"))
    beats = next(line for line in lines if line.lstrip().startswith("period "))
    starts = [2, 12, 22, 32, 42, *range(52, 100, 5)]
    for start in starts:
        column = 12 + 2 * start
        assert top[column : column + 2] == "⣿⣿"
        assert phases[column : column + 2] == "▔▔"
        assert beats[column] == "╵"
    assert top.count("⣿") == 2 * len(starts)
    assert beats.count("╵") == len(starts)


def test_beats_too_close_to_tell_apart_are_left_out(trace, bursts):
    close = replace(bursts, result=replace(bursts.result, regimes=(Regime(0.0, 100.0, 0.5),)))
    lines = shown(print_periods, trace, [close], width=80).splitlines()
    assert not any(line.lstrip().startswith("period ") for line in lines)


def test_without_a_period_the_reason_stands_there(trace, bursts):
    result = replace(bursts.result, periods=(), regimes=(), reason="Too few.")
    text = shown(print_periods, trace, [replace(bursts, result=result)])
    assert "  no period: Too few.\n" in text
    assert "confidence" not in text.split("also")[0]


def test_nothing_moved_is_said(trace):
    assert "No bytes were moved" in shown(print_periods, trace, [])


def test_a_volume_in_no_time_is_drawn_too(trace):
    signal = step_signal([0.0, 5.0], [0.0, 5.0], [1e6, 3e6], window=(0.0, 10.0))
    period = LayerPeriod("POSIX", "write", "all", signal, detect_period(signal, method="ftio"))
    lines = shown(print_periods, trace, [period], width=33).splitlines()  # 20 columns, 40 parts of 0.25 s
    top = next(number for number, line in enumerate(lines) if line.startswith("    12 MB/s┤"))
    bottom = lines[top + 3][12:]
    # An impulse on an edge belongs to the part that ends there, the first one to the first part.
    assert [column for column, dots in enumerate(bottom) if dots not in "⠀ "] == [0, 9]


def test_how_the_sampling_was_done_has_its_error(trace, bursts):
    sampling = replace(bursts.result.sampling, fs=4.0, samples=400, automatic=True, abstraction_error=0.12345)
    text = shown(print_periods, trace, [replace(bursts, result=replace(bursts.result, sampling=sampling))])
    assert "  method ftio, 400 bins at 4 Hz (automatic), abstraction error 12 % of the bytes\n" in text
    exact = replace(sampling, fs=None, abstraction_error=None)
    text = shown(print_periods, trace, [replace(bursts, result=replace(bursts.result, sampling=exact))])
    assert "abstraction" not in text


def test_metrics_say_what_they_are(trace, bursts):
    metrics = PeriodMetrics(r_io=0.04, b_io=15.5e9, periodicity_score=0.9)
    text = shown(print_periods, trace, [replace(bursts, result=replace(bursts.result, metrics=metrics))])
    assert "  above the mean rate for 4 % of the time (R_IO), at 15.5 GB/s there (B_IO), " in text
    assert "periodicity score 0.90 (1: all periods alike)\n" in text


def test_periods_tell_what_is_set_aside(bursts):
    trace = open_trace(FIXTURES / "ckpt4")
    aside = trace.set_aside
    assert aside.operations
    assert f"Set aside: {aside.operations:,} operations with " in shown(print_periods, trace, [bursts])
    assert "Set aside" not in shown(print_periods, trace.select(files="all"), [bursts])


def test_the_traffic_in_which_nothing_was_found_is_named(trace):
    usual = shown(print_periods, trace, [])
    assert "traffic" not in usual
    stream = StringIO()
    print_periods(trace, [], stdout_console(stream), "own")
    assert "No bytes were moved as own traffic" in stream.getvalue()
    assert "--traffic all" in stream.getvalue()


def cells(trace, width):
    """Return the words of the rows that the table of layers has in so many columns."""
    lines = shown(print_layers, trace, trace.layers.values(), ("read", "write"), width=width).splitlines()
    rows = [line.split() for line in lines if {"read", "write"} & set(line.split()[:2])]
    assert max(map(len, lines)) <= width
    assert rows
    return rows


@pytest.mark.parametrize("width", [32, 40, 50, 60, 70, 80, 100, 120, 140, 160, 200, 400])
def test_a_table_too_wide_gives_up_columns_and_no_part_of_any_number(width):
    trace = open_trace(FIXTURES / "ncckpt4")
    complete = {word for row in cells(trace, 400) for word in row}
    rows = cells(trace, width)
    assert {word for row in rows for word in row} <= complete
    assert {row[0] for row in rows} == set(trace.layers)
    assert all("MB" in row or "kB" in row for row in rows)


def test_columns_that_are_left_out_are_named():
    trace = open_trace(FIXTURES / "ncckpt4")
    layers = trace.layers.values()
    assert "Too narrow for: files, ranks, request median.\n" in shown(print_layers, trace, layers, ("write",), width=60)
    for width in (80, 200, None):
        assert "Too narrow" not in shown(print_layers, trace, layers, ("write",), width=width)


def test_a_layer_with_a_long_name_is_folded_and_keeps_its_numbers():
    trace = open_trace(FIXTURES / "ior384")
    layer = trace.layers["MPI-IO"]
    sums = copy(layer.trace_sums)
    order = tuple("x" * 100 if name == "MPI-IO" else name for name in layer.scope.order)
    sums.scope = replace(sums.scope, order=order)
    # No handle is of a paradigm of that name.
    vars(sums.scope)["lineages"] = layer.scope.lineages
    layer = replace(layer, name="x" * 100, trace_sums=sums)
    lines = shown(print_layers, trace, [layer], ("write",), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(line.split(" ")[0] for line in lines if line.startswith("x")) == "x" * 100
    assert "64.4 GB" in next(line for line in lines if line.startswith("x"))


def test_damaged_locations_stand_by_themselves():
    broken = open_trace(FIXTURES / "broken_race_corruption")
    (lost,) = broken.damage.locations
    text = shown(print_layers, broken, broken.layers.values(), ("write",))
    assert f"Damaged location {lost.location}: {lost.events_read:,} of {lost.events_expected:,} events read; " in text
    assert damage_summary(broken.damage) not in text


def test_a_filter_is_named_with_what_is_before_and_after_it(trace, bursts):
    filtered = replace(bursts, result=detect_period(bursts.signal, filter="low:0.3"))
    text = shown(print_periods, trace, [filtered])
    assert "method auto after the filter low:0.3 Hz, " in text
    assert (
        "period and phases are those of the filtered signal; curve, volumes and rates those of the signal itself"
        in text
    )
    assert "after the filter" not in shown(print_periods, trace, [bursts])


@pytest.mark.parametrize("name", ["small_files2", "serial1", "ior384", "ncckpt4", "ckpt4_linktime"])
def test_layers_have_one_blank_line_between_their_parts(name):
    trace = open_trace(FIXTURES / name)
    text = shown(print_layers, trace, trace.layers.values(), ("read", "write"), width=200)
    assert "\n\n\n" not in text
    heading, _, _ = text.partition("Time of calls")
    assert heading.endswith("\n\n") or heading == text


@pytest.mark.parametrize(("name", "missing"), [("serial1", True), ("ckpt4_compiler", False)])
def test_where_no_caller_was_recorded_it_says_what_is_needed(name, missing):
    text = shown(print_breakdown, open_trace(FIXTURES / name).breakdown("caller"))
    assert ("No function of the program is recorded" in text) is missing
    assert "No function of the program" not in shown(print_breakdown, open_trace(FIXTURES / name).breakdown("function"))


def test_of_files_that_move_nothing_those_come_first_that_take_longest():
    table = open_trace(FIXTURES / "small_files2").breakdown("file")
    columns = {**table.columns, **{name: 0 * table.columns[name] for name in ("bytes_read", "bytes_written")}}
    lines = shown(print_breakdown, replace(table, columns=columns)).splitlines()[1:]
    order = np.argsort(-table.columns["metadata_s"], kind="stable")
    assert [line.split()[1] for line in lines] == [table.key[row] for row in order]


def test_further_findings_of_one_kind_are_counted():
    one = find(open_trace(FIXTURES / "ncckpt4"))[0]
    other = replace(one, id="another-rule")
    rest = first_findings([one, one, other, one, other, one], 1, 99, stdout_console(StringIO()))[-1]
    assert rest.plain == f"and 5 further findings: {one.id} (3), another-rule (2)"


def test_on_a_screen_a_finding_has_a_heading_and_two_lines():
    one = replace(find(open_trace(FIXTURES / "ncckpt4"))[0], sentence="it is told in many words " * 20)
    screen = Console(file=StringIO(), force_terminal=True, width=60, height=40)
    assert [len(first_findings([one], 1, room, screen)) for room in (99, 3, 2)] == [3, 3, 2]


@pytest.mark.parametrize(("stretches", "told"), [((1, 1), []), ((2, 1), ["+1"]), ((3, 7), ["+6"])])
def test_how_many_other_stretches_there_are_is_explained_by_their_number(bursts, stretches, told):
    one = Regime(0.0, 1.0, 0.1, 0.9, 10)
    results = [replace(bursts.result, regimes=(one,) * count) for count in stretches]
    rows = [Row("POSIX", "write", (), replace(bursts, result=result)) for result in results]
    assert [note.partition(":")[0] for note in notes([*rows, Row("POSIX", "flush", (), None)])] == told


def test_functions_whose_time_is_not_known_come_behind_the_others():
    table = open_trace(FIXTURES / "ckpt4").breakdown("function")
    times = table.columns["calls_s"].tolist()
    posix = sorted((row for row, layer in enumerate(table.layer) if layer == "POSIX"), key=lambda row: -times[row])
    times[posix[0]] = None
    none = np.zeros(len(table), np.int64)
    columns = {**table.columns, "bytes_read": none, "bytes_written": none, "calls_s": np.array(times, object)}
    lines = shown(print_breakdown, replace(table, columns=columns)).splitlines()
    named = [line.split()[1] for line in lines if line.startswith("POSIX")]
    assert named[:2] == [table.key[row] for row in posix[1:3]]
    assert table.key[posix[0]] in named


@pytest.mark.parametrize("took", [1e-5, 0.5])
def test_what_moves_no_bytes_in_no_time_has_no_row(tmp_path, took):
    rows = ["layer,rank,mode,start,end,bytes,file", f"POSIX,0,read,0,{took},0,/run/a", "POSIX,0,write,1,2,9,/run/a"]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    text = shown(print_overview, overview_of(open_trace(tmp_path / "run.csv")))
    assert (re.search(r"POSIX read +0 B", text) is not None) is (took > 0.1)
    assert re.search(r"POSIX write +9 B", text)
