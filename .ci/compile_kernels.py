"""Compile the loops of the iostrata of this Python for the types in ``signatures.json``.

``compile_kernels.py OUT`` makes them C functions that need no numba, for any processor of this kind; it needs numba and
a C compiler. ``compile_kernels.py`` has numba compile them for this machine, on all its processors, where each would be
compiled on its first call. `make loop-types` writes the types anew where a loop has changed.
"""

import gc
import importlib
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SIGNATURES = Path(__file__).with_name("signatures.json")
MOST_PROCESSES = 8
"""Each takes 300 MB."""


def listed() -> dict[str, list[list[Any]]]:
    """Return the kinds of arguments in ``signatures.json`` that each loop is called with, by module and name."""
    found: dict[str, list[list[Any]]] = json.loads(SIGNATURES.read_text()) if SIGNATURES.exists() else {}
    return found


def write(kinds: dict[str, list[list[Any]]]) -> None:
    """Write ``signatures.json``, a line for each loop."""
    lines = (f"{json.dumps(loop)}: {json.dumps(kinds[loop])}" for loop in sorted(kinds))
    SIGNATURES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def dispatchers() -> dict[str, Any]:
    """Return the loops of the package that are imported and that Python calls, by module and name."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for loop in gc.get_objects():
        if issubclass(type(loop), Dispatcher) and not loop.targetoptions.get("no_cpython_wrapper"):
            package, _, module = loop.py_func.__module__.partition(".")
            if package == "iostrata":
                found[f"{module}.{loop.py_func.__qualname__}"] = loop
    return found


def called() -> dict[str, list[list[Any]]]:
    """Return the kinds of arguments that each loop was called with in this process."""
    return {
        loop: [list(map(kind, arguments)) for arguments in dispatcher.overloads]
        for loop, dispatcher in dispatchers().items()
    }


def kind(argument: Any) -> Any:
    """Return a numba type as ``signatures.json`` has it."""
    import numpy as np
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    if isinstance(argument, types.Array):
        # The numbers that NumPy gives these flags: C order, writeable. Numba does not look at how an array is aligned.
        flags = (argument.layout == "C") * 0x1 | argument.mutable * 0x400
        dtype = np.lib.format.dtype_to_descr(as_dtype(argument.dtype))
        return {"array": dtype, "dimensions": argument.ndim, "flags": flags}
    if isinstance(argument, types.BaseTuple):
        named = isinstance(argument, types.BaseNamedTuple)
        made_by = argument.instance_class if named else tuple
        return {"tuple": list(map(kind, argument.types)), "class": f"{made_by.__module__}:{made_by.__qualname__}"}
    return str(argument.literal_type if isinstance(argument, types.Literal) else argument)


def numba_type(of_kind: Any) -> Any:
    """Return the numba type of a kind."""
    import numpy as np
    from numba.core import types
    from numba.np.numpy_support import from_dtype

    if isinstance(of_kind, str):
        return {"bool": types.boolean, "none": types.none}.get(of_kind) or getattr(types, of_kind)
    if "array" in of_kind:
        described, flags = of_kind["array"], of_kind["flags"]
        dtype = np.dtype([tuple(field) for field in described] if isinstance(described, list) else described)
        layout, readonly, element = "C" if flags & 0x1 else "A", not flags & 0x400, from_dtype(dtype)
        aligned = not isinstance(element, types.Record)
        return types.Array(element, of_kind["dimensions"], layout, readonly, aligned=aligned)
    module, name = of_kind["class"].split(":")
    parts = list(map(numba_type, of_kind["tuple"]))
    if name == "tuple":
        return types.Tuple(parts)
    return types.BaseTuple.from_types(parts, getattr(importlib.import_module(module), name))


def imported(kinds: Iterable[str]) -> dict[str, Any]:
    """Return the loops that are named by module and name, their modules being imported first."""
    for loop in kinds:
        importlib.import_module(f"iostrata.{loop.rpartition('.')[0]}")
    return dispatchers()


def compile_here(loop: str) -> None:
    """Have numba compile a loop for this machine and keep it where the next process finds it."""
    for arguments in listed()[loop]:
        imported([loop])[loop].compile(tuple(map(numba_type, arguments)))


def processes_for(parts: int) -> ProcessPoolExecutor:
    """Return processes to compile so many parts in."""
    return ProcessPoolExecutor(min(MOST_PROCESSES, os.cpu_count() or 1, parts), get_context("spawn"))


def compile_module(out: Path, name: str, kinds: dict[str, list[list[Any]]], counted: bool) -> None:
    """Write a module of C functions into the folder `out`, of those loops that make arrays or of those that do not."""
    from iostrata.model.kernels import entry_name
    from numba.core.compiler import Flags

    with warnings.catch_warnings():
        # Every numba that pyproject.toml takes has it, though another way of doing this is to come.
        warnings.simplefilter("ignore")
        import numba.pycc.compiler
        from numba.pycc import CC

    def without_lock() -> Any:
        flags = Flags()
        flags.release_gil = True
        return flags

    numba.pycc.compiler.Flags = without_lock
    loops = imported(kinds)
    module = CC(name, source_module=numba)
    module.output_dir, module.use_nrt = str(out), counted
    for loop, ways in kinds.items():
        if ("_nrt" in loops[loop].targetoptions) != counted:
            for number, arguments in enumerate(ways):
                module.export(entry_name(loop, number), tuple(map(numba_type, arguments)))(loops[loop].py_func)
    module.compile()


def compile_into(out: Path) -> None:
    """Write modules of C functions, and the kinds that they are for, into the folder `out`."""
    kinds = listed()
    loops = imported(kinds)
    if loops.keys() != kinds.keys():
        sys.exit(f"{SIGNATURES} is of other loops: {sorted(loops.keys() ^ kinds.keys())}; run make loop-types")
    count = max(min(MOST_PROCESSES, os.cpu_count() or 1) // 2, 1)
    parts = [dict(list(kinds.items())[part::count]) for part in range(count)]
    with processes_for(2 * count) as processes:
        started = [
            processes.submit(compile_module, out, f"{name}{part}", some, counted)
            for part, some in enumerate(parts)
            for name, counted in (("counted", True), ("uncounted", False))
        ]
        for one in started:
            one.result()
    shutil.copy(SIGNATURES, out)
    print(f"{len(kinds)} loops for {sys.implementation.cache_tag} in {out}")


def compile_all_here() -> None:
    """Compile all loops in as many processes as there are processors, up to the most."""
    kinds = listed()
    with processes_for(len(kinds)) as processes:
        # What the first failure says ends it.
        list(processes.map(compile_here, kinds))


if __name__ == "__main__" and len(sys.argv) == 1:
    compile_all_here()
elif __name__ == "__main__":
    os.environ["NUMBA_CPU_NAME"] = "generic"
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        compile_into(folder)
