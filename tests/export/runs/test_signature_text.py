"""What the terminal says of a run beside a known signature."""

from io import StringIO

from iostrata.export.runs.signature_text import print_likeness
from iostrata.export.terminal.console import stdout_console
from iostrata.runs.signatures.known import Deviation, Likeness


def test_bursts_that_deviate_alike_share_a_sentence() -> None:
    twice, later = "moves 2 MB instead of 1 MB: 2 times", "begins 3 s after the one before it instead of 1 s"
    deviations = (
        *(Deviation(number, f"burst {number} {twice}") for number in (1, 2, 3)),
        *(Deviation(number, f"burst {number} {later}") for number in (3, 5)),
        Deviation(4, "burst 4, usually 1 MB at 3 s, is missing"),
        Deviation(None, "2 bursts that no usual run has"),
    )
    out = StringIO()
    print_likeness([Likeness("run", False, 10.0, 1e7, 6, deviations)], "POSIX write", stdout_console(out))
    assert [line.strip() for line in out.getvalue().splitlines()[2:]] == [
        f"each of bursts 1 to 3 {twice}",
        f"each of 2 bursts from 3 to 5 {later}",
        "burst 4, usually 1 MB at 3 s, is missing",
        "2 bursts that no usual run has",
    ]
