"""Tell whether an environment holds the lower bounds of pyproject.toml: `python .ci/bounds.py lowest`.

A bound that no environment can hold, since another package asks for more, promises what nobody has tried.
"""

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(project: Path = PROJECT) -> Iterator[Requirement]:
    """Yield what the program and all its extras ask for by themselves."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    for texts in (table["dependencies"], *table["optional-dependencies"].values()):
        yield from (found for found in map(Requirement, texts) if found.name != table["name"])


def lower_bound(requirement: Requirement) -> Version:
    """Return the one bound that a requirement states."""
    (clause,) = requirement.specifier
    if clause.operator != ">=":
        raise ValueError(f"{requirement} has no lower bound; write it as {requirement.name}>=VERSION")
    return Version(clause.version)


def not_at_their_bounds() -> Iterator[str]:
    """Say of every package that is installed in another version than its lower bound."""
    for requirement in requirements():
        bound, found = lower_bound(requirement), Version(version(requirement.name))
        if bound != found:
            yield f"{requirement} gets {found} when lower bounds are installed; make that the bound"


if __name__ == "__main__":
    if sys.argv[1:] == ["lowest"]:
        sys.exit("\n".join(not_at_their_bounds()) or 0)
