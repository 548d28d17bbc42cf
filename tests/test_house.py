"""Arrows run down only: which floor imports which, and no circles of files or folders, imports in functions too."""

import ast
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

TREE = Path(__file__).parents[1]
FLOORS = {
    "model": 1,
    "otf2io": 2,
    "inputs": 2,
    "signals": 2,
    "layers": 3,
    "analysis": 4,
    "runs": 5,
    "live": 5,
    "export": 6,
    "cli": 7,
}
MOST_NAMES = 24
"""In a folder of the package: what one finds a name among at a glance."""


def modules(tree):
    """Return the files of the package by their dotted names."""
    files = [path for floor in FLOORS for path in sorted((tree / floor).rglob("*.py"))]
    return {".".join(path.relative_to(tree).with_suffix("").parts): path for path in files}


@cache
def parsed(path):
    """Return the nodes of a file."""
    return list(ast.walk(ast.parse(path.read_text())))


def imports(name, path, known):
    """Return the modules of the package that a file imports, wherever in the file."""
    folder = name.split(".")[:-1]
    found = set()
    for node in parsed(path):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = folder[: len(folder) - (node.level - 1)]
        base = ".".join([*start, *(node.module or "").split(".")]).strip(".")
        for alias in node.names:
            candidates = (f"{base}.{alias.name}", base, f"{base}.__init__")
            found.update([one for one in candidates if one in known][:1])
    return found - {name}


def complaints(tree):
    """Return what is wrong with the imports of a tree, a sentence each."""
    known = modules(tree)
    arrows = {name: imports(name, path, known) for name, path in known.items()}
    wrong = []
    for name, targets in arrows.items():
        for target in sorted(targets):
            here, there = (FLOORS[one.split(".")[0]] for one in (name, target))
            same = name.split(".")[0] == target.split(".")[0]
            if there > here or (there == here and not same):
                wrong.append(f"{name} imports {target}, which does not stand below it")
    for what, graph in (("files", arrows), ("folders", between_folders(arrows))):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            wrong.append(f"circle of {what}: {' -> '.join(error.args[1])}")
    return wrong


def between_folders(arrows):
    """Return which folders import which, a folder and one inside it being two."""
    folders = defaultdict(set)
    for name, targets in arrows.items():
        here = name.rpartition(".")[0]
        folders[here] |= {target.rpartition(".")[0] for target in targets} - {here}
    return folders


def test_arrows_run_down_and_in_no_circle():
    assert complaints(TREE) == []


def test_an_arrow_up_and_a_circle_are_found(tmp_path):
    for path, text in {
        "model/codes.py": "def f():\n    from ..layers.trace import Trace\n",
        "layers/trace.py": "from .layer import Layer\n",
        "layers/layer.py": "def g():\n    from . import trace\n",
        "signals/step.py": "from ..otf2io.anchor import read\n",
        "otf2io/anchor.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    up, sideways, circle = complaints(tmp_path)
    assert up == "model.codes imports layers.trace, which does not stand below it"
    assert sideways == "signals.step imports otf2io.anchor, which does not stand below it"
    assert circle.startswith("circle of files: layers.")


def test_folders_that_import_each_other_are_found_though_their_files_are_in_no_circle(tmp_path):
    for path, text in {
        "layers/flow/sums.py": "",
        "layers/flow/relations.py": "def f():\n    from ..summary.reading import Reading\n",
        "layers/summary/reading.py": "from ..flow import sums\n",
        "layers/trace.py": "from .flow.sums import Sums\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (circle,) = complaints(tmp_path)
    assert circle.startswith("circle of folders: layers.")


def test_no_module_of_the_package_is_imported_by_its_full_name():
    for name, path in modules(TREE).items():
        for node in parsed(path):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(one.split(".")[0] == "iostrata" for one in names), name


def test_no_folder_holds_more_names_than_one_sees_at_a_glance():
    for folder in {path.parent for path in modules(TREE).values()}:
        names = [
            path.name
            for path in folder.iterdir()
            if path.suffix != ".pyc" and path.name not in ("__init__.py", "__pycache__")
        ]
        assert len(names) <= MOST_NAMES, folder


def test_no_record_and_no_table_is_made_a_dataclass_twice():
    nodes = [node for path in modules(TREE).values() for node in parsed(path) if isinstance(node, ast.ClassDef)]
    above = [({ast.unparse(base).split("[")[0] for base in node.bases}, node) for node in nodes]
    made = {"Frozen", "Record", "RecordTable", "Columns"}
    for _ in range(4):
        made |= {node.name for bases, node in above if bases & made}
    decorated = [node for bases, node in above if bases & made and node.decorator_list]
    wrong = [node.name for node in decorated if "dataclass(" in " ".join(map(ast.unparse, node.decorator_list))]
    assert not wrong, f"its base makes a dataclass of {wrong[0]}: give options behind the base"
