"""The fenced blocks of the documentation, run as a reader would run them.

A ``sh`` block holds commands, one to a line (a backslash continues it); ``python`` blocks of one document share their
names; the commands of a ``yaml`` block, which defines a job, are run, too. ``<!-- slow -->`` before a block leaves it
to `make test-slow`; its command lines are still read by the program. A comment ``# exit code N`` behind a command says
how it ends if not with 0.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from fairenum import cli
from support.tables import write_loans

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "plugins/README.md")]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md"))
NAMES = [str(document.relative_to(ROOT)) for document in DOCUMENTS]
FENCE = re.compile(r"^(?P<slow><!-- slow -->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("sh", "python", "toml", "yaml", "text")
EXIT_CODE = re.compile(r"# exit code (\d+)")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, and whether it takes long."""

    document: Path
    line: int
    language: str
    text: str
    is_slow: bool

    @property
    def commands(self) -> list[str]:
        """The command lines of a block of the shell."""
        return command_lines(self.text)


def command_lines(text: str) -> list[str]:
    """Divide a script into its commands; a backslash continues one."""
    joined = text.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def scripts(job: object) -> Iterator[str]:
    """Find the scripts of a job's definition: GitHub's ``run``, and GitLab's ``script``."""
    parts = job.items() if isinstance(job, dict) else enumerate(job) if isinstance(job, list) else ()
    for name, part in parts:
        if name in ("run", "script"):
            yield from part if isinstance(part, list) else [part]
        else:
            yield from scripts(part)


def blocks(document: Path) -> list[Block]:
    """Find the fenced blocks of a document."""
    text = document.read_text(encoding="utf-8")
    return [
        Block(document, text.count("\n", 0, match.start()) + 1, match["language"], match["text"], bool(match["slow"]))
        for match in FENCE.finditer(text)
    ]


def run_block(block: Block, names: dict) -> None:
    """Run a block in the current folder."""
    if block.language == "python":
        exec(compile("\n" * block.line + block.text, str(block.document), "exec"), names)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "yaml":
        for command in (line for script in scripts(yaml.safe_load(block.text)) for line in command_lines(script)):
            run_command(command)
    elif block.language == "sh":
        for command in block.commands:
            run_command(command)


def run_command(command: str) -> None:
    """Run one command line: the program itself, or what prepares it."""
    name, *arguments = shlex.split(command, comments=True)
    expected = int(match[1]) if (match := EXIT_CODE.search(command)) else 0
    if name == "fairenum" and arguments[0] == "explore":
        read_command(arguments)  # it serves a page until somebody ends it
    elif name == "fairenum":
        assert cli.run(arguments) == expected, command
    elif name == "make":
        subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, check=True, capture_output=True)
    elif name == "python":
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=os.environ)
    else:
        check_installation(name, arguments)


def check_installation(name: str, arguments: list[str]) -> None:
    """Look whether what is to be installed is there; the landing check installs for real."""
    assert [name, *arguments[:1]] == ["pip", "install"], f"no rule to run {name!r}"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in re.findall(r"\[(\w+)\]", " ".join(arguments)):
        assert extra in extras


def read_commands(block: Block) -> None:
    """Let the program read the command lines of a block, and run none of them."""
    for command in block.commands:
        name, *arguments = shlex.split(command, comments=True)
        if name == "fairenum":
            read_command(arguments)


def read_command(arguments: list[str]) -> None:
    """Let the program read a command line, and not run it."""
    cli.group.commands[arguments[0]].make_context(arguments[0], arguments[1:])


def prepare(folder: Path) -> None:
    """Put the table there that the documentation speaks of."""
    write_loans(folder / "loans.csv")
