"""The function of a project: which arrays there are, and which functions of hls4ml are called on them, in order.

    void myproject(input_t x[16], result_t layer4_out[5]) {
        static bool loaded_weights = false;
        if (!loaded_weights) { nnet::load_weights_from_txt<model_default_t, 80>(w2, "w2.txt"); ... }
        layer2_t layer2_out[5];                                              or hls::stream<layer2_t> layer2_out("...");
        auto& layer3_out = layer2_out;                                       another name of the same
        nnet::dense<input_t, layer2_t, config2>(x, layer2_out, w2, b2);      // the name of the layer
    }

Nothing else may stand in it. `#pragma` says how hardware is laid out, never what is computed.
"""

from __future__ import annotations

from dataclasses import field
from math import prod
from pathlib import Path

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.declarations import Declarations, Type
from eqspec.networks.firmware.directives import is_plain_include
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.tokens import Word, Words

LOADERS = "load_weights_from_txt", "load_exponent_weights_from_txt"
"""What loads weights, and weights that are powers of two."""


@dataclass(frozen=True)
class Array:
    """An array of the function, or a stream; how many numbers an array has is declared, of a stream it is not."""

    name: str
    type: Type
    size: int | None
    line: int


@dataclass(frozen=True)
class Call:
    """nnet::function<templates>(arguments); `layer` is its name in the model, where a comment says it."""

    function: str
    templates: tuple[tuple[Word, ...], ...]
    arguments: tuple[tuple[Word, ...], ...]
    line: int
    layer: str


@dataclass(frozen=True)
class Definition:
    """A function that stands in the project for one model: its parameters and its statements, not read yet."""

    path: str
    parameters: tuple[Word, ...]
    statements: tuple[Word, ...]
    wrapper: str = ""
    """The struct behind it that does nothing but call it, if there is one."""


@dataclass
class Function:
    """What the function of the project consists of."""

    name: str
    path: str
    parameters: list[Array] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    """Further names of arrays."""
    loaded: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Weights that the simulation loads: file, and how many."""
    loaders: set[str] = field(default_factory=set)
    """The functions of hls4ml that load them."""
    calls: list[Call] = field(default_factory=list)

    def array(self, words: Words, name: str, line: int) -> Array:
        """The array of this name."""
        name = self.same.get(name, name)
        if name not in self.arrays:
            words.fail(line, f"there is no array {name!r}")
        return self.arrays[name]


def read_function(words: Words, declared: Declarations) -> Function:
    """The function of the project. Raises NetworkError."""
    simulated = _simulated(words)
    words.expect("void")
    found = Function(words.name("the name of the function"), words.path)
    words.expect("(")
    while True:
        made = _array(words, declared)
        found.parameters.append(made)
        _enter(found, words, made)
        if not words.skip(","):
            break
    words.expect(")", "{")
    while not words.skip("}"):
        _statement(found, words, declared)
    if words.next.text:
        words.refuse("the end of the file")
    for call in found.calls:
        if any(call.line in lines for lines in simulated):
            words.fail(call.line, f"nnet::{call.function} is called in the simulation, and not in the hardware")
    return found


def _simulated(words: Words) -> list[range]:
    """The lines that are compiled for the simulation alone."""
    found, begin = list[range](), 0
    header = Path(words.path).with_suffix(".h").name
    for directive in words.directives:
        if directive.text == "#ifndef __SYNTHESIS__" and not begin:
            begin = directive.line
        elif directive.text == "#endif" and begin:
            found.append(range(begin, directive.line))
            begin = 0
        elif directive.text.split()[0] != "#pragma" and not is_plain_include(directive.text, header):
            words.fail(directive.line, f"the directive {directive.text[:60]!r} is not read")
    return found


def _statement(found: Function, words: Words, declared: Declarations) -> None:
    if words.skip("static", "bool"):
        words.name("a name")
        words.expect("=", "false", ";")
    elif words.skip("if", "(", "!"):
        loaded = words.name("a name")
        words.expect(")", "{")
        while not words.skip(loaded, "=", "true", ";"):
            _load(found, words, declared)
        words.expect("}")
    elif words.skip("auto"):
        line = words.next.line
        words.expect("&")
        name = words.name("a name")
        words.expect("=")
        first = words.name("the name of an array")
        words.expect(";")
        found.array(words, first, line)
        found.same[name] = found.same.get(first, first)
    elif words.has("nnet", "::") and not words.has("nnet", "::", "array"):
        _call(found, words)
    else:
        _enter(found, words, _array(words, declared))
        words.expect(";")


def _enter(found: Function, words: Words, made: Array) -> None:
    if made.name in found.arrays or made.name in found.same:
        words.fail(made.line, f"{made.name} is declared twice")
    found.arrays[made.name] = made


def _array(words: Words, declared: Declarations) -> Array:
    """The declaration of an array or of a stream, as a parameter or a variable."""
    line = words.next.line
    if words.skip("hls", "::", "stream"):
        words.expect("<")
        of = declared.type(words)
        words.expect(">")
        words.skip("&")
        name = words.name("the name of a stream")
        if words.skip("("):
            words.take()
            words.expect(")")
        return Array(name, of, None, line)
    of = declared.type(words)
    name = words.name("the name of an array")
    sizes = []
    words.expect("[")
    while True:
        sizes.append(declared.number(words))
        words.expect("]")
        if not words.skip("["):
            return Array(name, of, prod(sizes), line)


def _load(found: Function, words: Words, declared: Declarations) -> None:
    line = words.next.line
    words.expect("nnet", "::")
    name = words.name("a function that loads weights")
    if name not in LOADERS:
        words.fail(line, f"nnet::{name} is not read", "write the project without compressed weights")
    words.expect("<")
    of = declared.weight_type(words)
    if (isinstance(of, FixedPoint) and of.exponent > 0) != (name == LOADERS[1]):
        words.fail(line, f"nnet::{name} of {of}", "write the project again")
    words.expect(",")
    count = declared.number(words)
    words.expect(">", "(")
    array = words.name("the name of an array")
    words.expect(",")
    file = words.take().text.strip('"')
    words.expect(")", ";")
    if array in found.loaded:
        words.fail(line, f"{array} is loaded twice")
    found.loaded[array] = file, count
    found.loaders.add(name)


def _call(found: Function, words: Words) -> None:
    line = words.next.line
    words.expect("nnet", "::")
    function = words.name("a function of hls4ml")
    templates = list[tuple[Word, ...]]()
    if words.skip("<"):
        templates = _separated(words, ">")
    words.expect("(")
    arguments = _separated(words, ")")
    comment = words.next.comment
    words.expect(";")
    if function == "save_layer_output":  # of the simulation, which then writes down what a layer gives
        return
    found.calls.append(Call(function, tuple(templates), tuple(arguments), line, comment))


def _separated(words: Words, end: str) -> list[tuple[Word, ...]]:
    """The words between commas, up to the closing bracket."""
    found, now, opened = list[tuple[Word, ...]](), list[Word](), 0
    while opened or not words.has(end):
        word = words.take()
        if word.text == "," and not opened:
            found.append(tuple(now))
            now = []
            continue
        opened += (word.text in ("<", "(", "[", "{")) - (word.text in (">", ")", "]", "}"))
        now.append(word)
    words.expect(end)
    found.append(tuple(now))
    return found
