"""What defines.h and parameters.h declare: sizes, types, and the configuration of each layer.

    #define N_INPUT_1_1 16                                     sizes, in older projects
    typedef ap_fixed<16,6> input_t;                            a type
    typedef nnet::array<ap_fixed<16,6>, 8*1> layer2_t;         so many of a type, in one word of a stream
    typedef struct e2_t {ap_uint<1> sign;ap_int<4> weight; } e2_t;                  powers of two, which weights may be
    struct config2 : nnet::dense_config { ... };               a configuration
    unsigned config5_perm[3] = {1, 2, 0};                      numbers of a configuration, and which of its
    const unsigned* const config5::perm = config5_perm;        members they are
    const ap_uint<9> config2::pixels[] = {1, 3, 7};            the same at once
    const slope3_t hard_sigmoid_config3::slope = 0.2;          a number of a type of its own

A member of a configuration is a number, a type, or a template that another one is taken for (`kernel`, `product`). They
are kept as words with their lines, and read when a layer asks for them: a layer names all members that it knows,
so that one which nobody knows stops the reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.fixed_point_types import FixedPoint, read_type
from eqspec.networks.firmware.powers_of_two import read_powers
from eqspec.networks.firmware.tokens import OCTAL, Word, Words

_MOST_DIGITS = 12
_MOST_BRACKETS = 60
"""That numbers may stand in, one inside the other."""
_FLOATS = ("float", "double", "half", "std", "ap_float")
"""How types of floating point begin; `std` are those of `std::float16_t` and `std::bfloat16_t`."""
_OTHER_BACKEND = "write the project with the Vivado or Vitis backend; a proof is then about what that one computes"


@dataclass(frozen=True)
class ArrayOf:
    """nnet::array<of, size>: what one word of a stream holds."""

    of: FixedPoint
    size: int


Type = FixedPoint | ArrayOf


@dataclass(frozen=True)
class Member:
    """One member of a configuration: the words of its value, and the line where it stands."""

    kind: str
    """`number`, `type` or `template`."""
    words: tuple[Word, ...]
    line: int


@dataclass
class Configuration:
    """A struct that says how a layer is computed."""

    name: str
    base: str
    path: str
    line: int
    members: dict[str, Member] = field(default_factory=dict)


@dataclass
class Declarations:
    """Everything that is declared, by its name."""

    sizes: dict[str, int] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    powers: dict[str, FixedPoint] = field(default_factory=dict)
    """Types of weights that are powers of two, which hold these numbers alone."""
    configurations: dict[str, Configuration] = field(default_factory=dict)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    members: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of numbers, by the configuration and its member that they are."""
    constants: dict[tuple[str, str], tuple[tuple[Word, ...], str]] = field(default_factory=dict)
    """Numbers of members with a type of their own: its words and the number as written, by configuration and member."""
    included: list[str] = field(default_factory=list)
    """The files that are included, as they are written."""
    _asked: list[tuple[str, str]] = field(default_factory=list)
    """The members that are being read, one in the value of another."""
    _inside: int = 0
    """How many brackets and signs the number that is being read stands in."""

    def number(self, words: Words, known: Configuration | None = None) -> int:
        """The sum of products that stands here, of integers and names of sizes."""
        total = self._product(words, known)
        while words.has("+") or words.has("-"):
            sign = 1 if words.take().text == "+" else -1
            total += sign * self._product(words, known)
        return total

    def _product(self, words: Words, known: Configuration | None) -> int:
        total = self._factor(words, known)
        while words.skip("*"):
            total *= self._factor(words, known)
        return total

    def _factor(self, words: Words, known: Configuration | None) -> int:
        word = words.take()
        if word.text in ("-", "("):
            self._inside += 1
            if self._inside > _MOST_BRACKETS:
                words.fail(word.line, "a number in too many brackets")
            found = -self._factor(words, known) if word.text == "-" else self.number(words, known)
            if word.text == "(":
                words.expect(")")
            self._inside -= 1
            return found
        if word.kind == "number" and word.text.isdecimal() and len(word.text) <= _MOST_DIGITS:
            return int(word.text)
        if word.text in self.sizes:
            return self.sizes[word.text]
        if known is not None and word.text in known.members:
            return self.member_number(known, word.text)
        return words.refuse("a whole number", word)

    def type(self, words: Words) -> Type:
        """The type that stands here, written out or by its name."""
        word = words.next
        if words.skip("nnet", "::", "array"):
            words.expect("<")
            of = self.type(words)
            words.expect(",")
            size = self.number(words)
            words.expect(">")
            if isinstance(of, ArrayOf) or size < 1:
                words.fail(word.line, "an array of arrays, or of nothing")
            return ArrayOf(of, size)
        found = read_type(words, self.number)
        if found is not None:
            return found
        name = words.name("a type")
        if name in self.powers:
            words.fail(word.line, f"{name}, a type of powers of two, is that of something else than weights")
        if name not in self.types:
            fix = "ap_fixed, ap_ufixed, ap_int, ap_uint and names that defines.h gives them are read"
            if name.startswith("ac_") or name == "hls":
                backend = "Quartus, oneAPI and Catapult backends" if name != "hls" else "Libero backend"
                words.fail(word.line, f"unknown type {name!r}, of the {backend}", _OTHER_BACKEND)
            why = ", of floating point, in which firmware is not read" if name in _FLOATS else ""
            words.fail(word.line, f"unknown type {name!r}{why}", fix)
        return self.types[name]

    def weight_type(self, words: Words) -> Type:
        """The type of weights that stands here, which may be one of powers of two."""
        found = self.powers.get(words.next.text)
        if found is None:
            return self.type(words)
        words.take()
        return found

    def member_number(self, configuration: Configuration, name: str) -> int:
        """A member that is a number."""
        words, member = self._member(configuration, name, "number")
        if (configuration.name, name) in self._asked:
            words.fail(member.line, f"{configuration.name}::{name} is defined by itself")
        if len(self._asked) > _MOST_BRACKETS:
            words.fail(member.line, f"{configuration.name}::{name} is defined by too many others")
        self._asked.append((configuration.name, name))
        found = self.number(words, configuration)
        self._all_taken(words)
        self._asked.pop()
        return found

    def member_type(self, configuration: Configuration, name: str, *, of_weights: bool = False) -> FixedPoint:
        """A member that is a type of single numbers."""
        words, member = self._member(configuration, name, "type")
        found = self.weight_type(words) if of_weights else self.type(words)
        self._all_taken(words)
        if isinstance(found, ArrayOf):
            words.fail(member.line, f"{configuration.name}::{name} is an array")
        return found

    def member_name(self, configuration: Configuration, name: str, *parameters: str) -> str:
        """A member that is a value of `nnet`, or a template with these parameters, by its name alone."""
        words, _ = self._member(configuration, name, None)
        written = [words.name("a name")]
        while words.skip("::"):
            written.append(words.name("a name"))
        for place, parameter in enumerate(parameters):
            words.expect("," if place else "<", parameter)
        if parameters:
            words.expect(">")
        self._all_taken(words)
        return "::".join(written)

    def member_function(self, configuration: Configuration, name: str) -> tuple[str, tuple[Type, Type]]:
        """A member that is a function of `nnet` for two types, which may be other members: its name and these;
        `value_type` is that of entries.
        """
        words, _ = self._member(configuration, name, "function")
        words.expect("nnet", "::")
        function = words.name("the name of a function")
        of = list[Type]()
        for mark in ("<", ","):
            words.expect(mark)
            entries = words.skip("typename")
            member = words.next.text if words.next.text in configuration.members else ""
            found: Type = self.member_type(configuration, words.take().text) if member else self.type(words)
            if entries:
                words.expect("::", "value_type")
                if not isinstance(found, ArrayOf):
                    words.refuse("the type of a stream")
                found = found.of
            of.append(found)
        words.expect(">")
        self._all_taken(words)
        return function, (of[0], of[1])

    def member_numbers(self, configuration: Configuration, name: str) -> list[int]:
        """A member that is several numbers."""
        found = self.numbers.get(self.members.get((configuration.name, name), ""))
        if found is None:
            Words(configuration.path, "").fail(configuration.line, f"{configuration.name} has no numbers {name}")
        return found

    def member_constant(self, configuration: Configuration, name: str) -> tuple[str, FixedPoint]:
        """A member that has a type of its own: its number as it is written, and the type."""
        found = self.constants.get((configuration.name, name))
        if found is None:
            Words(configuration.path, "").fail(configuration.line, f"{configuration.name} has no number {name}")
        words = Words.of(configuration.path, found[0])
        of = self.type(words)
        self._all_taken(words)
        if isinstance(of, ArrayOf):
            words.fail(configuration.line, f"{configuration.name}::{name} is an array")
        return found[1], of

    def _member(self, configuration: Configuration, name: str, kind: str | None) -> tuple[Words, Member]:
        member = configuration.members.get(name)
        if member is None or (kind is not None and member.kind != kind):
            Words(configuration.path, "").fail(configuration.line, f"{configuration.name} has no {kind or ''} {name}")
        return Words.of(configuration.path, member.words), member

    @staticmethod
    def _all_taken(words: Words) -> None:
        if words.next.text:
            words.refuse("';'")


def read_declarations(found: Declarations, words: Words) -> None:
    """Add what one file declares."""
    for directive in words.directives:
        _directive(found, words, directive)
    kinds = [directive.text.lstrip("# ").split()[0] for directive in words.directives]
    if kinds.count("ifndef") != kinds.count("endif"):
        words.fail(1, "an #ifndef and an #endif do not belong together", "write the project again")
    while words.next.text:
        start = words.next
        if words.skip("typedef"):
            _type(found, words, start)
        elif words.skip("struct"):
            _configuration(found, words, start)
        elif words.skip("unsigned"):
            _several_numbers(found, words)
        elif words.skip("const"):
            _defined_member(found, words, start)
        else:
            words.refuse("a typedef or a struct")


def _type(found: Declarations, words: Words, start: Word) -> None:
    power = read_powers(words, found.number) if words.skip("struct") else None
    declared = power or found.type(words)
    name = words.name("the name of the type")
    words.expect(";")
    known = found.types.get(name) or found.powers.get(name)
    if power is None:
        found.types[name] = declared
    else:
        found.powers[name] = power
    if known is not None and known != declared:
        words.fail(start.line, f"{name} is declared twice, and differently")


def _several_numbers(found: Declarations, words: Words) -> None:
    line = words.next.line
    name = words.name("the name of numbers")
    words.expect("[")
    size = found.number(words)
    words.expect("]", "=", "{")
    numbers = [found.number(words)]
    while words.skip(","):
        numbers.append(found.number(words))
    words.expect("}", ";")
    if len(numbers) != size or name in found.numbers:
        words.fail(line, f"{name} has {len(numbers)} numbers, {size} declared, or is declared twice")
    found.numbers[name] = numbers


def _defined_member(found: Declarations, words: Words, start: Word) -> None:
    """What a static member is: the name of several numbers, several numbers (of masks of pixels), or one number."""
    head = words.until("=")
    value = [word.text for word in words.until(";")]
    names = [word.text for word in head if word.text not in ("[", "]")]
    if len(names) < 3 or names[-2] != "::":
        words.fail(start.line, "this constant is not a member of a configuration")
    key = names[-3], names[-1]
    label = "::".join(key)
    if key in found.members or key in found.constants:
        words.fail(start.line, f"{label} is defined twice")
    if head[-1].text == "]" and value[:1] == ["{"] and value[-1:] == ["}"]:
        if not all(text.isdecimal() for text in value[1:-1:2]) or {*value[2:-1:2]} > {","}:
            words.fail(start.line, f"{label} is not a list of whole numbers")
        found.numbers[label] = [int(text) for text in value[1:-1:2]]
        found.members[key] = label
    elif len(value) == 1 and value[0].isidentifier():
        found.members[key] = value[0]
    else:
        found.constants[key] = tuple(head[: len(head) - 3]), "".join(value)


def _directive(found: Declarations, words: Words, directive: Word) -> None:
    match directive.text.lstrip("# ").split():
        case ["include", name]:
            found.included.append(name.strip('<>"'))
        case ["define", name, value] if value.isdecimal() and len(value) <= _MOST_DIGITS and not OCTAL.fullmatch(value):
            if found.sizes.setdefault(name, int(value)) != int(value):
                words.fail(directive.line, f"{name} is defined twice, and differently")
        case ["ifndef", guard] | ["define", guard] if guard.endswith("_H_"):
            pass
        case ["endif", *_]:
            pass
        case [_, "__INTELFPGA_COMPILER__"]:
            words.fail(directive.line, "a project of the Quartus backend is not read", _OTHER_BACKEND)
        case _:
            words.fail(directive.line, f"the directive {directive.text[:60]!r} is not read")


def _configuration(found: Declarations, words: Words, start: Word) -> None:
    name = words.name("the name of a configuration")
    base = ""
    if words.skip(":", "nnet", "::"):
        base = words.name("what it is derived from")
    made = Configuration(name, base, words.path, start.line)
    words.expect("{")
    while not words.skip("}"):
        label, member = _declared_member(words)
        if label in made.members:
            words.fail(member.line, f"{name} has two members {label}")
        made.members[label] = member
    words.expect(";")
    if name in found.configurations:
        words.fail(start.line, f"{name} is declared twice")
    found.configurations[name] = made


def _declared_member(words: Words) -> tuple[str, Member]:
    line = words.next.line
    if words.skip("typedef"):
        value, label = _labelled(words, ";")
        return label, Member("type", value, line)
    if words.skip("template"):
        words.expect("<")
        words.until(">")
        words.expect("using")
        label = words.name("the name of a member")
        words.expect("=")
        return label, Member("template", tuple(words.until(";")), line)
    if words.skip("constexpr", "static", "auto"):
        label = words.name("the name of a member")
        words.expect("=")
        return label, Member("function", tuple(words.until(";")), line)
    words.expect("static")
    if not words.skip("const"):
        words.expect("constexpr")
    head = words.until(";")
    at = next((place for place, word in enumerate(head) if word.text == "="), None)
    before = head if at is None else head[:at]
    if before and before[-1].text == "]":
        before = before[: next(place for place, word in enumerate(before) if word.text == "[")]
    if not before or before[-1].kind != "name":
        words.fail(line, "a member without a name")
    # Without a value it is defined behind its configuration.
    return before[-1].text, Member("defined elsewhere" if at is None else "number", tuple(head[(at or 0) + 1 :]), line)


def _labelled(words: Words, end: str) -> tuple[tuple[Word, ...], str]:
    """The words in front of a name, and the name, which this mark follows."""
    found = words.until(end)
    if not found or found[-1].kind != "name":
        words.refuse("the name of a member", found[-1] if found else None)
    return tuple(found[:-1]), found[-1].text


def check_members(configuration: Configuration, base: str, read: Iterable[str], harmless: Iterable[str]) -> None:
    """Refuse a configuration of another kind, and one with a member that nobody reads and that may matter."""
    words = Words(configuration.path, "")
    if configuration.base != base:
        said = f"is a nnet::{configuration.base}" if configuration.base else "is derived from nothing"
        words.fail(
            configuration.line, f"{configuration.name} {said}, and no {'nnet::' if base else ''}{base or 'such'}"
        )
    known = {*read, *harmless}
    for name, member in configuration.members.items():
        if name not in known:
            words.fail(member.line, f"the member {name} of {configuration.name} is not known")
