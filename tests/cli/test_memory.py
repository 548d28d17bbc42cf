"""``--memory``: bounded memory on the command line."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import h5py
import numpy as np
import pytest
from iostrata.cli.options import parse_memory

Run = Callable[..., "subprocess.CompletedProcess[str]"]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MIB = 1 << 20


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500M", 500_000_000), ("2GiB", 2 << 30), ("1.5gib", 3 << 29), ("1048576", 1 << 20), ("7b", 7), ("8 kB", 8000),
        ("1Ti", 1 << 40), (" 3T ", 3 * 10**12), ("0.5k", 500), ("999999999999999999", 10**18 - 1),
    ],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    context, option = click.Context(click.Command("x")), click.Option(["--memory"])
    assert parse_memory(context, option, text) == size
    assert parse_memory(context, option, None) is None


@pytest.mark.parametrize(
    "text",
    ["", "x", "1e3x", "1e9", "0", "0.4", "0G", "-5M", "5i", "5iB", "5 M M", "1.M", "9" * 400, "inf", "nan", "٣M"],
)
def test_what_is_no_size(text: str, run: Run, fixtures: Path) -> None:
    with pytest.raises(click.BadParameter):
        parse_memory(click.Context(click.Command("x")), click.Option(["--memory"]), text)
    if text in ("1e3x", "0", "9" * 400, "-5M"):
        done = run("layers", fixtures / "serial1", f"--memory={text}")
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["layers", "handles"])
def test_the_same_document(command: str, document: Callable[..., Any], fixtures: Path) -> None:
    for more in ((), ("--files", "all", "--window", "1:5")):
        full = document(command, fixtures / "ncckpt4", *more)
        bounded = document(command, fixtures / "ncckpt4", "--memory", "500M", *more)
        assert 0 < bounded["trace"].pop("resolution_s") < 1e-3
        assert (bounded["trace"].pop("signals"), full["trace"].pop("signals")) == ("binned", "exact")
        assert bounded["trace"] == full["trace"]
        assert bounded.keys() == full.keys()
        for found, expected in zip(bounded[command], full[command], strict=True):
            assert found.keys() == expected.keys()
            for key, value in expected.items():
                assert found[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), key


def test_a_comparison_tells_the_same_but_for_binned_signals(document: Callable[..., Any], fixtures: Path) -> None:
    full = document("compare", fixtures / "ncckpt4")
    bounded = document("compare", fixtures / "ncckpt4", "--memory", "500M")
    for name in ("balance", "time", "hidden", "findings"):
        assert bounded[name] == full[name]
    binned = {"upper_modulation", "lower_modulation", "coherence", "lag_s", "verdict_reason", "stretches"}
    for found, expected in zip(bounded["pairs"], full["pairs"], strict=True):
        for key, value in expected.items():
            if key not in binned and "period" not in key and "confidence" not in key:
                assert found[key] == value, key


@pytest.mark.parametrize("command", ["layers", "handles"])
def test_readable_output(command: str, run: Run, fixtures: Path) -> None:
    full = run(command, fixtures / "ckpt4")
    bounded = run(command, fixtures / "ckpt4", "--memory", "400MiB")
    assert bounded.returncode == 0, bounded.stderr
    assert bounded.stdout.split("\n\n")[1:] == full.stdout.split("\n\n")[1:]


def test_periods_of_parts_and_that_they_are_of_binned_signals(
    document: Callable[..., Any], run: Run, fixtures: Path
) -> None:
    arguments = ("periods", fixtures / "ckpt4", "--by", "rank", "--parts", "3")
    full, bounded = document(*arguments), document(*arguments, "--memory", "400M")
    assert len(bounded["layers"]) == len(full["layers"]) > 6
    assert bounded["not_analysed"] == full["not_analysed"]
    for found, expected in zip(bounded["layers"], full["layers"], strict=True):
        same = ("layer", "part", "direction", "false_alarm_rate", "bytes")
        assert [found[key] for key in same] == [expected[key] for key in same]
        assert found["periodic"] == expected["periodic"]
        if expected["periodic"]:
            assert found["period_s"] == pytest.approx(expected["period_s"], rel=1e-3)
        assert (found["sampling"]["signal"], expected["sampling"]["signal"]) == ("binned", "exact")
    told = run("periods", fixtures / "ckpt4", "--layer", "MPI-IO", "--memory", "400M").stdout
    assert "confidence 1.00 (binned)" in told
    assert "on the exact signal" not in told


@pytest.mark.parametrize("by", ["function", "caller", "callpath", "rank"])
def test_who_called_is_told_in_bounded_memory_too(run: Run, fixtures: Path, by: str) -> None:
    arguments = ("layers", fixtures / "serial1", "--by", by, "--json")
    whole, bounded = (json.loads(run(*arguments, *more).stdout) for more in ((), ("--memory", "400M")))
    for name in ("breakdown", "metadata_calls", "exclusive_s", "cost"):
        assert bounded[name] == whole[name]
    assert whole["breakdown"]["rows"][0]["calls"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--memory", "20M"), "give at least"),
        (("--memory", "400M", "--fs", "1e6"), "can be kept"),
        (("--memory", "288MiB", "--fs", "100000"), "give it"),
        (("--memory", "400M", "--window", "1e6:2e6"), "outside the trace"),
        (("--memory", "400M", "--files", "/no/such/*"), "no file of the trace matches"),
        (("--memory", "400M", "--layer", "nothing"), "nothing"),
    ],
)
def test_a_failure_is_one_line_and_leaves_no_file(
    more: tuple[str, ...], message: str, run: Run, fixtures: Path, tmp_path: Path
) -> None:
    done = run("convert", fixtures / "ckpt4", tmp_path / "out.h5", *more)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_the_amount_that_a_refusal_names_is_enough(run: Run, fixtures: Path) -> None:
    done = run("layers", fixtures / "ckpt4", "--memory", "20M")
    amount = done.stderr.split("give at least ")[1].split()[0]
    assert run("layers", fixtures / "ckpt4", "--memory", amount).returncode == 0
    done = run("layers", fixtures / "ckpt4", "--memory", f"{int(amount[:-1]) - 1}M")
    assert (done.returncode, amount in done.stderr) == (1, True)


@pytest.fixture(scope="module")
def converted(run: Run, fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("converted")
    for name, more in (("full", ()), ("bounded", ("--memory", "500M"))):
        done = run("convert", fixtures / "ncckpt4", folder / f"{name}.h5", "--fs", "50", *more)
        assert done.returncode == 0, done.stderr
    return folder / "full.h5", folder / "bounded.h5"


def datasets(file: h5py.File) -> dict[str, Any]:
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def test_convert_writes_the_same_numbers(converted: tuple[Path, Path]) -> None:
    with h5py.File(converted[0]) as full, h5py.File(converted[1]) as bounded:
        assert 0 < bounded.attrs["resolution_s"] <= 0.02
        expected, found = datasets(full), datasets(bounded)
        assert found.keys() == expected.keys()
        np.testing.assert_allclose(found["bandwidth"], expected["bandwidth"], rtol=1e-6, atol=2000)
        exact = [
            name for name in found if name.split("/")[0] in ("statistics", "handles", "time", "layer", "direction")
        ]
        assert len(exact) > 20
        for name in exact:
            if np.issubdtype(expected[name].dtype, np.floating):
                np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, err_msg=name)
            else:
                np.testing.assert_array_equal(found[name], expected[name], name)


def test_periods_agree_within_their_uncertainty(converted: tuple[Path, Path]) -> None:
    with h5py.File(converted[0]) as full, h5py.File(converted[1]) as bounded:
        periods, mine = full["periods"], bounded["periods"]
        np.testing.assert_array_equal(mine["periodic"][()], periods["periodic"][()])
        periodic = periods["periodic"][()].astype(bool)
        assert periodic.any()
        low, high = periods["period_interval_s"][()][periodic].T
        found = mine["period_s"][()][periodic]
        assert ((found >= low) & (found <= high)).all()


@pytest.mark.parametrize("length", [0.3, 1.0])
def test_convert_with_an_automatic_frequency_in_little_memory(
    length: float, run: Run, fixtures: Path, tmp_path: Path
) -> None:
    # Bins that are coarser than what the signals ask for: what is kept is written.
    end = 8.2947756 * length
    done = run("convert", fixtures / "ckpt4", tmp_path / "x.h5", "--memory", "288MiB", "--window", f"0:{end}", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"]["layers"] == ["MPI-IO", "ISOC", "POSIX"]


MEASURE = """
import json, sys
from iostrata import open_trace
trace = open_trace(sys.argv[1], memory=int(sys.argv[2]))
layer = trace.layers["POSIX"]
numbers = [layer.statistics(way).to_dict() for way in layer.directions]
volume = sum(layer.bandwidth(way).volume for way in layer.directions)
# Not of getrusage: that counts what the process that started this one held, too.
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
moved = sum(entry["bytes"] for entry in numbers)
print(json.dumps({"peak": peak, "events": trace.tally.io_events, "volume": volume, "bytes": moved}))
"""
GENERATE = """
import sys
from pathlib import Path
from generate import Shape, generate
generate(Path(sys.argv[1]), Shape(locations=4, events=int(sys.argv[2]), per_mille_io=1000, handles=16))
"""


def test_peak_memory_follows_the_bound_and_not_the_events(tmp_path: Path) -> None:
    bound = 450_000_000
    found = []
    for events in (200_000, 1_000_000):
        folder = tmp_path / str(events)
        subprocess.run([sys.executable, "-c", GENERATE, folder, str(events)], check=True, cwd=BENCHMARKS)
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, folder, str(bound)], check=True, capture_output=True, text=True
        )
        found.append(json.loads(done.stdout))
        shutil.rmtree(folder)
    small, large = found
    assert (small["events"], large["events"]) == (800_000, 4_000_000)
    for one in found:
        assert one["volume"] == pytest.approx(one["bytes"], rel=1e-9)
        assert one["peak"] <= bound
    # An operation that is kept takes some 380 bytes, an event half of that.
    assert large["peak"] - small["peak"] <= 20 * (large["events"] - small["events"])
