"""FTIO in an environment of its own, as a process that answers for one signal after the other."""

import io
import json
import subprocess
import venv
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from iostrata.signals.step import StepSignal

FTIO = "ftio-hpc==0.0.9"


def prepare(folder: Path) -> Path:
    """Install FTIO into an environment in `folder` where it is not yet, and return the environment's Python."""
    python = folder / "bin" / "python"
    if not (folder / "bin" / "ftio").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", FTIO], check=True)
    return python


class Peer:
    """FTIO; use it in a ``with`` statement. The environment is made in `folder` on first use."""

    def __init__(self, folder: Path) -> None:
        python = prepare(folder)
        worker = Path(__file__).with_name("ftio_worker.py")
        self._process = subprocess.Popen([python, worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def detect(self, signal: StepSignal, fs: float) -> dict[str, Any]:
        """Return what FTIO says at `fs` in Hz: period in s or None, confidence, and the seconds it took."""
        packed = io.BytesIO()
        np.savez(packed, times=signal.times, values=signal.values, fs=fs)
        message = packed.getvalue()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{len(message)}\n".encode() + message)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("FTIO ended: see its message above")
        found: dict[str, Any] = json.loads(line)
        return found
