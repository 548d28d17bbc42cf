"""The live view of ``iostrata watch``: a row a layer and direction, which keeps up to date."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Column
from rich.text import Text

from ...live.answer import Answer
from ...live.following import Update
from ...model.quantities import bytes_text, percent_text, seconds_text
from ...model.text import printable, shortened
from .console import plain_table


def show_updates(updates: Iterable[Update], console: Console, title: str) -> None:
    """Show every update in place of the one before, at first that nothing has come yet; the last one stays."""
    waiting = Group(Text(shortened(printable(title), 60), "bold"), Text("Nothing was told yet; waiting for it."))
    with Live(waiting, console=console, auto_refresh=False, vertical_overflow="crop") as live:
        live.refresh()
        for update in updates:
            live.update(watch_view(update, title), refresh=True)


def watch_view(update: Update, title: str) -> RenderableType:
    """Return what is shown of an update."""
    heading = Text.assemble((shortened(printable(title), 60), "bold"), f"  at {seconds_text(update.time)}")
    if update.last:
        heading.append(", ended")
    wrong = update.counts.sentence()
    notes = [Text(wrong, style="yellow")] if wrong else []
    if not update.answers:
        return Group(heading, Text("No I/O so far."), *notes)
    of_jobs = any(answer.job is not None for answer in update.answers)
    numbers = (Column(title, justify="right") for title in ("moved", "phases", "period", "sure", "since"))
    own = (Column("job"), Column("priority", justify="right")) if of_jobs else ()
    table = plain_table(*own, Column("layer"), Column("now"), *numbers, Column("next phase"))
    for answer in update.answers:
        table.add_row(*(_job(answer) if of_jobs else ()), *_row(answer))
    reasons = [Text(f"{_title(answer)}: {answer.reason}", style="dim") for answer in update.answers]
    told = [(answer, alarm) for answer in update.answers for alarm in answer.alarms or ()]
    alarms = [Text(f"{_title(answer)}: {alarm.text}", style="bold red") for answer, alarm in told]
    return Group(heading, Text(), table, Text(), *alarms, *reasons, *notes)


def _title(answer: Answer) -> str:
    job = "" if answer.job is None else f"{shortened(printable(answer.job), 20)} "
    return f"{job}{printable(answer.layer)} {answer.direction}"


def _job(answer: Answer) -> list[Text]:
    priority = "" if answer.priority is None else f"{answer.priority:g}"
    return [Text(shortened(printable(answer.job or ""), 20), style="bold"), Text(priority)]


def _row(answer: Answer) -> list[Text]:
    now = Text("in a phase", style="green") if answer.in_phase else Text("idle", style="dim")
    period = "" if answer.period is None else seconds_text(answer.period)
    since = "" if answer.regime_start is None else seconds_text(answer.regime_start)
    cells = [
        Text(f"{shortened(printable(answer.layer), 20)} {answer.direction}"),
        now,
        Text(bytes_text(answer.bytes)),
        Text(f"{answer.phases:,}"),
        Text(period or "none", style="magenta" if period else "dim"),
        Text(percent_text(answer.confidence) if period else ""),
        Text(since),
    ]
    return [*cells, _next(answer)]


def _next(answer: Answer) -> Text:
    """Say when the next phase begins, from now on."""
    if answer.next_start is None or answer.probability is None:
        return Text("")
    times = [seconds_text(max(one - answer.time, 0.0)) for one in answer.next_start]
    moves = "" if answer.next_bytes is None else f", {bytes_text(answer.next_bytes)}"
    if answer.next_bytes_range is not None:
        moves = f", {' to '.join(dict.fromkeys(map(bytes_text, answer.next_bytes_range)))}"
    return Text(f"in {' to '.join(dict.fromkeys(times))} ({percent_text(answer.probability)}){moves}")
