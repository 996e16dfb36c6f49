"""Networks from networks: an affine map in front of the inputs, the outputs turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from eqspec.errors import InputError, NetworkError
from eqspec.networks import enclosure as en
from eqspec.networks.enclosure import Enclosure
from eqspec.networks.exact import IntegerStep
from eqspec.networks.exact_vectors import Vector
from eqspec.networks.names import Name, define, elementwise, of_floats, of_rows
from eqspec.networks.network import LargestIntermediate, Network
from eqspec.networks.program import INPUTS, NONE, Step, Term, Tile, renumbered


def compose_affine(network: Network, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Network:
    """The network x -> network(scale * x + shift), elementwise; what is rounded goes into the errors of weights.

    Steps that read the inputs take the scale into their weights. Where a tile reads inputs of different scales with
    one weight, a step in front of all others scales and shifts them instead.

    Raises InputError where scale or shift have another length than the inputs, NetworkError where the weights leave the
    range of float64.
    """
    for name, numbers in (("scale", scale), ("shift", shift)):
        if len(numbers) != network.input_size:
            raise InputError(
                f"{name}: {len(numbers)} numbers given, {network.input_size} are accepted by {network.source}"
            )
    if all(s == 1 for s in scale) and not any(shift):
        return network
    reading = [term.tile for step in network.steps for term in step.terms if term.source == INPUTS]
    largest = network.largest_intermediates
    try:
        if all(_per_tap(tile, scale) is not None for tile in reading):
            named = network.arithmetic != "float32"
            steps = [_composed(step, scale, shift, named=named and network.is_chain) for step in network.steps]
            casts = network.casts
        else:
            place = {number: number + 1 for number in range(INPUTS, len(network.steps))}
            steps = [_in_front(scale, shift), *(renumbered(step, place) for step in network.steps)]
            casts = tuple(replace(cast, step=place[cast.step]) for cast in network.casts)
            if largest:  # the new step is the normalisation, of which no runtime computes anything
                largest = (LargestIntermediate(np.zeros(len(scale)), 0.0), *largest)
    except OverflowError as error:
        fix = "check the normalisation: its numbers are too large for these weights"
        raise NetworkError(
            network.source, "the first layer leaves the range of float64 when the normalisation is folded in", fix=fix
        ) from error
    return replace(network, steps=tuple(steps), casts=casts, largest_intermediates=largest)


def _per_tap(tile: Tile, scale: Sequence[Fraction]) -> list[Fraction] | None:
    """The scale of what each tap reads, (G K) in order; None where a tap reads inputs of several scales."""
    known: dict[Fraction, int] = {}
    number = np.array([known.setdefault(s, len(known)) for s in scale] + [-1])
    read = number[tile.index]  # (G, P, K), -1 where nothing is read
    largest = read.max(axis=1)
    if ((read != largest[:, None]) & (tile.index != NONE)).any():
        return None
    factors = [*known, Fraction(1)]
    return [factors[n] for n in largest.ravel().tolist()]


def _composed(step: Step, scale: Sequence[Fraction], shift: Sequence[Fraction], *, named: bool) -> Step:
    """A step that takes scale and shift of the inputs into its weights and bias."""
    given = tuple(term for term in step.terms if term.source == INPUTS)
    if not given:
        return step
    bias = _shifted_bias(replace(step, terms=given), shift)
    terms = []
    for term in step.terms:
        factors = _per_tap(term.tile, scale) if term.source == INPUTS else None
        if factors is None:
            terms.append(term)
            continue
        tile = term.tile
        by_tap = en.from_fractions(factors).rearranged(lambda a, t=tile: a.reshape(t.groups, 1, t.taps))  # type: ignore[misc]
        weight = en.multiply(Enclosure(tile.weight, tile.weight_error), by_tap)
        terms.append(Term(INPUTS, Tile(tile.index, np.ascontiguousarray(weight.value), weight.error)))
    names = _composed_names(step, scale, shift) if named else None
    return Step(tuple(terms), bias.value, bias.error, step.function, names)


def _in_front(scale: Sequence[Fraction], shift: Sequence[Fraction]) -> Step:
    """The step that scales and shifts every input by itself."""
    weight, bias = en.from_fractions(list(scale)), en.from_fractions(list(shift))
    index = np.arange(len(scale), dtype=np.int32).reshape(-1, 1, 1)
    weight = weight.rearranged(lambda a: a.reshape(-1, 1, 1))
    return Step((Term(INPUTS, Tile(index, weight.value, weight.error)),), bias.value, bias.error, "identity")


def _composed_names(step: Step, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> tuple[Name, ...]:
    """Each row's function of x is given by its function of scale x + shift, and by these exact numbers."""
    exact_rows = names_of_rows(step)
    numbers = ";".join(f"{Fraction(s)},{Fraction(t)}" for s, t in zip(scale, shift, strict=True)).encode()
    given = define("normalisation", numbers)
    return tuple(define("composed", name, given) for name in exact_rows)


def names_of_rows(step: Step) -> tuple[Name, ...]:
    """What each row of a dense step is, with its entry of the bias: its name, or its numbers where they are exact."""
    (term,) = step.terms
    weight, error = term.tile.weight[0], term.tile.weight_error
    inexact = np.zeros(step.rows, bool)
    if error is not None:
        inexact |= error[0].any(axis=1)
    if step.bias_error is not None:
        inexact |= step.bias_error > 0
    stored = elementwise("row", step.bias.shape, of_rows(weight), of_floats(step.bias))
    known = step.names or (None,) * step.rows
    numbers = known if stored is None else stored.tolist()
    return tuple(name if off else number for name, number, off in zip(known, numbers, inexact.tolist(), strict=True))


def _shifted_bias(step: Step, shift: Sequence[Fraction]) -> Enclosure:
    """weight shift + bias, exactly as rationals, then rounded once; the weights' errors act on |shift|."""
    point = Vector.of([Fraction(t) for t in shift])
    whole = IntegerStep(step).sums([point] * len(step.terms), point.denominator)
    return en.from_intervals(whole.fractions())


def negate_outputs(network: Network) -> Network:
    """The network x -> -network(x), exact."""
    *before, last = network.steps
    names = None if last.names is None else tuple(define("negate", name) for name in last.names)
    terms = tuple(Term(t.source, Tile(t.tile.index, -t.tile.weight, t.tile.weight_error)) for t in last.terms)
    turned = replace(last, terms=terms, bias=-last.bias, names=names)
    return replace(network, steps=(*before, turned))
