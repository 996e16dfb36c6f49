"""A network of a spec as a task uses it: its declaration, and the values of its formal parameters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from eqspec.span import Span
from eqspec.spec import ast, derivations
from eqspec.spec.numbers import shown
from eqspec.spec.program import Binding


@dataclass(frozen=True)
class Instance:
    """A network with values for its formal parameters; one from a file has none."""

    binding: Binding
    values: tuple[Fraction, ...] = ()

    @property
    def name(self) -> str:
        """As a spec writes it: float, fpga(12)."""
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
    def gives(self) -> str | None:
        """What the file is declared to give."""
        word = self.declaration.gives
        return None if word is None else word.text
