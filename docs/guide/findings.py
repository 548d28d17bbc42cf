"""Write the page of the guide on findings from what they are declared by: ``python docs/guide/findings.py``."""

import re
from inspect import getdoc
from pathlib import Path
from textwrap import fill, indent

from iostrata.analysis.findings import Rule, rules

PAGE = Path(__file__).with_suffix(".rst")
HEAD = """\
.. Written by findings.py from the functions of the findings: change these.

Findings
========

What ``iostrata TRACE``, ``compare`` and the report point at. Each finding is a function in ``analysis/findings/``
with its thresholds, which Python can replace (see :doc:`python`); each says what it **costs** the run at most: the time
that the rank which is longest in the operations concerned spends there, or the part of it that the rule blames. The run
need not become that much faster: others may wait or compute meanwhile. **Severity follows cost**: critical from 20 % of
the run on, a warning from 2 %, below and where nobody knows the cost for information, and so is what may well be meant.
Findings are ranked by severity, then by cost. What a recorder does not know
is not looked for, and where a finding gives the reason of another in the same layer and direction, the other is left
out. Other packages add findings by entry points of the group ``iostrata.findings``.

The 23 recordings of IOR, mdtest, md-workbench, h5bench, BTIO and benchio that the rules were tried on, and what an
expert says of each from the benchmark's own numbers, are in ``benchmarks/findings``.
"""
NOTES = ("Why", "How it is measured", "When it is wrong", "What helps")
UNITS = {"byte": "B", "share": "%", "s": "s", "times": "times", "count": ""}
"""Units of thresholds, and how they are written."""


def what(rule: Rule) -> str:
    """Return what a finding finds: its docstring up to the first section."""
    return re.split(r"\n\n\w+\n-{3,}\n", getdoc(rule.look) or "")[0]


def thresholds(rule: Rule) -> dict[str, tuple[str, str]]:
    """Return unit and reason of each threshold of a finding, as its docstring has them."""
    entries = re.findall(r"^(\w+) : (\S+)\n((?:    .+\n?)+)", getdoc(rule.look) or "", re.MULTILINE)
    return {name: (unit, " ".join(reason.split())) for name, unit, reason in entries}


def value_text(value: float, unit: str) -> str:
    """Return a threshold with its unit."""
    if unit == "byte" and value >= 2**10:
        return f"{value / 2**20:g} MiB" if value >= 2**20 else f"{value / 2**10:g} KiB"
    return f"{100 * value if unit == 'share' else value:g} {UNITS[unit]}".strip()


def section(rule: Rule) -> str:
    """Return the section of a finding."""
    parts = [part("What", what(rule)), *(part(name, rule.notes[name]) for name in NOTES)]
    reasons, documented = [], thresholds(rule)
    for name, value in rule.thresholds.items():
        unit, reason = documented[name]
        reasons.append(fill(f"* ``{name}`` = {value_text(value, unit)}. {reason}", 117, subsequent_indent="  "))
    parts.append(f"**Thresholds**\n{indent(chr(10).join(reasons), '   ')}")
    if rule.needs:
        parts.append(part("Needs", f"A recorder that knows: {', '.join(rule.needs)}."))
    return f"{rule.id}\n{'-' * len(rule.id)}\n\n" + "\n".join(parts)


def part(name: str, text: str) -> str:
    """Return a part of a section."""
    return f"**{name}**\n{indent(fill(' '.join(text.split()), 117), '   ')}"


def page() -> str:
    """Return the page."""
    ours = [rule for rule in rules() if rule.look.__module__.startswith("iostrata.")]
    return "\n\n".join((HEAD.rstrip(), *map(section, ours))) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
