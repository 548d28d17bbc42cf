"""Print the requirements that pyproject.toml names: the core ones, and those of the extras given as arguments."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def requirements(extra: str) -> list[str]:
    """Return the requirements of an extra, with the extras that it names itself resolved."""
    found = []
    for requirement in project["optional-dependencies"][extra]:
        if requirement.startswith(f"{project['name']}["):
            inner = requirement[len(project["name"]) + 1 : requirement.index("]")].split(",")
            found += [name for part in inner for name in requirements(part.strip())]
        else:
            found.append(requirement)
    return found


names = list(project["dependencies"])
for extra in sys.argv[1:]:
    names += requirements(extra)
print(" ".join(dict.fromkeys(names)))
