"""Runs a document as a reader would: its blocks from top to bottom, in an empty folder.

What a fenced block is, its first line says:

- ```` ```sh ```` runs as written, and must end with 0, or with what `exit=1` behind it says. Lines with `pip install`,
  and those that make or enter a virtual environment, are not run but held against what the package offers.
- ```` ```text ```` that starts with `$ command` is a transcript: the command must print these words. Figures may
  differ, and `...` stands for anything. Directly behind a block that ends with this command it is the same run, also
  where it shows both streams (`2>&1`). Other text is only shown.
- ```` ```python ```` runs as a program, and its `print(x)  # y` lines must print y.
- ```` ```eqspec ```` must be readable and in the one style. With `eqspec 1` at its head it is a whole spec, whose
  checks are compiled where its files are there.
- With `title="name"` a block of any language is written to that file instead.

`<!-- files: specs/lhc -->` copies examples of the repository into the folder. Anything else is refused, so that nothing
in a document is left untried.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import eqspec
from eqspec.spec.formatting import formatted
from forked import Forking

_BLOCK = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$|^<!-- files: ([^\n]*) -->$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"\s*(pip install|python3? -m venv|\. \.venv)\b")
_FIGURE = re.compile(r"(?<![\w.])[-+]?\d[\d.]*(e[+-]?\d+)?")
_LONG = re.compile(r"(?<=s) \(\d+:\d\d:\d\d\)")
"""What pytest adds to a time of more than a minute."""
_KEPT = re.compile(r"kept from before, | \(\d+ kept from before\)| \(kept from before\)")
"""What is said of results that are kept."""
TIMEOUT = 300


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind it, and its text."""

    language: str
    info: str
    text: str

    @property
    def title(self) -> str | None:
        """The file it is written to."""
        found = re.search(r'title="([^"]+)"', self.info)
        return found[1] if found else None

    @property
    def exit_code(self) -> int:
        """What its last command must end with."""
        found = re.search(r"exit=(\d+)", self.info)
        return int(found[1]) if found else 0


@dataclass(frozen=True)
class Files:
    """Examples of the repository that are copied, by their paths."""

    paths: tuple[str, ...]


def parts(document: Path) -> Iterator[Block | Files]:
    """What is to be done, in order."""
    for found in _BLOCK.finditer(document.read_text(encoding="utf-8")):
        if found[5] is not None:
            yield Files(tuple(found[5].split()))
        else:
            yield Block(found[2], found[3], re.sub(rf"^{found[1]}", "", found[4], flags=re.MULTILINE))


def steps(document: Path) -> list[Block | Files]:
    """The same, a command and its transcript being one step."""
    found: list[Block | Files] = []
    for part in parts(document):
        before = found[-1] if found else None
        if isinstance(part, Block) and isinstance(before, Block) and before.language == "sh":
            *first, last = before.text.splitlines(keepends=True)
            if part.text.startswith((f"$ {last}", f"$ {last.rstrip()} 2>&1\n")):
                kept = [Block("sh", "", "".join(first))] if any(not _NOT_RUN.match(line) for line in first) else []
                found[-1:] = [*kept, Block(part.language, before.info, part.text)]
                continue
        found.append(part)
    return found


def environment(folder: Path, forking: Forking, kept: Path) -> dict[str, str]:
    """The commands of the package, `pytest` and `python` are those of the tests, whether it is installed or not.

    The first two, and blocks of Python, are forked from a process that has imported what they need; what `python` runs
    imports it itself.
    Results are kept, as a reader's are: what pages prove twice is proved once.
    """
    commands = folder / ".commands"
    commands.mkdir(exist_ok=True)
    registered = any(e.name == "eqspec" for e in entry_points(group="pytest11"))
    for name, text in {
        "eqspec": forking.script("eqspec"),
        "eqspec-vnnlib": forking.script("eqspec-vnnlib"),
        "pytest": forking.script("pytest", *([] if registered else ["-p", "eqspec.pytest_plugin"])),
        "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }.items():
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    package = str(Path(eqspec.__file__).parents[1])
    return {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and name != "EQSPEC_CACHE"
        },
        "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")])),
        "HOME": str(folder / ".home"),
        "XDG_CACHE_HOME": str(kept),
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


class Walk:
    """A reader who does what a document says, in a folder of their own."""

    def __init__(self, folder: Path, root: Path, forking: Forking, kept: Path) -> None:
        self.folder, self.root, self.ran = folder, root, 0
        self._environment = environment(folder, forking, kept)
        self._python_command = forking.command("python")
        (folder / ".home").mkdir(exist_ok=True)

    def do(self, part: Block | Files) -> None:
        """One step; AssertionError where it is not as the document says."""
        if isinstance(part, Files):
            self._copy(part)
        elif part.title is not None:
            self._write(part.title, part)
        elif part.language == "sh":
            self._shell(part)
        elif part.language == "python":
            self._python(part.text)
        elif part.language == "eqspec":
            self._spec(part.text)
        elif part.language == "text":
            if part.text.startswith("$ "):
                self._transcript(part)
        else:
            raise AssertionError(f"a block of {part.language!r} that nobody tries: {part.text[:60]!r}")

    def _copy(self, files: Files) -> None:
        for path in files.paths:
            source = self.root / path
            target = self.folder / source.name
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)

    def _write(self, name: str, block: Block) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        if block.language == "eqspec":
            assert formatted(block.text) == block.text, f"{name} is not in the style of eqspec fmt"
        elif block.language == "python":
            compile(block.text, name, "exec")

    def _shell(self, block: Block) -> None:
        lines = [line for line in block.text.splitlines() if not _NOT_RUN.match(line)]
        done = self._run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)])
        assert done.returncode == block.exit_code, f"{block.text}\n{done.stdout}\n{done.stderr}"

    def _python(self, text: str) -> None:
        done = self._run([*self._python_command, text])
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        promised = re.findall(r"^\s*print\(.*\)  # (.+)$", text, flags=re.MULTILINE)
        assert done.stdout.splitlines() == promised, text

    def _spec(self, text: str) -> None:
        whole = text.startswith("eqspec 1\n")
        file = text if whole else f"eqspec 1\n{text}"
        assert formatted(file) == file, f"not in the style of eqspec fmt: {text}"
        missing = [path for path in re.findall(r'"([^"\n]+\.\w+)"', text) if not (self.folder / path).exists()]
        if whole and not missing:
            assert eqspec.loads(file, directory=self.folder).tasks

    def _transcript(self, block: Block) -> None:
        command, _, shown = block.text.partition("\n")
        done = self._run(["bash", "-euo", "pipefail", "-c", command.removeprefix("$ ")])
        outcome = f"{block.text}\n--- printed ---\n{done.stdout}{done.stderr}"
        assert done.returncode == block.exit_code, outcome
        printed = done.stdout if "kept" in shown else _KEPT.sub("", done.stdout)  # where another page proved it
        assert agree(words(shown), words(printed)), outcome

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        self.ran += 1
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )


def words(text: str) -> list[str]:
    """The words of a text, figures replaced: times and witnesses differ from run to run."""
    return _FIGURE.sub("N", _LONG.sub("", text)).split()


def agree(shown: list[str], printed: list[str]) -> bool:
    """Whether these words are printed, where `...` stands for any number of words."""
    pieces: list[list[str]] = [[]]
    for word in shown:
        if word == "...":
            pieces.append([])
        else:
            pieces[-1].append(word)
    first, *middle = pieces
    if printed[: len(first)] != first or not middle:
        return printed == first
    place, last = len(first), middle.pop()
    for piece in middle:
        place = next((i for i in range(place, len(printed)) if printed[i : i + len(piece)] == piece), -len(piece) - 1)
        place += len(piece)
        if place < 0:
            return False
    return len(printed) - len(last) >= place and (not last or printed[-len(last) :] == last)


def not_run(document: Path) -> list[str]:
    """The lines of shell blocks that are not run."""
    blocks = (part for part in parts(document) if isinstance(part, Block) and part.language == "sh")
    return [line.strip() for block in blocks for line in block.text.splitlines() if _NOT_RUN.match(line)]
