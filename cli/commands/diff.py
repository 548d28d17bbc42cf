"""Show what differs between runs before and after a change."""

from pathlib import Path
from typing import Any

import click

from ..options import BROKEN, SETTINGS, output_option
from ..progress import Progress
from ..request import as_wrong_usage, command_of, console, print_json, refuse_for_tables, warn

BEFORE = click.argument("before", metavar="A", type=click.Path(path_type=Path))
AFTER = click.argument("after", metavar="B", type=click.Path(path_type=Path))

PAGE = output_option("OUT.html", "Also write a page with the changes and the bandwidths of both sides on one axis.")

RULES = click.option(
    "--fail-on",
    "rules",
    metavar="RULE",
    multiple=True,
    help="Exit with code 3 where RULE holds, for builds: worse, changed, finding (one came), or a ratio of after over "
    "before such as iteration-time>1.1, write:bytes>1.05 or POSIX:write:bandwidth<0.9, which counts with its whole "
    "interval. Repeatable.",
)


@command_of("diff old/traces.otf2 new/traces.otf2 --fail-on worse", BEFORE, AFTER, PAGE, RULES, *SETTINGS)
def command(
    before: Path,
    after: Path,
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
    """
    from ...model.errors import SelectionError
    from ...runs.collection.chosen import folder_and_pattern, read_chosen
    from ...runs.collection.read import Settings
    from ...runs.collection.tables import is_collection
    from ...runs.differences.difference import diff_runs
    from ...runs.differences.rules import FailRule

    with as_wrong_usage(SelectionError):
        checked = [FailRule(text) for text in rules]
    chosen = Settings(**settings)
    sides = []
    folders = [folder_and_pattern(side)[0] for side in (before, after)]
    collections = [folder for folder in folders if is_collection(folder)]
    refuse_for_tables(collections, len(collections) < len(folders))
    for side in (before, after):
        with Progress("reading traces") as progress:
            sides.append(read_chosen(side, chosen, workers=workers, client=dask, progress=progress))
    difference = diff_runs(*sides)
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
