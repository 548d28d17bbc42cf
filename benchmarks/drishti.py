"""What Drishti remarks of Darshan logs beside the findings here: said as well, or why not.

Drishti (drishti-io on PyPI) runs as a program of its own, in an environment of its own; give its path. Remarks that
only name what a log does, such as that it writes more than it reads, are those of `iostrata layers`.
"""

import argparse
import re
import subprocess
from pathlib import Path

import iostrata
from iostrata.analysis.findings import find

FACTS = ("P01", "P02", "P03", "P04", "P12", "P13", "P14", "M04", "M05")
"""Remarks that are no fault: which direction moves more, what follows one another, what is collective."""
SAID = {
    "S01": ("heavy-stdio",),
    "P05": ("small-requests",),
    "P06": ("small-requests",),
    "P08": ("unaligned-requests",),
    "P09": ("redundant-reads", "read-back", "data-sieving", "read-amplification"),
    "P10": ("write-amplification", "fill-values"),
    "P11": ("random-access",),
    "P15": ("small-requests",),
    "P16": ("small-requests",),
    "P17": ("metadata-time",),
    "P18": ("imbalance", "funnelled-collective", "serial-io", "slow-ranks"),
    "P19": ("slow-ranks", "slow-operations", "imbalance", "funnelled-collective"),
    "P21": ("imbalance", "serial-io", "slow-ranks"),
    "P22": ("imbalance", "serial-io", "slow-ranks"),
    "M01": ("shared-file-independent", "serial-io", "heavy-stdio"),
    "M02": ("shared-file-independent",),
    "M03": ("shared-file-independent",),
}
"""Findings that say what a remark does."""
WRONG = {
    "S01": "only standard streams go through ISO C",
    "P05": "requests are of 64 KiB or more, or take no time that matters",
    "P06": "requests are of 64 KiB or more, or take no time that matters",
    "P07": "where in memory the bytes lie takes no time that the log shows",
    "P08": "so few requests, or so small ones, that their begin costs nothing: most take less than a block",
    "P09": "fewer bytes are read than the files hold",
    "P10": "fewer bytes are written than the highest offset of the file",
    "P11": "less than half of the requests are out of order",
    "P15": "requests are of 64 KiB or more, or take no time that matters",
    "P16": "requests are of 64 KiB or more, or take no time that matters",
    "P17": "a sum over all ranks that share the file, on average less than a second each",
    "P18": "ranks that share the file move alike",
    "P19": "ranks that share the file take alike",
    "P21": "ranks that aggregate collective calls write for the others, as compare shows, or there is one transfer",
    "P22": "ranks that aggregate collective calls write for the others, as compare shows, or there is one transfer",
    "M01": "one process, files of a rank each or standard streams, which MPI-IO would not serve better",
    "M06": "nothing in a log of Darshan tells that there is work to do meanwhile",
    "M07": "nothing in a log of Darshan tells that there is work to do meanwhile",
}
"""Why a remark is not said, where no finding says it."""


def remarks(program: Path, log: Path) -> list[tuple[str, str]]:
    """Return the remarks with their codes."""
    done = subprocess.run(
        [program, "--light", "--issues", "--code", log], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        return [("", f"Drishti fails: {done.stderr.strip().splitlines()[-1]}")]
    text = re.sub(r"\s*│\s*\n\s*│\s*", " ", done.stdout)
    return [(one[1], one[2].strip()) for one in re.finditer(r"▶ \[(\w+)\] (.*?)(?= ▶|↪|│|╰)", text, re.DOTALL)]


def main() -> None:
    """Print a row for each remark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--drishti", type=Path, required=True)
    chosen = parser.parse_args()
    print("| log | remark | here |\n|---|---|---|")
    for log in chosen.logs:
        try:
            findings = find(iostrata.open_trace(log))
        except iostrata.TraceError:
            findings = ()
        ids = {one.id for one in findings}
        for code, text in dict.fromkeys(remarks(chosen.drishti, log)):
            if not code or code in FACTS:
                here = "as layers shows it" if code else ""
            else:
                said = sorted(ids.intersection(SAID.get(code, ())))
                here = ", ".join(said) or f"not said: {WRONG.get(code, 'nobody looked')}"
            print(f"| {log.stem} | {code} {text[:110]} | {here} |", flush=True)


if __name__ == "__main__":
    main()
