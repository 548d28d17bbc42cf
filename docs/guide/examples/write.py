"""Write what the commands print of a real archive, for the guide: ``python docs/guide/examples/write.py``."""

from io import StringIO
from pathlib import Path

import iostrata
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.analysis.comparison.overview import overview_of
from iostrata.export.runs.schedule_text import print_schedule
from iostrata.export.terminal.compare import print_comparison
from iostrata.export.terminal.console import stdout_console
from iostrata.export.terminal.handles import print_handles
from iostrata.export.terminal.layers import print_layers
from iostrata.export.terminal.loops import print_loops
from iostrata.export.terminal.overview import print_overview
from iostrata.export.terminal.periods import print_periods
from iostrata.runs.scheduling.comparison import compare_policies
from iostrata.runs.scheduling.policies import sets_of
from iostrata.runs.scheduling.tables import read_job_table
from rich.console import Console

ARCHIVE = Path(__file__).parents[3] / "fixtures" / "ncckpt4"
FOLDER = Path(__file__).parent
COLUMNS = 80


def examples() -> dict[str, str]:
    """Return what each command prints, without the first line, which tells where the archive is."""
    trace = iostrata.open_trace(ARCHIVE)
    layers = chosen_layers(trace)
    shown = {
        "overview": lambda console: print_overview(overview_of(trace), console),
        "layers": lambda console: print_layers(trace, layers, ("read", "write"), console),
        "loops": lambda console: print_loops(iostrata.find_loops(trace), console),
        "handles": lambda console: print_handles(trace, console),
        "periods": lambda console: print_periods(
            trace, layer_periods(chosen_layers(trace, ("netCDF",)), ("write",), loops=loops_of(trace)), console
        ),
        "compare": lambda console: print_comparison(
            iostrata.compare_layers(trace, layers=("netCDF", "POSIX"), directions=("write",)), console
        ),
    }
    found = {}
    for name, show in shown.items():
        stream = StringIO()
        show(stdout_console(stream, COLUMNS))
        found[name] = stream.getvalue().split("\n", 1)[1]
    stream = StringIO()
    show_schedule(stdout_console(stream, COLUMNS))
    found["schedule"] = stream.getvalue()
    return found


def show_schedule(console: Console) -> None:
    """Print what ``iostrata schedule jobs.csv --random-start`` does."""
    jobs = read_job_table(FOLDER / "jobs.csv")
    found = compare_policies(jobs, random_start=True)
    print_schedule(found, jobs, sets_of(found.workload.names, found.workload.period), 0.0, console)


def main() -> None:
    """Write a file a command."""
    for name, text in examples().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"wrote {FOLDER / name}.txt")


if __name__ == "__main__":
    main()
