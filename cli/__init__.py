"""The command line: arguments in, one exit code out.

0 is success, 1 an input that cannot be used or a result that cannot be written, 2 wrong usage, 3 a broken rule
of ``--fail-on``, 130 an interrupt.
"""

import sys

TYPE_CHECKING = False  # so that an interrupt hardly ever comes before `main`
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run ``iostrata`` with `arguments` (default: those of the process) and return its exit code.

    Whatever a user can bring about ends in one line on stderr, never in a traceback.
    """
    try:
        from .run import run

        status = run(arguments)
    except KeyboardInterrupt:
        print("iostrata: error: interrupted", file=sys.stderr)
        status = 130
    if status == 130 and arguments is None:
        # An object that was half made or half gone when the interrupt came would complain at its end.
        sys.unraisablehook = lambda _: None
    return status
