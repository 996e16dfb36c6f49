"""The space of a pair: names from the header of a table, the normalisation from a file or from the columns.

Units the user writes are raw; `takes` says what the networks take. Without a scaler file the numbers of a zscore are
the mean and the standard deviation of the columns, rounded to a millionth of the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from re import fullmatch
from typing import Literal

from eqspec.compile.scalers import normaliser_of
from eqspec.draft import numbers
from eqspec.draft.data import Data
from eqspec.draft.pair import Pair, identifier, path_from
from eqspec.errors import InputError
from eqspec.spec import ast
from eqspec.spec.findings import Fault

NAME = "inputs"
MOST_LISTED = 40
"""Inputs that are listed by name; more are taken from the header, or only counted."""
Takes = Literal["raw", "normalised"]


@dataclass(frozen=True)
class Inputs:
    """What is known of the inputs: the file of a scaler, a table, what the networks take, names of the outputs."""

    scaler: str | None = None
    data: Data | None = None
    takes: Takes | None = None
    outputs: tuple[str, ...] | None = None
    decide: Literal["max", "min"] = "max"

    @property
    def normalised(self) -> bool:
        """Whether the networks take normalised inputs: as it was said, else if there is a scaler file."""
        return self.scaler is not None if self.takes is None else self.takes == "normalised"


@dataclass(frozen=True)
class DraftedSpace:
    """A space and what drafting the rest needs to know about it."""

    node: ast.Space
    features: tuple[str, ...]
    normaliser: str
    takes: ast.Name | None


def draft_space(pair: Pair, inputs: Inputs, folder: Path, *, sigma: bool) -> DraftedSpace:
    """The space of a pair in a spec that lies in `folder`; with `sigma` its regions are measured in sigma.

    InputError where what is known does not suffice.
    """
    naming, features = _features(pair, inputs.data, folder)
    normaliser, normalise = _normalise(inputs, folder, sigma=sigma)
    clauses: list[ast.SpaceClause] = [naming]
    if normalise is not None:
        clauses.append(normalise)
    clauses.append(_outputs(pair, inputs.outputs))
    if inputs.decide == "min":
        clauses.append(ast.Decide(ast.Name("min")))
    takes = ast.Name("raw") if normalise is not None and not inputs.normalised else None
    return DraftedSpace(ast.Space(ast.Name(NAME), tuple(clauses)), features, normaliser, takes)


def networks(pair: Pair, space: DraftedSpace, folder: Path, *, logits: bool = False) -> tuple[ast.Network, ast.Network]:
    """The declarations of both networks; with `logits` they say that scores are logits."""
    gives = ast.Name("logits") if logits else None
    lives_in = ast.QualifiedName((NAME,))

    def declared(name: str, file: str) -> ast.Network:
        return ast.Network(ast.Name(name), ast.Text(path_from(folder, file)), lives_in, takes=space.takes, gives=gives)

    return (
        declared(pair.reference_name, pair.reference.source),
        declared(pair.candidate_name, pair.candidate.source),
    )


def columns_of(data: Data) -> ast.Range | None:
    """The `columns` clause for a table; None where all are meant."""
    if (data.first, data.last) == (0, data.table.columns - 1):
        return None
    return ast.Range(ast.Number(str(data.first)), ast.Number(str(data.last)))


def _features(pair: Pair, data: Data | None, folder: Path) -> tuple[ast.SpaceClause, tuple[str, ...]]:
    if data is None or data.names is None:
        sizes = _shape(pair)
        counted = ast.Shape(ast.ListOf(tuple(ast.Number(str(size)) for size in sizes)))
        return counted, tuple(f"x{i}" for i in range(pair.inputs))
    names = tuple(name for name, _ in data.names)
    if len(names) > MOST_LISTED:
        return ast.FeaturesFrom(ast.Text(path_from(folder, data.path)), columns_of(data)), names
    return ast.Features(tuple(ast.Feature(ast.Name(name), _unit(unit)) for name, unit in data.names)), names


def _shape(pair: Pair) -> tuple[int, ...]:
    """The shape of one sample as the file of the reference declares it, or the bare count."""
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
        kind = _kind(inputs.scaler)
        if sigma and kind != "zscore":
            raise InputError(f"sigma needs a mean and a std; {inputs.scaler} holds the numbers of {kind}")
        return kind, ast.NormaliseFrom(ast.Name(kind), ast.Text(path_from(folder, inputs.scaler)))
    if inputs.data is None:
        if sigma:
            raise InputError("sigma needs a mean and a std: give --scaler FILE, or --data FILE to take them from")
        if inputs.takes == "normalised":
            raise InputError("normalised by what? give --scaler FILE, or --data FILE to take mean and std from")
        return "none", None
    if not sigma and not inputs.normalised:
        return "none", None
    return "zscore", _standardisation(inputs.data)


def _kind(scaler: str) -> str:
    if not Path(scaler).is_file():
        raise InputError(f"cannot read {scaler}: no such file")
    try:
        kind = normaliser_of(Path(scaler))
    except Fault as fault:
        if fault.diagnostic is None:
            raise
        hint = f"; {fault.diagnostic.help}" if fault.diagnostic.help else ""
        raise InputError(f"{fault.diagnostic.message}{hint}") from None
    if kind is None:
        raise InputError(f"{scaler} has neither mean and std nor low and high; name its numbers like that")
    return kind


def _standardisation(data: Data) -> ast.Normalise:
    """zscore by the columns; a constant one is divided by 1, as scikit-learn does."""
    constant = set(data.constant)
    spread = [1.0 if i in constant else float(s) for i, s in enumerate(data.std)]
    resolution = [s * 1e-6 for s in spread]
    mean = tuple(numbers.measured(float(m), r) for m, r in zip(data.mean, resolution, strict=True))
    std = tuple(numbers.measured(s, r) for s, r in zip(spread, resolution, strict=True))
    settings = (
        ast.Setting(ast.Name("mean"), ast.ListOf(mean)),
        ast.Setting(ast.Name("std"), ast.ListOf(std)),
    )
    return ast.Normalise(ast.Name("zscore"), settings)


def _outputs(pair: Pair, names: tuple[str, ...] | None) -> ast.Outputs:
    if names is None:
        return ast.Outputs((), ast.Number(str(pair.outputs)))
    if len(names) != pair.outputs:
        raise InputError(f"{len(names)} names for {pair.outputs} outputs: {', '.join(names)}")
    found = tuple(identifier(name) for name in names)
    if len(set(found)) < len(found):
        raise InputError(f"two outputs have one name: {', '.join(found)}")
    return ast.Outputs(tuple(ast.Feature(ast.Name(name)) for name in found))
