"""The words of a C++ file, each with its line, and a cursor over them that refuses by name what it does not expect.

Comments, which go on in the next line behind a backslash, and directives of the preprocessor are no words. Directives
are kept apart, because some of them matter to whoever reads the file; what stands between `#ifndef __SYNTHESIS__` and
`#endif` counts, as it does where the project is compiled for simulation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from eqspec.errors import NetworkError
from eqspec.lazy_dataclass import dataclass

UNREAD = (
    "what hls4ml writes for its Vivado and Vitis backends is read (docs/howto/firmware.md lists the layers); write the "
    "project again without this, or report the folder"
)
_WORD = re.compile(
    r"""(?P<comment>//(?:\\[^\S\n]*\n|[^\n])*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<space>\n|[^\S\n]+)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)')
      | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFuUlL]*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<mark>::|[^\w\s])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


OCTAL = re.compile(r"[+-]?0\d+[uUlL]*")
"""A number that C++ reads to the base of eight."""


@dataclass(frozen=True)
class Word:
    """A word of a file, on a line. The comment is what `//` says behind it on the same line."""

    text: str
    kind: str
    line: int
    comment: str = ""


class Words:
    """The words of one file, one after the other."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.directives: list[Word] = []
        self._words = self._found(text)
        self._at = 0

    @classmethod
    def of(cls, path: str, words: Sequence[Word]) -> Words:
        """A cursor over some words of a file."""
        made = cls(path, "")
        made._words = list(words)
        return made

    def _found(self, text: str) -> list[Word]:
        found: list[Word] = []
        line = 1
        end = 0
        for match in _WORD.finditer(text):
            if match.start() != end:
                break
            end = match.end()
            kind, word = match.lastgroup or "", match.group()
            if kind == "directive":
                self.directives.append(Word(" ".join(word.replace("\\\n", " ").split()), kind, line))
            elif kind == "comment":
                if word.startswith("//") and found and found[-1].line == line:
                    last = found[-1]
                    found[-1] = Word(last.text, last.kind, last.line, word[2:].strip())
            elif kind != "space":
                if OCTAL.fullmatch(word):
                    self.fail(line, f"the number {word[:20]} is octal in C++", "write it without the zero in front")
                found.append(Word(word, kind, line))
            line += word.count("\n")
        if end != len(text):
            raise NetworkError(self.path, f"line {line}: {text[end : end + 20]!r} is not C++", fix=UNREAD)
        return found

    @property
    def next(self) -> Word:
        """The next word; behind the last one an empty one."""
        if self._at < len(self._words):
            return self._words[self._at]
        return Word("", "end", self._words[-1].line if self._words else 1)

    def refuse(self, expected: str, word: Word | None = None) -> NoReturn:
        """NetworkError: here stands something else."""
        word = word or self.next
        shown = repr(word.text[:40]) if word.text else "the end of the file"
        raise NetworkError(self.path, f"line {word.line}: {shown} where {expected} should be", fix=UNREAD)

    def fail(self, line: int, message: str, fix: str = UNREAD) -> NoReturn:
        """NetworkError about a line."""
        raise NetworkError(self.path, f"line {line}: {message}", fix=fix)

    def take(self) -> Word:
        """The next word, whatever it is."""
        word = self.next
        if not word.text:
            self.refuse("more")
        self._at += 1
        return word

    def has(self, *texts: str) -> bool:
        """Whether the next words are these."""
        ahead = self._words[self._at : self._at + len(texts)]
        return [word.text for word in ahead] == list(texts)

    def skip(self, *texts: str) -> bool:
        """Take these words if they are the next ones."""
        here = self.has(*texts)
        if here:
            self._at += len(texts)
        return here

    def expect(self, *texts: str) -> None:
        """Take these words."""
        for text in texts:
            if not self.skip(text):
                self.refuse(repr(text))

    def name(self, what: str) -> str:
        """The next word, a name."""
        if self.next.kind != "name":
            self.refuse(what)
        return self.take().text

    def until(self, end: str) -> list[Word]:
        """The words up to this one, which is taken as well; brackets hide what is in them."""
        opened, words = 0, list[Word]()
        while opened or not self.has(end):
            word = self.take()
            opened += (word.text in ("(", "{", "[")) - (word.text in (")", "}", "]"))
            words.append(word)
        self.expect(end)
        return words
