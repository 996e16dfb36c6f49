"""What may come next at a place of a spec: keywords, names, features, outputs, units, closed words and files.

The declaration that is being written is given to the parser up to the place, which says what it would accept; the words
in front of the place say what a name would stand for. Names come from the program as it was last read, and features
and outputs from the space of the region or network that the declaration is about. A place inside something that cannot
be read gets all names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from re import compile as regex
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedInput

from eqspec.language_server.meaning import space_of
from eqspec.language_server.understanding import Understanding
from eqspec.lazy_dataclass import dataclass
from eqspec.spec.findings import Fault
from eqspec.spec.grammar import DECLARATIONS, parser
from eqspec.spec.keywords import FUNCTIONS
from eqspec.spec.numbers import SUFFIXES
from eqspec.spec.program import Binding, Kind
from eqspec.spec.spaces import SpaceFacts
from eqspec.spec.syntax_error import line_opening_declaration_before, literal
from eqspec.spec.vocabulary import SCALER_KEYS, WORDS

_WORD = regex(r"[^\W\d][\w.]*$")
_DIGITS = regex(r"(?<![\w.])[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?([^\W\d]*)$")
_STRING = regex(r'"[^"\n]*"|#[^\n]*|"([^"\n]*)$')
_REGION = regex(r"\bregion\s+\w+\s*(?:\(([^)]*)\))?\s*in\s+([\w.]+)")
_PROVE = regex(r"\bprove\s+([\w.]+)")
_VARIABLE = regex(r"\bfor\s+(\w+)\s+in\b|\bfind\s+\w+\s+(\w+)\s+in\b")
_BUDGET_SUFFIXES = tuple(SUFFIXES)
_MOST_FILES = 500
_VOCABULARY = {
    "DECIDE": "decision",
    "EXPECT": "verdict",
    "ARITHMETIC": "arithmetic",
    "NEVER": "overflow",
    "FIND": "direction",
    "NORMALISE": "normaliser",
    "BALL": "ball",
    "WHEN": "guard",
    "TAKES": "input kind",
    "GIVES": "output kind",
    "PER": "scale",
}
"""The closed vocabulary behind a keyword."""
_NAMED: dict[str, Kind] = {"PROVE": "network", "EQUALS": "network", "ON": "region"}
_PRECISIONS = {"TO": "integer type", "AS": "fixed point type"}
"""The completions behind these words in the declaration of a derived network."""
_NEW_NAME = ("SPACE", "NETWORK", "REGION", "CHECK", "LET", "PARAM", "FEATURES", "OUTPUTS", "AS", "FOR", "TAGS")
_VALUE = frozenset(("NUMBER", "LPAR", "NAME"))


@dataclass(frozen=True)
class Completion:
    """One word that may come next, its `kind`, and a remark to show beside it."""

    word: str
    kind: str
    detail: str | None = None


@dataclass(frozen=True)
class Completions:
    """What may take the place of the characters from `start` up to where completion was asked for."""

    start: int
    items: tuple[Completion, ...]


def completions(text: str, offset: int, known: Sequence[Understanding], directory: Path) -> Completions:
    """The completions at an offset. `known` are readings of the text, the latest first; all of them give names."""
    opening = _open_string(text, offset)
    if opening is not None:
        return _files(opening, offset, directory)
    if _in_comment(text, offset):
        return Completions(offset, ())
    digits = _DIGITS.search(text, text.rfind("\n", 0, offset) + 1, offset)
    if digits is not None:
        return Completions(digits.start(1), tuple(Completion(s, "unit", "a suffix") for s in _BUDGET_SUFFIXES))
    word = _WORD.search(text, text.rfind("\n", 0, offset) + 1, offset)
    start = offset if word is None else word.start()
    opened = line_opening_declaration_before(text, start - 1) if start else None
    declaration = text[0 if opened is None else opened : start]
    found: dict[str, Completion] = {}
    for item in _at(declaration, opened is None, _Names(known, declaration)):
        found.setdefault(item.word, item)
    return Completions(start, tuple(found.values()))


def _open_string(text: str, offset: int) -> str | None:
    """The text of the string that is open at an offset."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    found = list(_STRING.finditer(line))
    return found[-1][1] if found and found[-1].end() == len(line) else None


def _in_comment(text: str, offset: int) -> bool:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return any(found[0].startswith("#") for found in _STRING.finditer(line))


def _files(written: str, offset: int, directory: Path) -> Completions:
    """Files and folders that a path may go on with."""
    folder, _, name = written.rpartition("/")
    items: list[Completion] = []
    try:
        for entry in (directory / folder).iterdir() if folder or not written.startswith("/") else ():
            if len(items) >= _MOST_FILES:
                break
            if not entry.name.startswith(".") and '"' not in entry.name:
                items.append(Completion(entry.name, "folder" if entry.is_dir() else "file"))
    except (OSError, ValueError):
        return Completions(offset, ())
    return Completions(offset - len(name), tuple(sorted(items, key=lambda item: item.word)))


class _Names:
    """The names that can be written in the file, and those that only the present declaration knows."""

    def __init__(self, known: Sequence[Understanding], declaration: str) -> None:
        self.known, self.declaration = known, declaration

    def of(self, *kinds: Kind) -> Iterator[Completion]:
        """Declared names."""
        for kind in kinds:
            for name, binding in self._visible(kind):
                doc = binding.declaration.doc
                yield Completion(name, kind, doc.split("\n", 1)[0] if doc else None)

    def locals(self) -> Iterator[Completion]:
        """Formal parameters of the region, variables of the check."""
        region = _REGION.search(self.declaration)
        if region is not None and region[1]:
            yield from (Completion(name.strip(), "parameter") for name in region[1].split(",") if name.strip())
        for found in _VARIABLE.finditer(self.declaration):
            yield Completion(found[1] or found[2], "variable")

    def features(self) -> Iterator[Completion]:
        """Features of the region's space."""
        region = _REGION.search(self.declaration)
        space = None if region is None else self._space(region[2])
        for name, unit in (space.features or ()) if space is not None else ():
            yield Completion(name, "feature", unit)

    def outputs(self) -> Iterator[Completion]:
        """Outputs of the network that the check is about."""
        prove = _PROVE.search(self.declaration)
        if prove is None:
            return
        for name, binding in self._visible("network"):
            if name == prove[1]:
                facts = self._space_of(binding)
                yield from (Completion(output, "output", unit) for output, unit in (facts.outputs if facts else ()))

    def units(self) -> Iterator[Completion]:
        """Units that stand behind features and outputs."""
        for known in self.known:
            for facts in known.checked.spaces.values():
                for name, unit in (*(facts.features or ()), *facts.outputs):
                    if unit:
                        yield Completion(unit, "unit", f"of {name}")

    def settings(self, kind: str) -> Iterator[Completion]:
        """Words of a closed vocabulary."""
        yield from (Completion(word, "word", kind) for word in WORDS[kind])

    def _visible(self, kind: Kind) -> Iterator[tuple[str, Binding]]:
        for known in self.known:
            yield from known.program.root.visible(kind)

    def _space(self, name: str) -> SpaceFacts | None:
        found = next((binding for visible, binding in self._visible("space") if visible == name), None)
        return self._facts(found)

    def _space_of(self, network: Binding) -> SpaceFacts | None:
        try:
            return self._facts(space_of(network))
        except Fault:  # an include that cannot be read may declare it
            return None

    def _facts(self, binding: Binding | None) -> SpaceFacts | None:
        """What is known of a space; of the readings the first that has its features, which may stand in a table."""
        if binding is None:
            return None
        found: SpaceFacts | None = None
        for known in self.known:
            for other, facts in known.checked.spaces.items():
                if other.name == binding.name and other.module.source.name == binding.module.source.name:
                    if facts.features is not None:
                        return facts
                    found = found or facts
        return found


def _at(declaration: str, beginning: bool, names: _Names) -> Iterator[Completion]:
    """The completions behind the beginning of a declaration."""
    state: Any = parser().parse_interactive(declaration, start="start" if beginning else "declarations")
    try:
        state.exhaust_lexer()
    except UnexpectedInput:
        yield from names.locals()
        yield from names.of("value", "region", "network", "space")
        return
    accepts = frozenset(state.accepts())
    before = [value.type if isinstance(value, Token) else "" for value in state.parser_state.value_stack]
    written = [str(value) for value in state.parser_state.value_stack if isinstance(value, Token)]
    if "NAME" in accepts:
        yield from _named(before, written, accepts, names)
    if "UNIT" in accepts and before[-1:] == ["LSQB"]:
        yield from names.units()
    for terminal in sorted(accepts):
        word = literal(terminal)
        if word is not None and word.isalnum() and not word.isdecimal():
            yield Completion(word, "declaration" if word in DECLARATIONS else "keyword")


def _named(before: list[str], written: list[str], accepts: frozenset[str], names: _Names) -> Iterable[Completion]:
    """What a name would stand for behind these terminals, of which "" is something that is complete."""
    last = before[-1] if before else ""
    block = _block(before)
    value = accepts >= _VALUE
    if last in _NAMED:
        return names.of(_NAMED[last])
    if last in _VOCABULARY:
        return names.settings(_VOCABULARY[last])
    if "NETWORK" in before and last in _PRECISIONS:
        return names.settings(_PRECISIONS[last])
    if last == "EQUAL" and "NETWORK" in before:
        return [*names.of("network"), *_values(before, block, names)]
    if last == "OF" and "PROVE" in before:
        return names.of("network")
    if last == "IN" and not value:
        opened = next((word for word in reversed(before) if word in ("NETWORK", "REGION", "STAYS")), None)
        return names.settings("norm") if opened == "STAYS" else names.of("space")
    if last in _NEW_NAME:
        return ()
    if block == "DEQUANTISED" and not value:
        return names.settings("end")
    if block == "BUDGET" and not value:
        return names.settings("budget key")
    if block in ("BOX", "GRID") and "ALL" in accepts:
        return names.features()
    if block == "space" and "NORMALISE" in before and not value:
        return (Completion(key, "word") for keys in SCALER_KEYS.values() for key in keys if _may_scale(key, written))
    if last == "LSQB" and "COMPARING" in before:
        return names.outputs()
    if last == "LSQB" and not value:
        return names.outputs()
    if "BOX" in accepts:
        return names.of("region")
    if value:
        return _values(before, block, names)
    return ()


def _values(before: list[str], block: str, names: _Names) -> Iterator[Completion]:
    """The completions inside a value."""
    yield from names.locals()
    if block == "WHERE":
        yield from names.features()
    if "COMPARING" in before:
        yield from names.outputs()
        return
    if "SATISFIES" in before:
        yield from names.of("network")
    yield from names.of("value")
    yield from (Completion(name, "function", f"{name}(first, last, how many)") for name in FUNCTIONS)


def _may_scale(key: str, written: list[str]) -> bool:
    kind = next((word for word in reversed(written) if word in SCALER_KEYS), None)
    return kind is not None and key in SCALER_KEYS[kind]


def _block(before: list[str]) -> str:
    """What the innermost open brace belongs to: the terminal in front of it, or "space" or "check" with its name."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        if before[place] == "RBRACE":
            depth += 1
        elif before[place] == "LBRACE":
            if depth == 0:
                owner = before[place - 1] if place else ""
                return before[place - 2].lower() if owner == "NAME" and place > 1 else owner
            depth -= 1
    return ""
