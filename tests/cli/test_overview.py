"""``iostrata TRACE``: the answer on one screen, with the numbers of the commands that tell more."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from iostrata import open_trace

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ARCHIVES = ["ckpt4", "ncckpt4", "ior384", "mixed4", "aperiodic4", "ckpt4_jitter"]


def one_screen(text):
    """Return the lines of what fits a terminal of 80 × 24 with its prompt."""
    lines = SEQUENCE.sub("", text).splitlines()
    assert len(lines) <= 23, text
    assert max(map(len, lines)) <= 80, text
    return lines


@pytest.mark.parametrize("archive", ARCHIVES)
def test_a_trace_alone_is_told_on_one_screen(run_on_terminal, document, fixtures, archive):
    text = "\n".join(one_screen(run_on_terminal(80, fixtures / archive, LINES="24")))
    for entry in document("layers", fixtures / archive)["layers"]:
        assert entry["layer"] in text  # in a row, or among those left out
    findings = document("compare", fixtures / archive)["findings"]
    for one in findings[:1]:
        assert f"{one['severity']}  {one['id']}" in text
    assert not findings or "No findings" not in text
    # A name that few know is explained where it stands.
    above, _, last = text.rpartition("\nMore: ")
    assert ("; ISOC: C's stdio" in last) == ("ISOC" in above)


@pytest.mark.recordings
@pytest.mark.parametrize(
    "name", ["benchmarks/mdtest8", "benchmarks/benchio8", "recorders/darshan", "traces/broken_race"]
)
def test_other_recordings_fit_too(run_on_terminal, name, recordings):
    found = [path for path in sorted((recordings / name).parent.glob(f"{Path(name).name}*")) if path.is_dir()]
    logs = sorted(found[0].rglob("*.darshan"))[:1] or found[:1]
    assert any(
        "findings" in line or line.startswith(("warning", "info"))
        for line in one_screen(run_on_terminal(80, *logs, LINES="24"))
    )


@pytest.mark.parametrize("archive", ["ncckpt4", "aperiodic4"])
def test_the_numbers_are_those_of_the_other_commands(document, fixtures, archive):
    found = document(fixtures / archive)
    assert found == document("overview", fixtures / archive)
    statistics = {(one["layer"], one["direction"]): one for one in document("layers", fixtures / archive)["layers"]}
    periods = {(one["layer"], one["direction"]): one for one in document("periods", fixtures / archive)["layers"]}
    assert {(one["layer"], one["direction"]) for one in found["layers"]} == set(statistics)
    for one in found["layers"]:
        key = one["layer"], one["direction"]
        for name in ("operations", "bytes", "busy_s", "ranks"):
            assert one[name] == statistics[key][name]
        assert one["bandwidth_bytes_per_s"] == pytest.approx(one["bytes"] / one["busy_s"])
        for name in ("periodic", "period_s", "period_interval_s", "confidence", "regimes"):
            assert one[name] == periods[key][name]
    assert found["findings"] == document("compare", fixtures / archive)["findings"]


def test_the_overview_begins_with_it(document, run_on_terminal, fixtures):
    text = document(fixtures / "ncckpt4")["headline"]["text"]
    assert text.startswith("I/O is 1.8 % of the run")
    assert text[:60] in run_on_terminal(200, fixtures / "ncckpt4", LINES="24")


@pytest.mark.parametrize("command", [(), ("periods", "--brief"), ("compare", "--brief")])
def test_a_narrow_terminal_drops_columns_and_cuts_no_number(run_on_terminal, fixtures, command):
    name, *options = command or ("overview",)
    lines = SEQUENCE.sub("", run_on_terminal(60, name, fixtures / "ncckpt4", *options, LINES="24")).splitlines()
    assert max(map(len, lines)) <= 60
    rows = [
        line for line in lines if re.match(r"(layer|netCDF|HDF5|MPI-IO|POSIX)\w* .*(bytes|above|\d B|\d [kMG]B)", line)
    ]
    assert len(rows) >= 4
    assert not [row for row in rows if "…" in row.replace("from … to", "")]


def test_a_loop_keeps_its_pace_where_there_is_little_room(run_on_terminal, fixtures):
    lines = one_screen(run_on_terminal(80, fixtures / "ncckpt4", LINES="24"))
    (line,) = (line for line in lines if "20 × (collective write 1 MiB out.nc, " in line)
    assert line.rstrip().endswith("…), every 402 ms")


def test_loops_are_one_screen(run_on_terminal, tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    names = ("apple", "birch", "cedar", "damson", "elder", "fig", "guava", "hazel", "iris", "juniper", "kiwi", "lime")
    for place, name in enumerate(names):
        count = 6 + place
        starts = [0.5 * place + 100 * number / count for number in range(count)]
        rows += [f"POSIX,0,write,{start},{start + 0.01},{10**6 * (place + 1)},/run/{name}.dat" for start in starts]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    lines = one_screen(run_on_terminal(80, "loops", tmp_path / "run.csv", LINES="24"))
    shown = [line for line in lines if " × (write " in line]
    assert 3 < len(shown) < 12
    assert f"and {12 - len(shown)} loops that move less; iostrata loops --json has all" in lines
    assert any("lime.dat" in line for line in shown)


def test_a_period_of_neighbours_is_told_once_on_a_terminal_and_in_every_row_of_a_pipe(run, run_on_terminal, fixtures):
    lines = one_screen(run_on_terminal(80, fixtures / "ncckpt4", LINES="24"))
    assert sum("402 ±2 ms" in line for line in lines) == 1
    assert sum(line.rstrip().endswith("as netCDF") for line in lines) == 3
    piped = run(fixtures / "ncckpt4").stdout.splitlines()
    assert sum("402 ±2 ms" in line or "401 ±3 ms" in line for line in piped) == 4
    assert not any("as netCDF" in line for line in piped)
    # The log beside them has a period of its own.
    assert [line for line in piped if line.startswith("ISOC") and "100.0 ±0.1 ms" in line]


def test_bounded_memory_shows_the_same_table(run, fixtures):
    full, bounded = (run(fixtures / "ckpt4", *options).stdout for options in ((), ("--memory", "300M")))
    column = [[line.split()[2:4] for line in text.splitlines() if " write" in line[:14]] for text in (full, bounded)]
    assert column[0] == column[1] != []


def test_a_damaged_trace_is_shown_and_warned_of(run, copy_of):
    folder = copy_of("ckpt4")
    events = folder / "traces" / "1.evt"
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    done = run(folder)
    assert done.returncode == 0
    assert "warning" in done.stderr
    assert "MPI-IO write" in done.stdout


@pytest.mark.parametrize("command", ["periods", "compare"])
@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "ior384"])
def test_the_heads_of_other_commands_are_one_screen(run_on_terminal, fixtures, command, archive):
    brief = run_on_terminal(80, command, fixtures / archive, "--brief", LINES="24")
    one_screen(brief)
    whole = run_on_terminal(80, command, fixtures / archive)
    head = brief.splitlines()[: 5 if command == "periods" else 8]
    assert whole.splitlines()[: len(head)] == head
    assert len(whole.splitlines()) > len(brief.splitlines())


def test_phases_as_a_table(run, document, fixtures):
    options = ("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--direction", "write", "--phases")
    (entry,) = document(*options)["layers"]
    rows = [line.split() for line in run(*options).stdout.splitlines() if re.match(r" +\d+ +\d+\.\d{6} ", line)]
    assert len(rows) == len(entry["phases"]) == 20
    for number, (row, phase) in enumerate(zip(rows, entry["phases"], strict=True), start=1):
        assert int(row[0]) == number
        assert (float(row[1]), float(row[2])) == pytest.approx((phase["start_s"], phase["end_s"]), abs=1e-6)
        assert (row[-8:-6], row[-4]) == (["8.39", "MB"], "rank")


def test_phases_name_the_rank_that_was_last(run, document, fixtures):
    (entry,) = document("periods", fixtures / "late4", "--phases")["layers"]
    lines = run("periods", fixtures / "late4", "--phases").stdout.splitlines()
    rows = [line for line in lines if re.match(r" +\d+ +\d+\.\d{6} ", line)]
    assert len(rows) == len(entry["last_ranks"]) == len(entry["phases"])
    for row, last in zip(rows, entry["last_ranks"], strict=True):
        assert re.search(r"  – +–$", row) if last is None else f" rank {last['rank']} " in row
    assert sum(last is not None and last["rank"] == 2 for last in entry["last_ranks"]) >= 11
    assert "last_ranks" not in document("periods", fixtures / "late4")["layers"][0]


def test_options_of_methods_are_those_of_python(document, fixtures):
    signal = open_trace(fixtures / "ckpt4").layers["MPI-IO"].bandwidth("write")
    from iostrata import detect_period

    for method, flags, options in [
        ("auto", ("--false-alarm-rate", "0.2"), {"false_alarm_rate": 0.2}),
        ("ftio", ("--tolerance", "0.5", "--skip-first-phase"), {"tolerance": 0.5, "skip_first_phase": True}),
        ("hybrid", ("--wavelet", "db2", "--level", "3"), {"wavelet": "db2", "level": 3}),
        ("autocorrelation", ("--skip-first-phase",), {"skip_first_phase": True}),
    ]:
        which = ("--layer", "MPI-IO", "--direction", "write", "--method", method)
        (entry,) = document("periods", fixtures / "ckpt4", *which, *flags)["layers"]
        wanted = detect_period(signal, method, **options).to_dict()
        assert {name: entry[name] for name in ("period_s", "confidence", "evidence")} == {
            name: wanted[name] for name in ("period_s", "confidence", "evidence")
        }
        (plain,) = document("periods", fixtures / "ckpt4", *which)["layers"]
        if method in ("ftio", "hybrid"):
            assert entry["evidence"] != plain["evidence"]


def test_the_order_of_a_filter(document, fixtures):
    which = ("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--direction", "write", "--filter", "high:1")
    (usual,), (steep,) = (document(*which, *order)["layers"] for order in ((), ("--order", "8")))
    assert usual["evidence"]["baseline"] != steep["evidence"]["baseline"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tolerance", "0.5"), "--tolerance is no option of the method auto: it has --false-alarm-rate"),
        (("--method", "ftio", "--wavelet", "db1"), "--wavelet is no option of the method ftio"),
        (("--order", "3"), "it needs --filter"),
        (("--brief", "--phases"), "--phases lists what --brief leaves out"),
        (("--filter", "low:1", "--order", "99"), "99"),
    ],
)
def test_options_that_do_nothing_are_refused(run, fixtures, options, said):
    done = run("periods", fixtures / "ckpt4", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_rate_out_of_range_is_one_line(run, fixtures):
    done = run("periods", fixtures / "ckpt4", "--false-alarm-rate", "7")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def completed(command_path, *words):
    """Return what bash would be given to complete the last of `words` with."""
    environment = {
        **os.environ,
        "_IOSTRATA_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("iostrata", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run([command_path], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_shell_completes_commands_options_layers_and_methods(command_path):
    assert {"plain,periods", "plain,overview"} <= set(completed(command_path, ""))
    assert completed(command_path, "com") == ["plain,compare"]
    assert completed(command_path, "tra") == ["file,tra"]  # a trace without a command
    assert "file,x" in completed(command_path, "layers", "x")
    assert "plain,--layer" in completed(command_path, "periods", "x.otf2", "--la")
    assert completed(command_path, "periods", "x.otf2", "--layer", "po") == ["plain,POSIX"]
    assert "plain,ftio-peaks" in completed(command_path, "periods", "x.otf2", "--method", "ftio")
    assert "plain,--window" in completed(command_path, "fixtures", "--win")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed(command_path, shell):
    environment = {**os.environ, "_IOSTRATA_COMPLETE": f"{shell}_source"}
    done = subprocess.run([command_path], env=environment, capture_output=True, text=True, check=False)
    assert "_IOSTRATA_COMPLETE" in done.stdout
