"""Help: complete for every command, and quick, since it imports nothing that a command needs to run."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import click
import iostrata.cli.commands
import pytest
from click.testing import CliRunner
from iostrata.cli import main
from iostrata.cli.group import COMMANDS
from iostrata.cli.group import iostrata as group

HEAVY = ("numpy", "numba", "otf2", "_otf2", "rich", "scipy", "networkx", "h5py", "h5netcdf", "xarray", "matplotlib")


def test_every_module_with_a_command_is_listed():
    modules = [module.name for module in pkgutil.iter_modules(iostrata.cli.commands.__path__)]
    commands = {
        name for name in modules if hasattr(importlib.import_module(f"iostrata.cli.commands.{name}"), "command")
    }
    assert commands == set(COMMANDS.names)


@pytest.mark.parametrize("name", COMMANDS.names)
def test_every_command_explains_itself(name):
    command = importlib.import_module(f"iostrata.cli.commands.{name}").command
    paragraphs = command.help.split("\n\n")
    assert paragraphs[0] == COMMANDS.summaries[name]
    assert paragraphs[0].endswith(".")
    assert len(paragraphs) > 1, "say more than the summary"
    assert command.epilog.startswith(f"Example: iostrata {name} ")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


@pytest.mark.parametrize("name", COMMANDS.names)
def test_the_example_of_every_command_is_sound_usage(name):
    command = importlib.import_module(f"iostrata.cli.commands.{name}").command
    arguments = command.epilog.removeprefix(f"Example: iostrata {name} ").replace("'", "").split()
    parent = click.Context(group, **group.context_settings)
    with command.make_context(name, arguments, parent=parent) as context:
        assert any(context.params.get(one) for one in ("trace", "traces", "before", "replay", "words", "of", "folders"))


@pytest.mark.parametrize("name", COMMANDS.names)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_a_command_ends_with_an_example(name, flag):
    result = CliRunner().invoke(group, [name, flag])
    assert result.exit_code == 0
    assert f"Example: iostrata {name}" in result.output.splitlines()[-1] + result.output.splitlines()[-2]


def test_help_lists_each_command_with_a_summary_on_one_line():
    result = CliRunner().invoke(group, ["--help"])
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    for name, summary in COMMANDS.summaries.items():
        assert any(line.startswith(f"{name} ") and line.endswith(summary) for line in lines), name


def test_every_command_knows_json_but_those_that_it_would_not_change():
    for name in COMMANDS.names:
        command = importlib.import_module(f"iostrata.cli.commands.{name}").command
        assert any("--json" in option.opts for option in command.params) == (name not in ("mcp", "schema")), name


def test_json_is_refused_where_it_would_change_nothing(capsys):
    assert main(["schema", "layers", "--json"]) == 2
    assert "No such option '--json'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], [], *([name, "--help"] for name in COMMANDS.names)], ids=str
)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import json, sys\n"
        "from iostrata.cli import main\n"
        f"status = main({arguments!r})\n"
        "print('\\n' + json.dumps([status, sorted(sys.modules)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == (0 if arguments else 2)
    assert not set(modules) & set(HEAVY)
    commands = {name for name in COMMANDS.names if f"iostrata.cli.commands.{name}" in modules}
    assert commands == set(arguments[:1]) & set(COMMANDS.names)


def test_the_version_is_that_of_the_package(run_process):
    from importlib.metadata import version

    assert run_process("--version").stdout == f"iostrata {version('iostrata')}\n"


def options_of(name):
    command = importlib.import_module(f"iostrata.cli.commands.{name}").command
    return {option.name: option for option in command.params if isinstance(option, click.Option)}


def test_common_options_are_where_they_apply():
    for name in ("layers", "periods", "convert"):
        assert {"layers", "traffic", "window", "files", "workers"} <= set(options_of(name))
    assert {"layers", "window", "files", "workers"} <= set(options_of("handles"))


@pytest.mark.parametrize(("engine", "like_one"), [("library", True), ("direct", False)])
def test_the_number_of_workers_is_what_the_help_says(fixtures, monkeypatch, capsys, engine, like_one):
    assert "[default: one per processor; 1 with the OTF2 library]" in options_of("layers")["workers"].help
    # The threads that a pool may start, not those it did: it starts none while one is idle.
    allowed = []
    make_pool = ThreadPoolExecutor.__init__

    def counted(pool, max_workers=None, *arguments, **named):
        allowed.append(max_workers)
        make_pool(pool, max_workers, *arguments, **named)

    monkeypatch.setattr(ThreadPoolExecutor, "__init__", counted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    threads = {}
    for options in ((), ("--workers", "1"), ("--workers", "3")):
        allowed.clear()
        assert main(["layers", str(fixtures / "nonblocking4"), "--engine", engine, "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out)["layers"]
        threads[options] = max(allowed, default=1)
    assert threads["--workers", "1"] < threads["--workers", "3"]
    assert threads[()] == threads["--workers", "1" if like_one else "3"]


def test_help_of_layers_tells_how_much_of_a_chain_is_told():
    from iostrata.layers.attribution.calls import cost

    text = " ".join(CliRunner().invoke(group, ["layers", "--help"]).output.split())
    assert f"at most 2^{cost._MOST_CALLS.bit_length() - 1} calls" in text
    assert f"--json gives the {cost._STEPS_SHOWN} at whose end" in text


def test_options_may_stand_before_the_command_and_before_a_trace_alone(run_process, fixtures):
    trace = fixtures / "ckpt4"
    for before, behind in (
        (("--json", trace), (trace, "--json")),
        (("--json", "--layer", "POSIX", "layers", trace), ("layers", trace, "--json", "--layer", "POSIX")),
    ):
        told = [json.loads(run_process(*arguments).stdout) for arguments in (before, behind)]
        for one in told:
            del one["provenance"]["command"]
        assert told[0] == told[1]
    assert "No such option '--nothing'" in run_process("--nothing", trace).stderr
    assert "No such option '--nothing'" in run_process("--nothing").stderr
