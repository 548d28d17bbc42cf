"""Show what differs between runs before and after a change."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..options import BROKEN, SETTINGS, option, output_option
from ..progress import Progress
from ..request import as_wrong_usage, command_of, console, print_json, refuse_for_tables, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runs.collection.read import Settings
    from ...runs.collection.rows import Run

BEFORE = click.argument("before", metavar="A", type=click.Path(path_type=Path))
AFTER = click.argument("after", metavar="[B]", required=False, type=click.Path(path_type=Path))

PAGE = output_option("OUT.html", "Also write a page with the changes and the bandwidths of both sides on one axis.")

RULES = option(
    "--fail-on RULE",
    "Exit with code 3 where RULE holds, for builds: worse, changed, finding (one came), or a ratio of after over "
    "before such as iteration-time>1.1, write:bytes>1.05 or POSIX:write:bandwidth<0.9, which counts with its whole "
    "interval. Repeatable.",
    "rules",
    multiple=True,
)


@command_of("diff old/traces.otf2 new/traces.otf2 --fail-on worse", BEFORE, AFTER, PAGE, RULES, *SETTINGS)
def command(
    before: Path,
    after: Path | None,
    out: Path | None,
    rules: tuple[str, ...],
    workers: int | None,
    dask: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """What matters comes first. A, before, and B, after, are a trace, a folder of traces, a collection of iostrata
    collect, or FOLDER:PATTERN for the runs in either whose name matches. What the program does (operations, bytes,
    ranks, steps of an iteration) is certain and matters from 5 % on. With several runs a side a test tells a change of
    times from the spread between runs; three or more a side are best. Of single runs, the iterations of loops that both
    have are samples; without loops times matter only from a factor of about 4 on. Times in s, bandwidth in B/s.

    A alone are runs in the order of their start: the one that brought a change is looked for, and those before it are
    compared with it and those after.
    """
    from ...model.errors import SelectionError
    from ...runs.collection.read import Settings
    from ...runs.differences.difference import diff_runs
    from ...runs.differences.history import change_point
    from ...runs.differences.rules import FailRule

    with as_wrong_usage(SelectionError):
        checked = [FailRule(text) for text in rules]
    given = [side for side in (before, after) if side is not None]
    sides = _read(given, Settings(**settings), workers, dask)
    difference = diff_runs(*sides) if after is not None else change_point(sides[0])
    if difference is None:
        _print_unchanged(sides[0], as_json)
        if out is not None:
            warn(f"{out} is not written: there are no sides to show")
        return
    for rule in checked:
        with as_wrong_usage(SelectionError):
            idle = rule.check(difference)
        if idle:
            warn(f"--fail-on: {idle}")
    written = None
    if out is not None:
        from ...export.runs.differences_page import write_differences

        written = write_differences(difference, out)
    broken = {rule.text: found for rule in checked if (found := rule.broken_by(difference))}
    if as_json:
        document = difference.to_dict()
        document["broken_rules"] = [{"rule": rule, "changes": list(texts)} for rule, texts in broken.items()]
        if written is not None:
            document["output"] = written.to_dict()
        print_json(document)
    else:
        from ...export.runs.differences_text import print_difference

        print_difference(difference, console(), broken, written)
    if broken:
        raise click.exceptions.Exit(BROKEN)


def _read(given: "list[Path]", settings: "Settings", workers: int | None, dask: str | None) -> "list[tuple[Run, ...]]":
    """Return the runs of each side."""
    from ...model.quantities import counted
    from ...runs.collection.chosen import folder_and_pattern, read_chosen
    from ...runs.collection.tables import is_collection

    folders = [folder_and_pattern(side)[0] for side in given]
    collections = [folder for folder in folders if is_collection(folder)]
    refuse_for_tables(collections, len(collections) < len(folders))
    sides = []
    for side in given:
        with Progress("reading traces") as progress:
            sides.append(read_chosen(side, settings, workers=workers, client=dask, progress=progress))
    for job in (run.job for side in sides for run in side if run.job.damaged):
        warn(
            f"{job.job} is damaged, {counted(job.events_lost or 0, 'event')} lost; the results cover what could be read"
        )
    return sides


def _print_unchanged(runs: "Sequence[Run]", as_json: bool) -> None:
    """Say that no run of a history brought a change."""
    from ...export.runs.differences_text import VERDICTS
    from ...model.document import SCHEMA_VERSION
    from ...model.quantities import counted
    from ...runs.differences.history import in_order

    keys = [run.job.job for run in in_order(runs)]
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "verdict": "same", "before": keys, "after": [], "changes": []})
    else:
        console().print(f"{counted(len(keys), 'run')} in the order of their start. {VERDICTS['same']}")
