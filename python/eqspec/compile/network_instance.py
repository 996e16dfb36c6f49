"""A network of a spec as a task uses it: its declaration, and the values of its formal parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Dequantised, ScaleAndZero
from eqspec.networks.dequantised import nearest_scale
from eqspec.span import Span
from eqspec.spec import ast, derivations
from eqspec.spec.findings import Fault
from eqspec.spec.integer_ends import integer_ends
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding
from eqspec.spec.values import UNKNOWN, Lookup


@dataclass(frozen=True)
class Instance:
    """A network with values for its formal parameters; one from a file has none."""

    binding: Binding
    values: tuple[Fraction, ...] = ()

    @property
    def name(self) -> str:
        """The network as a spec writes it: float, fpga(12)."""
        inside = ", ".join(map(shown, self.values))
        return f"{self.binding.name}({inside})" if inside else self.binding.name

    @property
    def file(self) -> Binding:
        """The network with a file that it is, or is made of; Fault where there is none."""
        return derivations.source(self.binding)

    @property
    def declaration(self) -> ast.Network:
        """How that file is declared."""
        return cast(ast.Network, self.file.declaration)

    @property
    def place(self) -> Span:
        """What a finding about the network points at: its path, or what it is made of."""
        declared = self.binding.declaration
        return declared.reference.span if isinstance(declared, ast.DerivedNetwork) else self.declaration.path.span

    @property
    def takes_raw(self) -> bool:
        """Whether the file has the normalisation inside."""
        word = self.declaration.takes
        return word is not None and word.text == "raw"

    @property
    def dequantised(self) -> bool:
        """Whether integers at the ends of the file are declared to stand for real numbers."""
        return self.declaration.dequantised is not None

    @property
    def gives(self) -> str | None:
        """What the file is declared to give."""
        word = self.declaration.gives
        return None if word is None else word.text


def dequantised(declaration: ast.Network, lookup: Lookup) -> Dequantised | None:
    """What is declared of integers at the ends of a file, scales as float32 holds them; None where they stay integers.

    Fault where it makes no sense, or is not known.
    """
    if declaration.dequantised is None:
        return None
    said = integer_ends(declaration.dequantised, lookup)
    if said is UNKNOWN:
        raise Fault
    inputs = tuple((name, ScaleAndZero(nearest_scale(scale), zero)) for name, scale, zero in said.inputs)
    output = None if said.output is None else ScaleAndZero(nearest_scale(said.output[0]), said.output[1])
    return Dequantised(inputs, output)
