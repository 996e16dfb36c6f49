"""Whether the layers of a project are those that hls4ml wrote: its C++ of them, which lies in firmware/nnet_utils.

What a layer computes is said by templates that hls4ml copies into each project. A project may have others, changed by
hand or of another release, and then a call means something else. So every definition that a layer rests on is compared,
by the digest of its words, with those that have been read. Comments, pragmas and space do not count; of other
directives there are those of hls4ml alone (`directives`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from eqspec.errors import NetworkError
from eqspec.networks.firmware.directives import check_header
from eqspec.networks.firmware.known_templates import DIGESTS
from eqspec.networks.firmware.tokens import Word, Words

FOLDER = "firmware/nnet_utils"
_OF_ALL = ("nnet_common.h", "nnet_helpers.h", "nnet_mult.h", "nnet_types.h")


def definitions(words: Words) -> dict[str, str]:
    """The digest of everything that is defined in `namespace nnet` of a header, by name; overloads together."""
    while words.next.text and not words.skip("namespace", "nnet", "{"):
        words.take()
    found: dict[str, list[str]] = {}
    now, opened, spaces = list[Word](), 0, 1
    while words.next.text and spaces:
        if not now and words.skip("namespace"):
            words.name("the name of a namespace")
            words.expect("{")
            spaces += 1
            continue
        if not now and words.skip("}"):
            spaces -= 1
            continue
        word = words.take()
        now.append(word)
        opened += (word.text in ("{", "(")) - (word.text in ("}", ")"))
        ends = word.text == ";" or (word.text == "}" and not words.has(";"))
        if ends and not opened:
            found.setdefault(_name(now), []).append(" ".join(one.text for one in now))
            now = []
    return {name: hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32] for name, texts in found.items()}


def _name(words: list[Word]) -> str:
    """What a definition defines: the name behind class or struct, else that in front of its first parenthesis."""
    angles = 0
    for place, word in enumerate(words):
        angles += (word.text == "<") - (word.text == ">")
        if not angles and word.text in ("class", "struct", "enum") and place + 1 < len(words):
            behind = words[place + 1]
            return words[place + 2].text if behind.text == "class" else behind.text
        if not angles and word.text == "(" and place:
            return words[place - 1].text
    return words[0].text


class Templates:
    """The headers of a project, each read when a layer rests on it. `words` reads a file, None where there is none."""

    def __init__(self, folder: str, words: Callable[[str], Words | None]) -> None:
        self._folder, self._words = folder, words
        self._read: dict[str, dict[str, str] | None] = {}
        self.missing: list[str] = []

    def words(self, header: str) -> Words | None:
        """What a header says; None where the project has none."""
        return self._words(f"{FOLDER}/{header}")

    def check(self, header: str, *names: str, helpers: Sequence[str] = ()) -> None:
        """NetworkError unless these definitions of a header are known ones, and its helpers, where it has them."""
        found = self._definitions(header)
        if found is None:
            return
        for name in (*names, *(name for name in helpers if name in found)):
            if found.get(name) not in DIGESTS[f"{header}:{name}"]:
                said = "is another one than hls4ml's" if name in found else "is not defined"
                fix = "write the project again with a release of hls4ml from 0.8 to 1.3, without changing its templates"
                raise NetworkError(f"{self._folder}/{FOLDER}/{header}", f"nnet::{name} {said}", fix=fix)

    def digest(self, header: str, name: str) -> str | None:
        """The digest of a definition; None where the project has no such header."""
        found = self._definitions(header)
        return None if found is None else found.get(name, "")

    def _definitions(self, header: str) -> dict[str, str] | None:
        if not self._read:  # whose macros all of them use
            for other in _OF_ALL:
                if (words := self._words(f"{FOLDER}/{other}")) is not None:
                    check_header(words)
        if header not in self._read:
            words = self._words(f"{FOLDER}/{header}")
            if words is not None:
                check_header(words)
            self._read[header] = None if words is None else definitions(words)
            if words is None:
                self.missing.append(header)
        return self._read[header]
