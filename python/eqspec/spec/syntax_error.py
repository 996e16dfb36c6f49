"""Says in plain words what is wrong where reading stopped, and finds the place to go on."""

from __future__ import annotations

from functools import cached_property
from re import MULTILINE
from re import compile as regex
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from eqspec.errors import Diagnostic, Fix, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.span import Source, Span
from eqspec.spec.findings import error, spelt
from eqspec.spec.grammar import DECLARATIONS, parser
from eqspec.spec.suggest import closest, did_you_mean

_HEAD = (
    r'(?:include\s+"|(?:let|param)\s+[^\W\d]\w*\s*=|network\s+[^\W\d]\w*\s*[(=]|(?:space|check)\s+[^\W\d]\w*\s*\{'
    r"|region\s+[^\W\d]\w*\s*(?:\(|in\b)"
)
_BUDGET = r"|budget\s*\{"
_DECLARATION = regex(rf"{_HEAD}{_BUDGET})")
_LINE_OPENS_DECLARATION = regex(rf"^[ \t]*({_HEAD}))", MULTILINE)
_SCAN = regex(r'"[^"\n]*"|#[^\n]*|[{}]|\w+')
_SYMBOL = regex(r'<=|>=|==|\.\.|[-+*/^()\[\]{},.:=<>]|\w+|"[^"\n]*"')
_SIGN = regex(r"<=|>=|==|\.\.")
_OPERATORS = frozenset({"PLUS", "MINUS", "TIMES", "DIVIDE", "CIRCUMFLEX", "LSQB", "LPAR", "DOT"})
_VALUE = frozenset({"NUMBER", "QUANTITY", "STRING", "NAME", "LSQB", "LPAR", "MINUS"})
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "QUANTITY": "a quantity",
    "STRING": "a text in double quotes",
    "UNIT": "a unit",
    "CMP": "one of <=, >=, ==, <, >",
    "$END": "the end of the file",
}
_INSTEAD = dict(zip("≤≥−–×·÷…'“”", ("<=", ">=", "-", "-", "*", "*", "/", "..", '"', '"', '"'), strict=True))
_SHORT = 30
_IN_PLACE_OF_WHEN = frozenset({"if", "where", "whenever", "while"})
_BEGINS_A_CLAIM = regex(r"\s*(?:check\b[^{\n]*\{)?\s*prove\b")
_CLAIMS = (
    "a claim is one of the sentences 'g stays within 0.05 of f', 'g keeps top1 of f', 'g equals f', "
    "'g satisfies g[a] - f[a] <= 0.1', 'g never wraps' and 'g never saturates'"
)
_PERCENTAGE = regex(r"(?<![\w.])([0-9]{1,12}(?:\.[0-9]{1,12})?)\s*%$")
_BARE_PLACES = regex(r"\.[0-9]+")
_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
_NUMBER_BEFORE = regex(rf"(?<![\w.]){_NUMBER}\s*$")
_NUMBER_AFTER = regex(rf"\s*(-?{_NUMBER})(?![\w.])")


@dataclass(frozen=True)
class Block:
    """A bracket that was opened, where, and what it belongs to: `check confident`."""

    bracket: str
    start: int
    owner: str


class Stop:
    """Where and in which state reading stopped; places count from the start of the source."""

    def __init__(self, problem: UnexpectedInput, source: Source, offset: int) -> None:
        self.problem, self.source, self.offset = problem, source, offset
        self.text = source.text
        parser_state: Any = problem.interactive_parser
        self.state = parser_state
        token = problem.token if isinstance(problem, UnexpectedToken) else None
        self.at_end = token is not None and token.type == "$END"
        self.kind = token.type if token is not None else ""
        if self.at_end:
            self.start = self.end = len(self.text.rstrip())
        else:
            self.start = offset + (problem.pos_in_stream or 0)
            self.end = self.start + (len(token) if token is not None else 1)
            if self.kind == "UNIT" and "UNIT" not in self.accepts:
                # Outside brackets a unit is whatever nothing else matches: look again at what stands there.
                symbol = _SYMBOL.match(self.text, self.start)
                self.kind = "SYMBOL" if symbol else ""
                self.end = symbol.end() if symbol else self.start + 1
            elif symbol := _SIGN.match(self.text, self.start):  # '==' is read as '=' where nothing is compared
                self.end = max(self.end, symbol.end())

    @property
    def found(self) -> str:
        """The text at the place, cut short."""
        found = self.text[self.start : self.end]
        return found if len(found) <= _SHORT else found[: _SHORT - 3] + "..."

    @property
    def span(self) -> Span:
        """The place itself."""
        return Span(self.source, self.start, self.end)

    @cached_property
    def accepts(self) -> frozenset[str]:
        """The terminals that could have come instead."""
        return frozenset(self.state.accepts())

    @cached_property
    def blocks(self) -> list[Block]:
        """The brackets still open, outermost first."""
        stack = self.state.parser_state.value_stack
        blocks: list[Block] = []
        for i, value in enumerate(stack):
            if not isinstance(value, Token):
                continue
            if value in ("{", "[", "("):
                words = [str(v) for v in stack[max(0, i - 2) : i] if isinstance(v, Token)]
                owner = " ".join(words) if len(words) == 2 and words[0] in ("check", "space") else "".join(words[-1:])
                blocks.append(Block(str(value), self.offset + (value.start_pos or 0), owner))
            elif value in ("}", "]", ")") and blocks:
                blocks.pop()
        return blocks

    @cached_property
    def braces(self) -> list[Block]:
        """The open blocks in braces."""
        return [b for b in self.blocks if b.bracket == "{"]


def finished(problem: UnexpectedInput) -> list[Token | Tree[Token]]:
    """What had been read completely when reading stopped: the words of the header, the trees of declarations."""
    state: Any = problem.interactive_parser
    if "$END" in state.accepts():
        whole = state.copy(deepcopy_values=False).feed_eof()
        header = [v for v in state.parser_state.value_stack[:2] if isinstance(v, Token)]
        return [*header, *(c for c in whole.children if isinstance(c, Tree))]
    found: list[Token | Tree[Token]] = []
    for i, value in enumerate(state.parser_state.value_stack):
        if isinstance(value, Token):
            if i >= 2 or value.type not in ("EQSPEC", "NUMBER"):
                break
            found.append(value)
        elif value.data.startswith("_"):
            found.extend(value.children)
        else:
            found.append(value)
    return found


def explain(stop: Stop) -> tuple[Diagnostic, int | None]:
    """What is wrong, and where to go on reading (None: nowhere)."""
    if not stop.kind:
        return _unreadable(stop), _resume(stop.text, stop.end, len(stop.braces))
    swallowed = _swallowed(stop)
    if stop.braces and (stop.at_end or swallowed is not None):
        return _unclosed(stop, swallowed), swallowed
    if swallowed is not None:
        return _incomplete(stop, swallowed), swallowed
    resume = _resume(stop.text, stop.end, len(stop.braces) + (stop.found == "{") - (stop.found == "}"))
    if stop.kind == "NAME" and "$END" in stop.accepts:
        return _unknown_declaration(stop), resume
    if stop.kind == "NAME" and stop.accepts & {"PROVE", "FEATURES"}:
        return _unknown_clause(stop), resume
    if "TOP1" in stop.accepts and (written := regex(r"top[-_ ]*1?\w*").match(stop.text, stop.start)):
        span = Span(stop.source, stop.start, written.end())
        message, fixes = f"'{written[0].strip()}' is written 'top1'", (Fix(span, "top1"),)
        return error("E006", message, span, help="write 'top1'", fixes=fixes), resume
    return _unexpected(stop), resume


def line_opening_declaration_before(text: str, start: int) -> int | None:
    """The start of the last line up to an offset that opens a declaration, as far as that can be told by itself."""
    found = [match.start(1) for match in _LINE_OPENS_DECLARATION.finditer(text, 0) if match.start(1) <= start]
    return found[-1] if found else None


def declaration_at_or_after(text: str, start: int) -> int | None:
    """The next place that looks like a declaration outside any block."""
    return _resume(text, start, 0)


def _swallowed(stop: Stop) -> int | None:
    """Start of a declaration that was read as a name, or that stands inside an open block, where reading stopped."""
    if not stop.at_end and _DECLARATION.match(stop.text, stop.start) and stop.text[stop.start : stop.end] != "budget":
        return stop.start
    low = stop.braces[-1].start if stop.braces else stop.text.rfind("\n", 0, max(0, stop.start - 200)) + 1
    for match in _LINE_OPENS_DECLARATION.finditer(stop.text, low):
        if match.start(1) >= stop.start:
            return None
        if stop.braces or stop.start <= match.end():
            return match.start(1)
    return None


def _unclosed(stop: Stop, following: int | None) -> Diagnostic:
    block = stop.braces[-1]
    place = stop.start if following is None else following
    word = regex(r"\w*").match(stop.text, place)
    span = Span(stop.source, place, word.end() if word else place)
    opened = Label(Span(stop.source, block.start, block.start + 1), "opened here")
    message = f"'{block.owner}' is not closed"
    if following is None:
        end = Span(stop.source, len(stop.text.rstrip()), len(stop.text))
        return error("E003", message, span, opened, help="add '}' at the end of the file", fixes=(Fix(end, "\n}\n"),))
    before = Span(stop.source, place, place)
    help_text = f"add '}}' before line {span.line}"
    return error("E003", message, span, opened, help=help_text, fixes=(Fix(before, "}\n"),))


def _incomplete(stop: Stop, following: int) -> Diagnostic:
    word = regex(r"\w+").match(stop.text, following)
    span = Span(stop.source, following, word.end() if word else following + 1)
    return error("E008", f"the declaration before '{span.text}' is not complete", span, *_open_bracket(stop))


def _unknown_declaration(stop: Stop) -> Diagnostic:
    label = Label(stop.span, "expected one of " + ", ".join(DECLARATIONS))
    return error(
        "E002",
        f"unknown declaration '{stop.found}'",
        stop.span,
        label,
        help=did_you_mean(stop.found, _keywords(stop)),
        fixes=spelt(stop.span, stop.found, _keywords(stop)),
    )


def _unknown_clause(stop: Stop) -> Diagnostic:
    words = _keywords(stop)
    kind, _, name = stop.braces[-1].owner.partition(" ") if stop.braces else ("block", "", "")
    if stop.found in _IN_PLACE_OF_WHEN and "WHEN" in stop.accepts:
        message, fixes = f"a guard begins with 'when', not '{stop.found}'", (Fix(stop.span, "when"),)
        return error("E007", message, stop.span, help="write 'when'", fixes=fixes)
    meant = did_you_mean(stop.found, words)
    return error(
        "E007",
        f"unknown clause '{stop.found}' in {kind} '{name}'",
        stop.span,
        help=meant or _claims(stop) or f"expected one of {', '.join(words)}",
        fixes=spelt(stop.span, stop.found, words),
    )


def _unreadable(stop: Stop) -> Diagnostic:
    character = stop.text[stop.start]
    if character == '"':
        end = stop.text.find("\n", stop.start)
        span = Span(stop.source, stop.start, len(stop.text) if end < 0 else end)
        return error("E009", "this text is not closed", span, help="texts stand in double quotes, on one line")
    if character == ";":
        message, fixes = "';' is not needed: nothing separates clauses", (Fix(stop.span, ""),)
        return error("E009", message, stop.span, help="leave it out", fixes=fixes)
    if character == "%" and (number := _PERCENTAGE.search(stop.text, max(0, stop.start - _SHORT), stop.start + 1)):
        span, share = Span(stop.source, number.start(), number.end()), _share(number[1])
        message = "a share is a number from 0 to 1, and '%' has no meaning"
        return error("E009", message, span, help=f"write '{share}'", fixes=(Fix(span, share),))
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    instead = _INSTEAD.get(character)
    return error(
        "E009",
        f"the character '{shown}' has no meaning here",
        stop.span,
        *_open_bracket(stop),
        help=f"write '{instead}'" if instead else _claims(stop),
        fixes=(Fix(stop.span, instead),) if instead else (),
    )


def _share(percentage: str) -> str:
    """A percentage as a decimal, by moving its point and without rounding: 99.5 becomes 0.995."""
    whole, _, places = percentage.partition(".")
    padded = whole.zfill(3)
    return f"{padded[:-2].lstrip('0') or '0'}.{padded[-2:]}{places}".rstrip("0").rstrip(".")


def _unexpected(stop: Stop) -> Diagnostic:
    expected = _expected(stop.accepts)
    found = "the end of the file" if stop.at_end else f"'{stop.found}'"
    if stop.found in ("}", "]", ")") and not stop.blocks:
        message, unneeded = f"'{stop.found}' closes nothing", (Fix(stop.span, ""),)
        return error("E008", message, stop.span, help="leave it out", fixes=unneeded)
    help_text: str | None = None
    fixes: tuple[Fix, ...] = ()
    if stop.found == "in" and "COLON" in stop.accepts:
        named = len(stop.text[: stop.start].rstrip())
        fixes = (Fix(Span(stop.source, named, stop.end), ":"),)
        help_text = f"a range stands behind a colon: '{_word_before(stop.text, named)}: 0 .. 1'"
    elif stop.kind == "NAME":
        help_text = did_you_mean(stop.found, _keywords(stop))
        fixes = spelt(stop.span, stop.found, _keywords(stop))
    elif stop.found == "=" and "CMP" in stop.accepts:
        help_text, fixes = "a comparison is written '=='", (Fix(stop.span, "=="),)
    elif stop.found == "..":
        fixes = _ends_as_list(stop)
        ends = fixes[0].text[1:-1] if fixes else "0.1, 0.5"
        help_text = f"several values are a list: [{ends}] or linspace({ends}, 5)"
    elif stop.found == "." and (places := _BARE_PLACES.match(stop.text, stop.start)):
        span, number = Span(stop.source, stop.start, places.end()), f"0{places[0]}"
        message = "a number has a digit in front of its point"
        return error("E008", message, span, help=f"write '{number}'", fixes=(Fix(span, number),))
    message = f"expected {expected}, found {found}"
    return error("E008", message, stop.span, *_open_bracket(stop), help=help_text or _claims(stop), fixes=fixes)


def _claims(stop: Stop) -> str | None:
    """The sentences that may be proved, where reading stopped in a line that begins with 'prove'."""
    line = stop.text[stop.text.rfind("\n", 0, stop.start) + 1 : stop.start]
    return _CLAIMS if stop.braces and _BEGINS_A_CLAIM.match(line) else None


def _word_before(text: str, end: int) -> str:
    """The word that ends at a place, or its last letters."""
    return str(regex(r"\w*$").findall(text[max(0, end - _SHORT) : end])[0])


def _ends_as_list(stop: Stop) -> tuple[Fix, ...]:
    """Where both ends of a range are plain numbers, the list of the two."""
    before, after = (
        _NUMBER_BEFORE.search(stop.text, max(0, stop.start - _SHORT), stop.start),
        _NUMBER_AFTER.match(stop.text, stop.end),
    )
    if before is None or after is None:
        return ()
    return (Fix(Span(stop.source, before.start(1), after.end(1)), f"[{before[1]}, {after[1]}]"),)


def _open_bracket(stop: Stop) -> tuple[Label, ...]:
    if stop.blocks and stop.blocks[-1].bracket != "{":
        block = stop.blocks[-1]
        return (Label(Span(stop.source, block.start, block.start + 1), f"this '{block.bracket}' is still open"),)
    return ()


def _expected(accepts: frozenset[str]) -> str:
    """The accepted terminals in words; what continues an expression is named only if nothing else fits."""
    left = set(accepts)
    if "CMP" in left:
        left -= {"LESS", "MORE"}
    words = []
    if "$END" in left:
        left -= {"$END", *(d.upper() for d in DECLARATIONS)}
        words.append("a declaration")
    if {"NUMBER", "LPAR"} <= left:
        left -= _VALUE
        words.append("a value")
    elif words or left - _OPERATORS:
        left -= _OPERATORS
    named = [(_WORDS.get(t) or f"'{literal(t)}'") for t in left]
    words += sorted(w for w in named if not w.startswith("'")) + sorted(w for w in named if w.startswith("'"))
    if len(words) > 8:
        return "one of " + ", ".join(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _keywords(stop: Stop) -> list[str]:
    """The keywords that could have come."""
    return sorted(w for w in map(literal, stop.accepts) if w and w.isalnum())


def literal(terminal: str) -> str | None:
    """The text of a terminal that always has the same one."""
    if terminal in ("GRID", "DATA"):  # words that are looked at with what stands behind them
        return terminal.lower()
    pattern = next((t.pattern for t in parser().terminals if t.name == terminal), None)
    return pattern.value if pattern is not None and pattern.type == "str" else None


def _resume(text: str, start: int, depth: int) -> int | None:
    """The next declaration: outside any block anywhere, inside `depth` open ones only at the start of a line.

    Outside of blocks, a misspelt declaration at the very start of a line counts too.
    """
    for match in _SCAN.finditer(text, start):
        word = match[0]
        if word == "{":
            depth += 1
            continue
        if word == "}":
            depth = max(0, depth - 1)
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        if word in DECLARATIONS and _DECLARATION.match(text, match.start()):
            if depth == 0 or (word != "budget" and not text[line : match.start()].strip()):
                return match.start()
        elif depth == 0 and line == match.start() and word[0] not in '#"' and closest(word, DECLARATIONS):
            return match.start()
    return None
