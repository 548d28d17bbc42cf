"""Programs recorded by an installed Score-P, with the layers of the libraries that they call."""

import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from ..model.errors import RecordingError
from .recorded import memory_of

SOURCES: Final = Path(__file__).parent / "scorep"
ADAPTER: Final = "libiostrata_scorep_layers.so"
PLUGIN: Final = "libscorep_substrate_iostrata.so"
LAUNCHERS: Final = re.compile(r"(mpirun|mpiexec)(\.\w+)?|orterun|prun|prterun|srun|aprun|jsrun|ibrun")
STARTERS: Final = re.compile("env|nice|time|timeout|taskset|numactl|stdbuf|setarch")
"""Commands that start the program that they are given."""
SHELLS: Final = re.compile("(ba|da|k|z|c|tc|fi)?sh")
_PYTHON: Final = re.compile(r"python[\d.]*")
PAIRS: Final = re.compile("--?(mca|gmca|pmixmca|prtemca|g?env)")
"""Options with two values."""
FLAGS: Final = re.compile(
    r"--?(oversubscribe|nooversubscribe|allow-run-as-root|use-hwthread-cpus|report-bindings|display-map|"
    r"display-allocation|tag-output|timestamp-output|bynode|byslot|exclusive|overlap|label|unbuffered|overcommit|"
    r"verbose|quiet|foreground)|-[luvqOEKQi]|-[a-zA-Z]\d+|-.*=.*"
)
"""Options without a value, or with theirs in one word; all others have one."""
DEFAULTS: Final = {
    "SCOREP_ENABLE_TRACING": "true",
    "SCOREP_ENABLE_PROFILING": "false",
    "SCOREP_TOTAL_MEMORY": "256M",
    "SCOREP_IO_POSIX": "true",
}
"""What Score-P is set to where the environment does not say it; memory is of each process."""
_OFF: Final = ("0", "false", "no", "off")
_PT_INTERP: Final = 3
_64_BITS: Final = 2
_LEAST_MEMORY: Final = 16 << 20


@dataclass(frozen=True)
class ScoreP:
    """An installed Score-P, by its command ``scorep-config``."""

    config: Path

    def asked(self, *options: str) -> str:
        """Return what ``scorep-config`` answers."""
        done = subprocess.run([self.config, *options], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RecordingError(f"{self.config} {' '.join(options)} fails: {_last(done.stderr or done.stdout)}")
        return done.stdout.strip()


def find_scorep() -> ScoreP:
    """Return the Score-P of ``SCOREP`` (its prefix) or of the ``PATH``; RecordingError where there is none."""
    prefix = os.environ.get("SCOREP")
    found = shutil.which("scorep-config", path=f"{prefix}/bin" if prefix else None)
    if found is None:
        where = f"in {prefix}/bin, which SCOREP names" if prefix else "on the PATH"
        raise RecordingError(
            f"no scorep-config {where}: load your site's module of Score-P, or let SCOREP be the prefix of one; "
            "https://www.score-p.org has it, and it need not have wrappers of netCDF or HDF5"
        )
    return ScoreP(Path(found).resolve())


def built_for(scorep: ScoreP, sources: Path, library: str) -> Path:
    """Return the folder with what is preloaded: IOSTRATA_LAYERS, or a cache in which it is built once for a Score-P.

    Raises RecordingError where it cannot be built.
    """
    named = os.environ.get("IOSTRATA_LAYERS")
    if named is not None:
        if not (Path(named) / library).exists():
            target = "scorep-layers" if library == ADAPTER else "scorep-plugin"
            raise RecordingError(f"no {library} in {named}, which IOSTRATA_LAYERS names; make {target} builds it")
        return Path(named).resolve()
    read = b"".join(path.read_bytes() for path in sorted(sources.iterdir()) if path.is_file())
    key = sha256(f"{scorep.config} {scorep.asked('--version')}".encode() + read).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iostrata"
    folder = cache / f"scorep-{key}"
    if not (folder / library).exists():
        _build(scorep, sources, folder)
    return folder


def _build(scorep: ScoreP, sources: Path, folder: Path) -> None:
    missing = [tool for tool in ("make", "cc") if shutil.which(tool) is None]
    if missing:
        what = " and ".join(missing)
        raise RecordingError(f"no {what} to build what is preloaded: load a compiler's module, or build it elsewhere")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as built:
        command = ["make", "-C", str(sources), f"SCOREP_CONFIG={scorep.config}", f"OUT={built}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RecordingError(
                f"cannot build what is preloaded: {_last(done.stderr)} ({' '.join(command)} says more)"
            )
        # Another process may have been faster.
        with suppress(OSError):
            shutil.copytree(built, f"{built}.whole")
            os.rename(f"{built}.whole", folder)
        shutil.rmtree(f"{built}.whole", ignore_errors=True)


def _last(text: str) -> str:
    """Return the last line that tells of an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(
        (line for line in reversed(lines) if "rror" in line and not line.startswith("make")), (lines or ["?"])[-1]
    )


def prepared(command: Sequence[str], folder: Path, live: str | None = None) -> list[str]:
    """Return `command` with Score-P and the adapter before each of its programs, which leave their archive in `folder`.

    With `live` they also tell what moves while they run: there, as IOSTRATA_LIVE has it. Raises RecordingError where
    something of what all that takes is not there.
    """
    scorep = find_scorep()
    adapter = built_for(scorep, SOURCES / "layers", ADAPTER)
    telling, plugin = {} if live is None else _telling(live), []
    if live is not None:
        plugin.append(str(built_for(scorep, SOURCES, PLUGIN) / PLUGIN))
    if os.environ.get("SCOREP_ENABLE_TRACING", "true").lower() in _OFF:
        raise RecordingError("SCOREP_ENABLE_TRACING is off in the environment, and then there is no trace: unset it")
    words = list(command)
    if shutil.which(words[0]) is None:
        raise RecordingError(f"no {words[0]} on the PATH: load the module that has it, or give its path")
    launched = LAUNCHERS.fullmatch(Path(words[0]).name) is not None
    done: list[str] = []
    while words:
        # A launcher may start several programs, with a colon between them.
        end = words.index(":") if launched and ":" in words else len(words)
        part, words = words[:end], words[end:]
        first = program_in(part, start=1 if launched and not done else 0)
        program = _interpreted(part[first:])
        settings = {name: os.environ.get(name, value) for name, value in DEFAULTS.items()}
        settings["SCOREP_EXPERIMENT_DIRECTORY"] = str(folder)
        settings |= telling
        # Score-P finds the plugin by its name, as that is loaded then already.
        libraries = [*_libraries(scorep, adapter, program[0], launched), *plugin, *_preloaded()]
        settings["LD_PRELOAD"] = ":".join(libraries)
        settings["IOSTRATA_PRELOAD_BEFORE"] = ":".join(_preloaded())
        done += [*part[:first], "env", *(f"{name}={value}" for name, value in settings.items()), *program]
        done += words[:1]
        words = words[1:]
    return done


def _telling(live: str) -> dict[str, str]:
    """Return what has Score-P load the plugin, beside others that are asked for."""
    others = [one for one in os.environ.get("SCOREP_SUBSTRATE_PLUGINS", "").split(",") if one not in ("", "iostrata")]
    return {"SCOREP_SUBSTRATE_PLUGINS": ",".join([*others, "iostrata"]), "IOSTRATA_LIVE": live}


def _preloaded() -> list[str]:
    return [one for one in re.split("[: ]", os.environ.get("LD_PRELOAD", "")) if one]


def program_in(words: Sequence[str], start: int) -> int:
    """Return which word is the program, behind the options of a launcher; RecordingError where none is."""
    at = start
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
        elif PAIRS.fullmatch(word):
            at += 3
        elif word.startswith("-"):
            alone = FLAGS.fullmatch(word)
            value = words[at + 1] if at + 1 < len(words) else ""
            at += 1 if alone or ("/" in value and _is_program(value)) else 2
        elif _is_program(word) and (_PYTHON.fullmatch(Path(word).name) or not _starts_others(word)):
            return at
        else:
            at += 1
    absent = [word for word in words[start:] if word.startswith(("/", "./", "../")) and not Path(word).exists()]
    what = f"there is no {absent[0]}" if absent else f"no program in {' '.join(words)!r}"
    raise RecordingError(
        f"{what}: give its path, or python and the script; a shell script that starts it "
        "cannot be recorded: put iostrata record into it"
    )


def _is_program(word: str) -> bool:
    found = shutil.which(word)
    return found is not None and Path(found).is_file()


def _shebang(path: str) -> list[str]:
    """Return the interpreter of a script with its arguments; nothing of a binary."""
    with suppress(OSError), open(shutil.which(path) or path, "rb") as file:
        line = file.readline(256)
        if line.startswith(b"#!"):
            words = line[2:].decode(errors="replace").split()
            return [word for word in words[1:] if word != "-S"] if Path(words[0]).name == "env" else words
    return []


def _starts_others(word: str) -> bool:
    """Tell whether a word is a shell, its script or such, which are not recorded: what they start may be."""
    interpreter = _shebang(word)
    return (
        STARTERS.fullmatch(Path(word).name) is not None
        or SHELLS.fullmatch(Path(interpreter[0] if interpreter else word).name) is not None
    )


def _interpreted(words: list[str]) -> list[str]:
    """Return the command of a script as its interpreter's, which is what is recorded."""
    if _PYTHON.fullmatch(Path(words[0]).name) and _starts_others(words[0]):
        # Tools that choose among several Pythons put a script of a shell in place of each.
        asked = subprocess.run([words[0], "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
        if not asked.stdout.strip():
            said = asked.stderr.strip() or "it says nothing"
            raise RecordingError(f"{words[0]} does not start a Python ({said}): give the path of one")
        words = [asked.stdout.strip(), *words[1:]]
    interpreter = _shebang(words[0])
    return [*interpreter, shutil.which(words[0]) or words[0], *words[1:]] if interpreter else words


def _libraries(scorep: ScoreP, adapter: Path, program: str, launched: bool) -> list[str]:
    """Return what is preloaded for a program: all of Score-P, or of one that was built with it only what it lacks."""
    path = Path(shutil.which(program) or program)
    binary = path.read_bytes()
    _refuse_unpreloadable(path, binary)
    kind = "mpi" if launched or b"libmpi" in binary else "none"
    listed = adapter / f"preload_{kind}"
    if not listed.exists():
        raise RecordingError(f"the Score-P of {scorep.config} has no support for {kind}, runtime:posix and threads")
    parts = listed.read_text().split()
    if b"libscorep_measurement" in binary:
        # Parameters are of an adapter that few programs are built with; it works without being started.
        events = [one for one in parts if "adapter_user_event" in one]
        return [str(adapter / ADAPTER), *events, *(one.replace("_event", "_mgmt") for one in events)]
    return [str(adapter / ADAPTER), str(adapter / f"libiostrata_scorep_start_{kind}.so"), *parts]


def _refuse_unpreloadable(path: Path, binary: bytes) -> None:
    """Refuse programs into which nothing can be preloaded."""
    if binary.startswith(b"\x7fELF") and not _is_dynamic(binary):
        raise RecordingError(
            f"{path} is linked statically, so nothing can be put before it: link it with shared libraries, or build it "
            "with scorep, which records MPI-IO and POSIX"
        )
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise RecordingError(f"{path} runs with the rights of its owner, so nothing can be put before it: copy it")


def _is_dynamic(binary: bytes) -> bool:
    """Tell whether a program in the format ELF names the loader of shared libraries (PT_INTERP)."""
    order = "<" if binary[5] == 1 else ">"
    if binary[4] != _64_BITS:
        return True
    table, size, count = *struct.unpack_from(f"{order}Q", binary, 32), *struct.unpack_from(f"{order}HH", binary, 54)
    return any(struct.unpack_from(f"{order}I", binary, table + at * size)[0] == _PT_INTERP for at in range(count))


def new_folder(wanted: Path | None) -> Path:
    """Return where the archive comes: a new folder, of this time by default; RecordingError where it cannot be."""
    folder = Path(os.path.abspath(wanted or time.strftime("iostrata-%Y%m%d-%H%M%S")))
    if folder.exists():
        raise RecordingError(f"{folder} is there already: an archive is written into a new folder")
    if not os.access(folder.parent, os.W_OK):
        raise RecordingError(f"cannot write into {folder.parent}: choose another place with -o")
    return folder


def lines_at(folder: Path) -> str:
    """Return where a program tells what moves: IOSTRATA_LIVE, or a new folder beside that of its archive."""
    if named := os.environ.get("IOSTRATA_LIVE"):
        return named if named.startswith("unix:") else str(Path(named).absolute())
    return str(new_folder(folder.with_name(f"{folder.name}.live")))


def make_folder(path: str) -> None:
    """Make a folder and those above it; raises RecordingError where that cannot be."""
    try:
        Path(path).mkdir(parents=True)
    except OSError as error:
        raise RecordingError(f"cannot make {path}: {(error.strerror or str(error)).lower()}") from error


def run_to_its_end(command: Sequence[str], as_error: bool) -> int:
    """Run a command and return its exit code, of a signal as shells have it; signals are passed on.

    With `as_error` what it prints goes to the standard error.
    """
    forwarded = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    with subprocess.Popen(command, stdout=2 if as_error else None) as process:
        before = {number: signal.signal(number, lambda got, _: process.send_signal(got)) for number in forwarded}
        # A terminal interrupts the program as well, which then ends as it likes.
        before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            code = process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def ending(code: int) -> str:
    """Return how a program ended, by its exit code."""
    with suppress(ValueError):
        return f"ended with {code} ({signal.Signals(code - 128).name})"
    return f"ended with {code}"


def check_archive(folder: Path, code: int = 0) -> Path:
    """Return the anchor of the archive; RecordingError with the likely reasons where there is none.

    Of a program that failed with an exit `code` nobody knows whether Score-P would have begun.
    """
    anchor = folder / "traces.otf2"
    if anchor.exists():
        return anchor
    if folder.exists():
        raise RecordingError(
            f"Score-P began in {folder} but left no trace: it writes one when the program comes to its end or to "
            "MPI_Finalize, not when it is killed, aborts or becomes another program (exec)"
        )
    memory = memory_of(os.environ.get("SCOREP_TOTAL_MEMORY", DEFAULTS["SCOREP_TOTAL_MEMORY"]))
    few = f"; SCOREP_TOTAL_MEMORY is too small, take {_LEAST_MEMORY >> 20}M at least" if memory < _LEAST_MEMORY else ""
    if code:
        raise RecordingError(
            "there is no trace, and what the program or Score-P says above is why: Score-P begins one in MPI_Init, of "
            "a program without MPI as it starts, and the program ended before; where Score-P complains of a timestamp, "
            "a thread of the MPI library did I/O beside the program's: try again, or build it with --thread=pthread"
            f"{few}"
        )
    raise RecordingError(
        "Score-P did not begin: under mpirun or srun it records programs that call MPI_Init, of the MPI that it was "
        f"built for, which the launcher must be of as well; and no program that another one starts{few}"
    )
