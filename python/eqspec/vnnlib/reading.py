"""VNN-LIB 1.0 and 2.0 files to queries.

A 1.0 file declares constants X_0, X_1, ... and Y_0, Y_1, ... of one network; a 2.0 file starts with its version and
declares networks with tensors. Nothing is skipped: whatever is not understood is an error with its place, and all
errors of a file are reported together. What is often written otherwise than the standard has it is read with a warning.
"""

from __future__ import annotations

from pathlib import Path
from re import compile as regex
from typing import Literal

from eqspec.errors import Diagnostic
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Source, Span
from eqspec.spec.findings import Fault, Findings, error
from eqspec.spec.suggest import did_you_mean
from eqspec.vnnlib.declarations import Declarations
from eqspec.vnnlib.expressions import Expressions, Literals
from eqspec.vnnlib.query import Assertion, Declared, Element, Query, Tensor
from eqspec.vnnlib.sexpr import Group, Node, Word, read
from eqspec.vnnlib.unique_warnings import UniqueWarnings

_CONSTANT = regex(r"([XY])_([0-9]{1,9})")
_COMMANDS = ("vnnlib-version", "declare-network", "declare-const", "declare-fun", "assert")


@dataclass(frozen=True)
class Read:
    """A query, and what was noticed on the way."""

    query: Query
    warnings: tuple[Diagnostic, ...]


def read_file(path: Path, literals: Literals | None = None) -> Read:
    """Read a file, its literals as what `literals` makes of them. SpecError with everything that is wrong with it."""
    findings = Findings()
    text = ""
    with findings.collecting():
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as problem:
            raise Fault(error("E110", f"cannot read '{path}': {problem.strerror}", None)) from None
        except UnicodeDecodeError:
            raise Fault(error("E111", f"'{path}' is not text", None)) from None
    findings.raise_errors()
    return read_text(text, str(path), literals)


def read_text(text: str, name: str = "<text>", literals: Literals | None = None) -> Read:
    """Read the text of a file, as `read_file` does. SpecError with everything that is wrong with it."""
    findings, source = Findings(), Source(name, text)
    commands: list[Node] = []
    with findings.collecting():
        commands = read(source)
    findings.raise_errors()
    query, notes = _Reader(source, findings, literals).read(commands)
    return Read(query, notes.warnings)


class _Reader:
    def __init__(self, source: Source, findings: Findings, literals: Literals | None) -> None:
        self._source, self._findings, self._notes = source, findings, UniqueWarnings()
        self._literals = literals

    def read(self, commands: list[Node]) -> tuple[Query, UniqueWarnings]:
        groups = [c for c in commands if self._is_command(c)]
        version = self._version(groups)
        body = [g for g in groups if isinstance(g, Group) and g.head != "vnnlib-version"]
        declarations = [g for g in body if g.head != "assert"]
        with self._findings.collecting():
            if version == "2.0":
                named = Declarations(self._findings, self._notes)
                networks = named.read(declarations)
                variables = named.element
            else:
                constants = _Constants()
                networks = constants.read(declarations, self._findings, self._whole())
                variables = constants.element
        self._findings.raise_errors()
        expressions = Expressions(variables, self._notes, standard=version == "2.0", literals=self._literals)
        assertions = []
        for group in body:
            if group.head == "assert":
                with self._findings.collecting():
                    if len(group.items) != 2:
                        message = f"'assert' takes one formula, here are {len(group.items) - 1}"
                        raise Fault(error("E600", message, group.span))
                    assertions.append(Assertion(expressions.formula(group.items[1]), group.span))
        if not any(group.head == "assert" for group in body):
            self._findings.add(error("E600", "this file asserts nothing", self._whole()))
        self._findings.raise_errors()
        return Query(version, networks, tuple(assertions), self._source), self._notes

    def _is_command(self, node: Node) -> bool:
        with self._findings.collecting():
            if isinstance(node, Word):
                message = f"'{node.text[:40]}' stands outside of brackets"
                raise Fault(error("E600", message, node.span, help=f"commands are {', '.join(_COMMANDS)}"))
            if node.head not in _COMMANDS:
                word = node.items[0].span if node.items else node.span
                found = node.head or ""
                hint = did_you_mean(found, _COMMANDS) or f"commands are {', '.join(_COMMANDS)}"
                raise Fault(error("E600", f"unknown command '{found[:40]}'", word, help=hint))
            return True
        return False

    def _version(self, groups: list[Node]) -> Literal["1.0", "2.0"]:
        found = [g for g in groups if isinstance(g, Group) and g.head == "vnnlib-version"]
        if not found:
            if any(isinstance(g, Group) and g.head == "declare-network" for g in groups):
                message = "(vnnlib-version <2.0>) is missing in front of 'declare-network'"
                self._notes.add("W601", message, groups[0].span)
                return "2.0"
            return "1.0"
        with self._findings.collecting():
            first = found[0]
            word = first.items[1] if len(first.items) == 2 else None
            if len(found) > 1 or groups[0] is not first or not isinstance(word, Word):
                raise Fault(error("E600", "a file starts with its version, once", found[-1].span))
            if word.text not in ("<2.0>", "<1.0>"):
                message = f"version {word.text} of VNN-LIB is not supported"
                raise Fault(error("E603", message, word.span, help="1.0 and <2.0> are read"))
            return "2.0" if word.text == "<2.0>" else "1.0"
        self._findings.raise_errors()
        return "2.0"

    def _whole(self) -> Span:
        return Span(self._source, 0, min(1, len(self._source.text)))


class _Constants:
    """The constants of a 1.0 file, as the input and the output of one network called f."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, Span]] = {"X": {}, "Y": {}}

    def read(self, declarations: list[Group], findings: Findings, whole: Span) -> tuple[Declared, ...]:
        for group in declarations:
            with findings.collecting():
                self._declare(group)
        tensors = []
        for letter, what in (("X", "inputs"), ("Y", "outputs")):
            found = self._found[letter]
            if not found and letter == "X" and not findings.errors:
                findings.add(error("E604", f"no {what} are declared", whole, help=f"(declare-const {letter}_0 Real)"))
            missing = next((i for i in range(len(found)) if i not in found), None)
            if missing is not None:
                beyond = next(span for i, span in found.items() if i >= len(found))
                findings.add(error("E604", f"{letter}_{missing} is not declared, but a later one is", beyond))
            span = next(iter(found.values()), whole)
            tensors.append(Tensor(letter, (len(found),), "real", span))
        findings.raise_errors()
        return (Declared("f", tensors[0], tensors[1], None, tensors[0].span),)

    def _declare(self, group: Group) -> None:
        words = [item.text if isinstance(item, Word) and item.subscript is None else None for item in group.items]
        if group.head == "declare-fun" and len(group.items) == 4:
            empty = group.items[2]
            if isinstance(empty, Group) and not empty.items:
                words.pop(2)
        if group.head == "declare-network" or len(words) != 3 or words[1] is None or words[2] is None:
            message = "a 1.0 file declares its constants one by one"
            raise Fault(error("E600", message, group.span, help="write (declare-const X_0 Real)"))
        name = _CONSTANT.fullmatch(words[1])
        span = group.items[1].span
        if name is None:
            message = f"'{words[1][:40]}' is neither an input X_0, X_1, ... nor an output Y_0, Y_1, ..."
            raise Fault(error("E604", message, span))
        if words[2] not in ("Real", "real"):
            raise Fault(error("E603", f"type '{words[2][:40]}' is not supported", group.items[-1].span, help="Real"))
        known = self._found[name[1]]
        if int(name[2]) in known:
            raise Fault(error("E604", f"'{words[1]}' is declared twice", span))
        known[int(name[2])] = span

    def element(self, word: Word) -> Element:
        name = _CONSTANT.fullmatch(word.text)
        if name is None or word.subscript is not None or int(name[2]) not in self._found[name[1]]:
            raise Fault(error("E604", f"'{word.span.text[:40]}' is not declared", word.span))
        return Element(0, name[1] == "Y", int(name[2]))
