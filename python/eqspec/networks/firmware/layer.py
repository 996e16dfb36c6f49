"""One call of a layer, with what its parts mean: arrays, their types, configuration and weights, each checked.

A call names the types of what it reads and writes, which have to be those of the arrays; its configuration names those
of its weights. Where two of these differ, C++ would convert or not compile, and the reading stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import inf, isfinite
from typing import NoReturn

import numpy as np

from eqspec.lazy_dataclass import dataclass
from eqspec.networks.firmware.builder import Builder, Value
from eqspec.networks.firmware.calls import Array, Call, Definition, Function
from eqspec.networks.firmware.declarations import ArrayOf, Configuration, Declarations, check_members
from eqspec.networks.firmware.fixed_point_types import FixedPoint
from eqspec.networks.firmware.templates import Templates
from eqspec.networks.firmware.tokens import Word, Words
from eqspec.networks.firmware.weights import Weights

SPEED = (
    "io_type", "strategy", "reuse_factor", "n_zeros", "n_nonzeros", "multiplier_limit", "store_weights_in_bram",
    "index_t",
)  # fmt: skip
"""Members of configurations that say how hardware is laid out. (What a strategy computes, its kernel says.)"""


@dataclass
class Project:
    """Everything that was read of a project, while its layers are taken one after the other."""

    declared: Declarations
    function: Function
    weights: dict[str, Weights]
    builder: Builder
    templates: Templates
    values: dict[str, Value]
    taken: set[str] = field(default_factory=set)
    """The streams that a layer has read, and which are empty then."""
    softmaxes: set[str] = field(default_factory=set)
    """The arrays that a Softmax left out would give."""
    adders: dict[str, Definition] = field(default_factory=dict)
    """The functions of adders by their names (`adders`)."""


@dataclass(frozen=True)
class Layer:
    """One call, with what its parts mean."""

    project: Project
    call: Call

    @property
    def name(self) -> str:
        """The name that hls4ml has for the layer; without one, the name of what it gives."""
        if self.call.layer:
            return self.call.layer
        arguments = [words[0].text for words in self.call.arguments if len(words) == 1]
        given = [name for name in arguments if name in self.project.function.arrays]
        return (given[-1] if given else self.call.function).removesuffix("_out")

    def fail(self, message: str, fix: str) -> NoReturn:
        """NetworkError about this call."""
        where = f"{self.name} (nnet::{self.call.function})"
        Words(self.project.function.path, "").fail(self.call.line, f"{where}: {message}", fix)

    def configuration(
        self, base: str, read: Sequence[str], harmless: Sequence[str], name: str | None = None
    ) -> Configuration:
        """Its configuration, or the one of this name, whose members have to be known."""
        name = self.call.templates[-1][0].text if name is None else name
        found = self.project.declared.configurations.get(name)
        if found is None:
            self.fail(f"there is no configuration {name}", "write the project again")
        check_members(found, base, read, harmless)
        return found

    def check_call(self, templates: int, arguments: int) -> None:
        """Whether it is called with so many templates and arguments."""
        found = len(self.call.templates), len(self.call.arguments)
        if found != (templates, arguments) or not all(self.call.templates) or not all(self.call.arguments):
            said = f"{found[0]} templates and {found[1]} arguments, {templates} and {arguments} expected"
            self.fail(said, "write the project again")

    def array(self, argument: tuple[Word, ...], template: tuple[Word, ...]) -> tuple[Array, FixedPoint]:
        """An array with the type of its entries, which the call has to name too."""
        words = Words.of(self.project.function.path, argument)
        name = words.name("the name of an array")
        found = self.project.function.array(words, name, self.call.line)
        said = self.project.declared.type(Words.of(self.project.function.path, template))
        if said != found.type:
            self.fail(f"it is called for another type than {name} has", "write the project again")
        return found, found.type.of if isinstance(found.type, ArrayOf) else found.type

    def given(self, size: int, *, argument: int = 0, template: int = 0) -> Value:
        """The value that it reads, of so many entries."""
        array, _ = self.array(self.call.arguments[argument], self.call.templates[template])
        value = self.project.values.get(array.name)
        if value is None:
            self.fail(f"it reads {array.name}, which nothing has given yet", "write the project again")
        self.take(array)
        self.check_size(array, size)
        if value.size != size:
            self.fail(f"it reads {size} numbers, {array.name} has {value.size}", "write the project again")
        return value

    def take(self, array: Array) -> None:
        """Read an array or a stream. The numbers of a stream are gone then."""
        if array.size is None and array.name in self.project.taken:
            said = f"it reads {array.name}, a stream that has been read already"
            self.fail(said, "copy it with clone_stream, as hls4ml does")
        self.project.taken.add(array.name)

    def gives(
        self, value: Value, *, argument: int, template: int, rectified: bool = False, word: int | None = None
    ) -> None:
        """Assign a value to the array that it writes; `word`: how many numbers a word of it has, if it is a stream
        whose words cannot have any length.
        """
        array, of = self.array(self.call.arguments[argument], self.call.templates[template])
        if word is not None and isinstance(array.type, ArrayOf) and array.type.size != word:
            said = f"a word of {array.name} has {array.type.size} numbers, it writes {word} at a time"
            self.fail(said, "write the project again")
        if array.name in self.project.values:
            self.fail(f"it gives {array.name}, which has been given already", "write the project again")
        self.check_size(array, value.size)
        builder = self.project.builder
        builder.refuse = self.fail
        made = builder.assigned(value, of, f"{self.name}.result_t", rectified=rectified)
        self.project.values[array.name] = made

    @property
    def given_type(self) -> FixedPoint:
        """The type of the entries that it reads."""
        return self.array(self.call.arguments[0], self.call.templates[0])[1]

    @property
    def word(self) -> int:
        """How many entries come at a time: those of a word of the stream that it reads; 0 where it reads an array."""
        return self.words_of(0)

    def words_of(self, place: int) -> int:
        """The same of the argument at this place, whose type is the template at the same place."""
        of = self.array(self.call.arguments[place], self.call.templates[place])[0].type
        return of.size if isinstance(of, ArrayOf) else 0

    def rests_on(self, header: str, *names: str, helpers: Sequence[str] = ()) -> None:
        """Its definitions have to be those of hls4ml: of streams or of arrays, by what it reads."""
        templates = self.project.templates
        if self.word:
            templates.check(f"{header}_stream.h", *names, helpers=helpers)
            templates.check("nnet_types.h", "array")
        else:
            templates.check(f"{header}.h", *names, helpers=helpers)

    def parameter(self) -> tuple[int, FixedPoint]:
        """The number that the call gives as its second argument, as an integer of the type that it names for it."""
        of = self.project.declared.type(Words.of(self.project.function.path, self.call.templates[1]))
        if isinstance(of, ArrayOf):
            self.fail("its parameter is an array", "write the project again")
        return self._stored("".join(word.text for word in self.call.arguments[1]), of), of

    def constant(self, configuration: Configuration, name: str) -> tuple[int, FixedPoint]:
        """A number of its configuration with a type of its own, as an integer of that type."""
        written, of = self.project.declared.member_constant(configuration, name)
        return self._stored(written, of), of

    def _stored(self, written: str, of: FixedPoint) -> int:
        """A number as C++ has it, in a type."""
        try:
            number = float(written)
        except ValueError:
            number = inf
        if not isfinite(number):
            self.fail(f"{written[:40]!r} is not a finite number", "write the project again")
        return int(of.stored(np.array([number]))[0])

    def check_size(self, array: Array, size: int) -> None:
        """Whether an array, or the words of a stream, hold so many numbers."""
        if isinstance(array.type, ArrayOf) and size % array.type.size:
            said = f"{size} numbers are not a multiple of the {array.type.size} in a word of {array.name}"
            self.fail(said, "write the project again")
        if array.size is not None and array.size != size:
            self.fail(
                f"{array.name} has {array.size} entries, its configuration says {size}", "write the project again"
            )

    def weights(self, argument: tuple[Word, ...], of: FixedPoint, size: int) -> Weights:
        """An array of weights, whose type its configuration names too."""
        name = argument[0].text if len(argument) == 1 else ""
        found = self.project.weights.get(name)
        if found is None:
            shown = " ".join(word.text for word in argument)
            self.fail(f"there are no weights {shown!r}", "weights are read from firmware/weights")
        if found.type.same_as != of.same_as:
            self.fail(f"{name} is {found.type.text}, its configuration says {of.text}", "write the project again")
        if len(found.integers) != size:
            self.fail(f"{name} has {len(found.integers)} numbers, {size} are used", "write the project again")
        return found
