"""What goes into a project and what comes out of it: the parameters of its function.

A parameter that no call gives is an input, and one that a call gives an output. The inputs are one vector, one behind
the other in the order of the function, and of several outputs one is chosen by its name, as with files of ONNX. An
input that the output does not need is left out. All calls are read, whichever output is chosen: a layer takes what is
in a stream also where nothing asks for what it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import NoReturn

import numpy as np

from eqspec.errors import CHOOSE_OUTPUT, NetworkError, OutputChoiceError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.builder import Builder, Refuse, Value
from eqspec.networks.firmware.calls import Array, Call, Function
from eqspec.networks.firmware.declarations import ArrayOf, Declarations
from eqspec.networks.firmware.layers import given_by
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.network import Port, places_of
from eqspec.networks.program import INPUTS, Step


@dataclass(frozen=True)
class Ends:
    """The inputs in the order of the function, how many numbers each has, the output that is read, and all outputs."""

    inputs: tuple[Array, ...]
    sizes: tuple[int, ...]
    output: Array
    outputs: tuple[Array, ...]


def find(function: Function, declared: Declarations, output: str | None) -> Ends:
    """The inputs, and the output of this name or the only one. Raises NetworkError, also an OutputChoiceError."""
    makers = dict[str, Call]()
    for call in function.calls:
        for place in given_by(call.function, len(call.arguments), len(call.templates)):
            argument = call.arguments[place] if place < len(call.arguments) else ()
            if len(argument) == 1:
                makers[function.same.get(argument[0].text, argument[0].text)] = call
    inputs = tuple(array for array in function.parameters if array.name not in makers)
    outputs = tuple(array for array in function.parameters if array.name in makers)
    for what, found in (("inputs", inputs), ("outputs", outputs)):
        if not found:
            message = f"line {function.parameters[0].line}: {function.name} has no {what}"
            raise NetworkError(function.path, message, fix="write the project again with hls4ml")
    sizes = tuple(_input_size(function, declared, array) for array in inputs)
    if sum(sizes) > MAX_NEURONS:
        message = f"line {inputs[0].line}: {function.name} has {sum(sizes)} inputs"
        raise NetworkError(function.path, message, fix=f"firmware with 1 to {MAX_NEURONS} inputs is read")
    return Ends(inputs, sizes, _chosen(function, outputs, makers, output), outputs)


def _chosen(function: Function, outputs: Sequence[Array], makers: dict[str, Call], output: str | None) -> Array:
    """The output of this name, or the only one."""
    if output is None and len(outputs) == 1:
        return outputs[0]
    for array in outputs:
        if array.name == output:
            return array
    layers = ((array.name, makers[array.name].layer) for array in outputs)
    shown = ", ".join(f"{name!r} of {layer}" if layer else repr(name) for name, layer in layers)
    if output is None:
        raise OutputChoiceError(
            function.path, f"{function.name} has {len(outputs)} outputs ({shown})", fix=CHOOSE_OUTPUT
        )
    message = f"{function.name} has no output {output!r}; it gives {shown}"
    raise OutputChoiceError(function.path, message, fix="choose one of them")


def enter(function: Function, ends: Ends) -> tuple[Builder, dict[str, Value]]:
    """A builder that has the inputs, each assigned to its type, and these as the values of their arrays."""

    def refusing(array: Array) -> Refuse:
        def refuse(message: str, fix: str) -> NoReturn:
            raise NetworkError(function.path, f"line {array.line}: {array.name}: {message}", fix=fix)

        return refuse

    builder, values, begin = Builder(sum(ends.sizes), refusing(ends.inputs[0])), dict[str, Value](), 0
    for array, size in zip(ends.inputs, ends.sizes, strict=True):
        builder.refuse = refusing(array)
        of = array.type.of if isinstance(array.type, ArrayOf) else array.type
        values[array.name] = builder.entered(of, f"{array.name}.input_t", np.arange(begin, begin + size))
        begin += size
    return builder, values


def ports(ends: Ends) -> tuple[Port, ...]:
    """The inputs with their places in the vector of all of them."""
    return tuple(Port(array.name, (size,), size) for array, size in zip(ends.inputs, ends.sizes, strict=True))


def notes(ends: Ends, read: Sequence[Port]) -> Iterator[str]:
    """What a user should know of the inputs, of which these are read, and of the outputs."""
    if len(read) > 1:
        yield f"the inputs are one vector: {places_of(read)}"
    there = {port.name for port in read}
    for array in ends.inputs:
        if array.name not in there:
            yield f"input {array.name!r} does not reach the output, and is left out"
    others = [repr(array.name) for array in ends.outputs if array is not ends.output]
    if others:
        yield f"output {ends.output.name!r} is read; {', '.join(others)} left alone"


def without_unread(steps: tuple[Step, ...], inputs: Sequence[Port]) -> tuple[tuple[Step, ...], tuple[Port, ...]]:
    """The steps of the inputs that they need alone, and these inputs."""
    size = sum(port.size for port in inputs)
    read = np.zeros(size, bool)
    for step in steps:
        for term in step.terms:
            if term.source == INPUTS:
                read[term.tile.index[term.tile.index >= 0]] = True
    kept, rows, begin = list[Port](), np.full(size, -1), 0
    for port in inputs:
        if read[begin : begin + port.size].any():
            rows[begin : begin + port.size] = np.arange(port.size) + sum(one.size for one in kept)
            kept.append(port)
        begin += port.size
    if not kept or len(kept) == len(inputs):
        return steps, tuple(inputs)
    moved = np.append(rows, -1).astype(np.int32)  # an index of -1, which stands for no entry, finds the last one
    made = []
    for step in steps:
        terms = (
            replace(term, tile=replace(term.tile, index=moved[term.tile.index])) if term.source == INPUTS else term
            for term in step.terms
        )
        made.append(replace(step, terms=tuple(terms)))
    return tuple(made), tuple(kept)


def _input_size(function: Function, declared: Declarations, given: Array) -> int:
    """How many numbers an input has: declared of an array, else what the layer says that reads the stream."""
    size = given.size
    if size is None:
        for call in function.calls:
            names = [argument[0].text for argument in call.arguments if len(argument) == 1]
            if given.name in names:
                size = _size_read(declared, call, names.index(given.name))
                break
    if size is None or not 1 <= size <= MAX_NEURONS:
        shown = "an unknown number of" if size is None else str(size)
        fix = f"firmware with 1 to {MAX_NEURONS} inputs is read"
        raise NetworkError(function.path, f"line {given.line}: {given.name} has {shown} entries", fix=fix)
    return size


_SIZES = (
    ("n_in", "n_filt"), ("in_height", "in_width", "n_filt"), ("in_height", "in_width", "n_chan"),
    ("in_width", "n_chan"), ("n_in",), ("height", "width", "n_chan"), ("n_elem",), ("n_elem1",), ("N",),
)  # fmt: skip
"""Members of configurations whose product is how many numbers a layer reads; the first that are there."""


def _size_read(declared: Declarations, call: Call, place: int) -> int | None:
    """How many numbers a call reads of a stream, None where that is not known."""
    last = call.templates[-1] if call.templates else ()
    configuration = declared.configurations.get(last[0].text) if last else None
    if configuration is None:
        return int(last[0].text) if len(last) == 1 and last[0].text.isdecimal() else None
    if configuration.base == "concat_config":
        rank = int(call.function.removeprefix("concatenate")[:1] or 1)
        members: tuple[str, ...] = tuple(f"n_elem{place + 1}_{axis}" for axis in range(rank))
    else:
        pools = configuration.base.startswith("pooling")
        found = [
            names
            for names in _SIZES
            if all(name in configuration.members for name in names) and (pools or "n_filt" not in names)
        ]
        if not found:
            return None
        members = found[0]
    return prod(declared.member_number(configuration, name) for name in members)
