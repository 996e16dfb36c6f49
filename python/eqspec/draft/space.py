"""The space of a pair: names from the header of a table, the normalisation from a file or from the columns.

Units the user writes are raw; `takes` says what the networks take. Without a scaler file the numbers of a zscore are
the mean and the standard deviation of the columns, rounded to a millionth of the latter.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from re import fullmatch
from typing import Literal

import numpy as np

from eqspec.draft import drafted_numbers
from eqspec.draft.data import Data
from eqspec.draft.named_pair import Pair, identifier, path_from, sayable
from eqspec.draft.scaler_file import normalisers_in
from eqspec.draft.scalings import Scaling, standardisation
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Dequantised, Network, ScaleAndZero
from eqspec.spec import ast
from eqspec.spec.vocabulary import SCALER_KEYS

NAME = "inputs"
MOST_LISTED = 40
"""Inputs that are listed by name; more are taken from the header, or only counted."""
Takes = Literal["raw", "normalised"]


@dataclass(frozen=True)
class Inputs:
    """What is known of the inputs: the file of a scaler, a table, what the networks take, names of the outputs.

    `normalisation` names a way to normalise, `labels` the labels of the table in the order of the outputs, as they were
    typed. `scaling` is the way that was found or chosen, where it is neither of those that `takes` tells apart.
    `raw_alone` is the one network that takes raw inputs where the other one takes normalised ones.
    """

    scaler: str | None = None
    data: Data | None = None
    takes: Takes | None = None
    outputs: tuple[str, ...] | None = None
    decide: Literal["max", "min"] = "max"
    normalisation: str | None = None
    labels: tuple[str, ...] | None = None
    scaling: Scaling | None = None
    raw_alone: Literal["reference", "candidate"] | None = None

    @property
    def normalised(self) -> bool:
        """Whether the networks take normalised inputs: as it was said, else if there is a scaler."""
        if self.takes is not None:
            return self.takes == "normalised"
        return self.scaler is not None or self.scaling is not None


@dataclass(frozen=True)
class DraftedSpace:
    """A space and what drafting the rest needs to know about it."""

    node: ast.Space
    features: tuple[str, ...]
    normaliser: str
    takes: ast.Name | None
    raw_alone: Literal["reference", "candidate"] | None = None


def draft_space(pair: Pair, inputs: Inputs, folder: Path, *, sigma: bool) -> DraftedSpace:
    """The space of a pair in a spec that lies in `folder`; with `sigma` its regions are measured in sigma.

    InputError where what is known does not suffice.
    """
    naming, features = _features(pair, inputs.data, folder)
    normaliser, normalise = _normalise(inputs, folder, sigma=sigma)
    clauses: list[ast.SpaceClause] = [naming, *_open_sizes(pair, naming)]
    if normalise is not None:
        clauses.append(normalise)
    clauses.append(_outputs(pair, inputs.outputs))
    if inputs.decide == "min":
        clauses.append(ast.Decide(ast.Name("min")))
    takes = ast.Name("raw") if normalise is not None and not inputs.normalised else None
    return DraftedSpace(ast.Space(ast.Name(NAME), tuple(clauses)), features, normaliser, takes, inputs.raw_alone)


def networks(
    pair: Pair, space: DraftedSpace, folder: Path, *, gives: str | None = None
) -> tuple[ast.Network, ast.Network]:
    """The declarations of both networks; with `gives` they say what their scores are."""
    given = None if gives is None else ast.Name(gives)
    lives_in = ast.QualifiedName((NAME,))

    def declared(name: str, network: Network, called: str) -> ast.Network:
        takes = ast.Name("raw") if space.raw_alone == called else space.takes
        output = None if network.chosen is None else ast.Text(sayable(network.chosen))
        path = ast.Text(path_from(folder, network.source))
        ends = None if network.dequantised is None else _ends(network.dequantised)
        return ast.Network(ast.Name(name), path, lives_in, takes, given, output, ends)

    return (
        declared(pair.reference_name, pair.reference, "reference"),
        declared(pair.candidate_name, pair.candidate, "candidate"),
    )


def _ends(said: Dequantised) -> ast.Dequantised:
    """What integers at the ends of a file stand for, in full: where it came from cannot be told any more."""

    def end(word: str, one: ScaleAndZero, called: str | None = None) -> ast.IntegerEnd:
        zero: ast.Expression | None = ast.Number(str(abs(one.zero))) if one.zero else None
        if zero is not None and one.zero < 0:
            zero = ast.Negation(zero)
        name = None if called is None else ast.Text(sayable(called))
        return ast.IntegerEnd(ast.Name(word), ast.Number(str(np.float32(one.scale))), zero, name)

    several = len(said.inputs) > 1
    inputs = [end("input", one, name if several else None) for name, one in said.inputs]
    return ast.Dequantised((*inputs, *([] if said.output is None else [end("output", said.output)])))


def columns_of(data: Data) -> ast.Range | None:
    """The `columns` clause for a table; None where all are meant."""
    if (data.first, data.last) == (0, data.table.columns - 1):
        return None
    return ast.Range(ast.Number(str(data.first)), ast.Number(str(data.last)))


def _features(pair: Pair, data: Data | None, folder: Path) -> tuple[ast.SpaceClause, tuple[str, ...]]:
    if data is None or data.names is None:
        ports = _ports(pair)
        if ports is not None:
            return ast.Features(tuple(ast.Feature(ast.Name(name), None) for name in ports)), ports
        sizes = _shape(pair)
        return _counted(sizes), tuple(f"x{i}" for i in range(pair.inputs))
    names = tuple(name for name, _ in data.names)
    if len(names) > MOST_LISTED:
        return ast.FeaturesFrom(ast.Text(path_from(folder, data.path)), columns_of(data)), names
    return ast.Features(tuple(ast.Feature(ast.Name(name), _unit(unit)) for name, unit in data.names)), names


def _open_sizes(pair: Pair, naming: ast.SpaceClause) -> list[ast.SpaceClause]:
    """The shape of one sample, where a file leaves sizes open and what names the inputs does not say it."""
    if isinstance(naming, ast.Shape):
        return []
    found = next((network for network in (pair.reference, pair.candidate) if network.fixed), None)
    return [] if found is None or len(found.ports) > 1 else [_counted(_shape(pair))]


def _counted(sizes: tuple[int, ...]) -> ast.Shape:
    return ast.Shape(ast.ListOf(tuple(ast.Number(str(size)) for size in sizes)))


def _ports(pair: Pair) -> tuple[str, ...] | None:
    """Of files with several inputs, names of their entries by input and index; None where they would not tell them."""
    ports = pair.reference.ports
    if len(ports) < 2 or pair.inputs > MOST_LISTED:
        return None
    names = tuple(
        identifier(port.name) if port.size == 1 else f"{identifier(port.name)}_{i}"
        for port in ports
        for i in range(port.size)
    )
    return names if len(set(names)) == len(names) else None


def _shape(pair: Pair) -> tuple[int, ...]:
    """The shape of one sample as the file of the reference declares it, or one that leaves sizes open; or the count."""
    open_sizes = next((network for network in (pair.reference, pair.candidate) if network.fixed), None)
    if open_sizes is not None and len(open_sizes.fixed) == 1:
        shape = open_sizes.fixed[0][1]
        return shape[1:] if len(shape) > 1 and shape[0] == 1 else shape
    sizes = [size for size in pair.reference.input_shape if isinstance(size, int)]
    sizes = sizes[1:] if len(sizes) == len(pair.reference.input_shape) > 1 else sizes
    product = 1
    for size in sizes:
        product *= size
    return tuple(sizes) if sizes and product == pair.inputs else (pair.inputs,)


def _unit(unit: str | None) -> str | None:
    return unit if unit is not None and fullmatch(r'[^\]\s",#][^\]\n",#]*', unit) else None


def _normalise(inputs: Inputs, folder: Path, *, sigma: bool) -> tuple[str, ast.SpaceClause | None]:
    if inputs.scaler is not None:
        kind = _kind(inputs.scaler) if inputs.scaling is None else inputs.scaling.normaliser
        if sigma and kind != "zscore":
            raise InputError(f"sigma needs a mean and a std; {inputs.scaler} holds the numbers of {kind}")
        return kind, ast.NormaliseFrom(ast.Name(kind), ast.Text(path_from(folder, inputs.scaler)))
    if inputs.scaling is not None:
        if sigma:
            how = f"the networks take {inputs.scaling.words}"
            raise InputError(f"sigma needs a mean and a std, but {how}; give --lower and --upper instead")
        return inputs.scaling.normaliser, _inline(
            inputs.scaling.normaliser, inputs.scaling.first, inputs.scaling.second
        )
    if inputs.data is None:
        if sigma:
            raise InputError("sigma needs a mean and a std: give --scaler FILE, or --data FILE to take them from")
        if inputs.takes == "normalised":
            raise InputError("normalised by what? give --scaler FILE, or --data FILE to take mean and std from")
        return "none", None
    if not sigma and not inputs.normalised:
        return "none", None
    return "zscore", _inline("zscore", *standardisation(inputs.data))


def _kind(scaler: str) -> str:
    """The one normaliser of a file."""
    kinds = normalisers_in(scaler)
    if len(kinds) > 1:
        raise InputError(f"{scaler} has mean and std as well as low and high; keep those that the networks take")
    return kinds[0]


def _inline(kind: str, first: tuple[Fraction, ...], second: tuple[Fraction, ...]) -> ast.Normalise:
    """The numbers in the spec: one for all where they are the same, as for images."""
    keys = SCALER_KEYS[kind]
    settings = (ast.Setting(ast.Name(key), _listed(row)) for key, row in zip(keys, (first, second), strict=True))
    return ast.Normalise(ast.Name(kind), tuple(settings))


def _listed(row: tuple[Fraction, ...]) -> ast.Expression:
    if len(row) > 1 and len(set(row)) == 1:
        return drafted_numbers.exactly(row[0])
    return ast.ListOf(tuple(map(drafted_numbers.exactly, row)))


def _outputs(pair: Pair, names: tuple[str, ...] | None) -> ast.Outputs:
    if names is None:
        return ast.Outputs((), ast.Number(str(pair.outputs)))
    if len(names) != pair.outputs:
        raise InputError(f"{len(names)} names for {pair.outputs} outputs: {', '.join(names)}")
    found = tuple(identifier(name) for name in names)
    if len(set(found)) < len(found):
        raise InputError(f"two outputs have one name: {', '.join(found)}")
    return ast.Outputs(tuple(ast.Feature(ast.Name(name)) for name in found))
