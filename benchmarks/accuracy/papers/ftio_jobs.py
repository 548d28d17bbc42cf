"""Has FTIO do jobs in an environment of its own, made on first use."""

import json
import subprocess
from pathlib import Path
from typing import Any

from whole_run import ftio_program


def ask_ftio(jobs: list[dict[str, Any]], environment: Path) -> list[dict[str, Any]]:
    """Return FTIO's answers to jobs as `ftio_worker.py` describes them."""
    python = Path(ftio_program(environment)).with_name("python")
    worker = Path(__file__).with_name("ftio_worker.py")
    done = subprocess.run([python, worker], input=json.dumps(jobs), capture_output=True, text=True, check=True)
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers
