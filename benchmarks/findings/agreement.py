"""Compare findings with what an expert says of benchmarks: ``python benchmarks/findings/agreement.py FOLDER``.

FOLDER holds the recordings, each a folder of the name that it has in ``readings.toml``.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

import iostrata
from iostrata.analysis.findings import find

READINGS = Path(__file__).with_name("readings.toml")


def disagreements(findings: Any, reading: dict[str, Any]) -> list[str]:
    """Return in what the first three findings differ from a reading; none where they agree."""
    first = findings[:3]
    ids = {one.id for one in first}
    wrong = [f"nothing of {' or '.join(group)}" for group in reading["says"] if not ids & set(group)]
    expected = {name for group in reading["says"] for name in group} | set(reading["may"])
    for one in first:
        weighs = one.severity != "info" or (one.cost_share or 0.0) >= 0.01
        if weighs and one.id not in expected:
            wrong.append(f"{one.severity} {one.id}")
    for one in findings:
        if one.severity != "info" and one.cost_s is None:
            wrong.append(f"{one.id} is a warning without a cost")
        wrong += [f"{one.id} advises {word}" for word in reading.get("never", ()) if word in one.advice.lower()]
    if "knob" in reading and not any(reading["knob"] in one.advice for one in first):
        wrong.append(f"no advice of {reading['knob']}")
    return wrong


def unseen(findings: Any, reading: dict[str, Any]) -> bool:
    """Tell whether all that differs among the first three findings is what a benchmark's numbers do not show."""
    more = reading["may"] + reading.get("unseen", [])
    return not disagreements(findings, {**reading, "may": more})


def main(folder: Path) -> int:
    """Print a line a recording, and return how many agree."""
    agreed = beyond = 0
    readings = tomllib.loads(READINGS.read_text())
    for name, reading in readings.items():
        findings = find(iostrata.open_trace(folder / name))
        wrong = disagreements(findings, reading)
        agreed += not wrong
        beyond += bool(wrong) and unseen(findings, reading)
        told = ", ".join(f"{one.severity[0]} {one.id} {(one.cost_share or 0.0) * 100:.2g} %" for one in findings[:4])
        print(f"{name:22} {'agrees' if not wrong else 'DIFFERS: ' + '; '.join(wrong)}\n    {told}")
    print(f"{agreed} of {len(readings)} agree; {beyond} differ only by what the benchmark's numbers do not show")
    return agreed


if __name__ == "__main__":
    main(Path(sys.argv[1]))
