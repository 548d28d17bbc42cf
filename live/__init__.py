"""A running job: what its recorder says while it goes on becomes signals, periods and the next phase.

The names below are handed on from the modules here on first use.

>>> from iostrata import live
>>> job = live.LiveJob()                                                             # doctest: +SKIP
>>> for update in live.follow(job, [live.open_source("job.jsonl", job.intake)], 1.0):  # doctest: +SKIP
...     print(update.answers)
"""

# ruff: isort: skip_file
# As many names as come from a module stand in one statement.
from ..model.faces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answer import Answer as Answer
    from .following import Update as Update, follow as follow, follow_jobs as follow_jobs, replay as replay
    from .job import LiveJob as LiveJob
    from .sources import open_source as open_source
else:
    # Hidden from type checkers: with a module ``__getattr__`` in sight they would accept any name.
    __getattr__, __dir__ = lazy_names(__name__)
