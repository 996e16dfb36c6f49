"""Types of single entries, as models of HGQ have them: functions that hls4ml writes for each model.

    template <typename input_t, typename output_t>
    void q_dense_1_iq(input_t *inp, output_t *out) {
        out[0] = ap_ufixed<7,1,AP_RND,AP_WRAP>(inp[0]);
        out[1] = 0;
    }

They stand in nnet_code_gen.h and are read there, word by word. Each entry is assigned to a type of its own, and then to
that of the array.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqspec.networks.firmware.builder import Builder, Value
from eqspec.networks.firmware.fixed_point_types import FixedPoint, read_type
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import Layer
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.program import Term, Tile

CODE = "firmware/nnet_utils/nnet_code_gen.h"
_HEAD = ("(", "input_t", "*", "inp", ",", "output_t", "*", "out", ")", "{")
Types = dict[str, tuple[FixedPoint | None, ...]]
"""The type of each entry, by the name of the function; None where it gives 0."""


def read_types(words: Words | None) -> Types:
    """The functions of this kind that a file defines. NetworkError where one does something else, or the file names it
    once more: which of two functions C++ would call, it decides by rules of its own.
    """
    found: Types = {}
    lines, others = dict[str, int](), set[str]()
    while words is not None and words.next.text:
        if not words.skip("template", "<", "typename", "input_t", ",", "typename", "output_t", ">", "void"):
            others.add(words.take().text)
            continue
        line, name = words.next.line, words.name("the name of a function")
        words.expect(*_HEAD)
        entries = list[FixedPoint | None]()
        while not words.skip("}"):
            entries.append(_entry(words, str(len(entries))))
        if name in found:
            words.fail(line, f"{name} is defined twice")
        found[name], lines[name] = tuple(entries), line
    for name in found:
        if words is not None and name in others:
            words.fail(lines[name], f"{name} stands elsewhere in this file, too")
    return found


def _entry(words: Words, place: str) -> FixedPoint | None:
    words.expect("out", "[", place, "]", "=")
    if words.skip("0", ";"):
        return None
    line = words.next.line
    of = read_type(words, whole_number)
    if of is None or of.whole:
        words.fail(line, "an entry that is assigned to no ap_fixed or ap_ufixed")
    words.expect("(", "inp", "[", place, "]", ")", ";")
    return of


def whole_number(words: Words) -> int:
    """The whole number of few digits that stands here."""
    sign = -1 if words.skip("-") else 1
    word = words.take()
    if not word.text.isdecimal() or len(word.text) > 4:
        words.refuse("a whole number", word)
    return sign * int(word.text)


def assign(layer: Layer, types: tuple[FixedPoint | None, ...]) -> None:
    """Each entry in its type."""
    layer.check_call(2, 2)
    if layer.word:
        layer.fail("types of single entries are not read of streams", "use io_parallel")
    value = stored(layer, layer.given(len(types)), types)
    layer.gives(value, argument=1, template=1)


def stored(layer: Layer, given: Value, types: tuple[FixedPoint | None, ...]) -> Value:
    """The entries of a value, each in its type, and 0 where there is none."""
    builder = layer.project.builder
    builder.refuse = layer.fail
    parts = list[tuple[Value, NDArray[np.intp]]]()
    for of in dict.fromkeys(of for of in types if of is not None):
        entries = np.array([place for place, one in enumerate(types) if one == of])
        parts.append((builder.assigned(given.taken(entries), of, f"{layer.name} of {len(entries)} entries"), entries))
    return together(builder, parts, len(types))


def together(builder: Builder, parts: list[tuple[Value, NDArray[np.intp]]], size: int) -> Value:
    """The entries of several values at their places, and 0 everywhere else."""
    bits = max([value.lattice.bits for value, _ in parts], default=0)
    least, most, step = ([0] * size for _ in range(3))
    rows: dict[int, NDArray[np.intp]] = {}
    for value, entries in parts:
        rows.setdefault(value.step, np.full(size, -1))[entries] = value.rows
        known = value.lattice.at(bits)
        for numbers, of_part in ((least, known.least), (most, known.most), (step, known.step)):
            for entry, number in zip(entries.tolist(), of_part.tolist(), strict=True):
                numbers[entry] = number
    terms = tuple(Term(source, Tile.rearranged(of_step)) for source, of_step in rows.items())
    made = builder.new(terms, np.zeros(size))
    return Value(made, np.arange(size), Lattice(integers(least), integers(most), integers(step), bits))
