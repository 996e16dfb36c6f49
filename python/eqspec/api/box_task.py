"""One pair on one box, given as arrays and properties, made into a task with exact numbers.

Shapes: I inputs, O outputs, q constraints. Floats are taken as the numbers they are, text and Fractions as what they
say; a box is rounded inward to its grid, and outward to floats.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Rational
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eqspec.errors import InputError
from eqspec.networks import Arithmetic, Network, both_of_two_classes, comparison, in_float32, softened
from eqspec.networks.input_order import in_another_order
from eqspec.property import (
    INSTEAD_OF_A_DECISION,
    Comparison,
    Decision,
    Margin,
    Number,
    Property,
    exact,
    validate,
    without_arrays,
)
from eqspec.tasks.directed_rounding import floats_above, floats_below
from eqspec.tasks.lattice import Lattice, Lattices
from eqspec.tasks.score_meaning import ambiguous, beyond_probabilities, ends_in_sigmoid, left_out, logarithm_beside
from eqspec.tasks.task import LinearConstraint, Space, Task

Bounds: TypeAlias = ArrayLike | Number | Sequence[Number]
Corner: TypeAlias = tuple[Fraction, ...]
Grid: TypeAlias = Number | Lattice | Sequence[Number | Lattice | None]
Scores: TypeAlias = Literal["logits", "probabilities"]
Networks: TypeAlias = tuple[Network, Network]


def box_task(
    networks: Networks,
    box: tuple[Bounds, Bounds],
    claim: Property,
    *,
    constraints: tuple[ArrayLike, ArrayLike] | None,
    grid: Grid | None,
    decide: Literal["max", "min"],
    arithmetic: Arithmetic,
    scores: Scores | None,
) -> Task:
    """The task that `eqspec.verify` decides; its documentation describes the arguments and the errors."""
    _check_sizes(networks)
    _mention_order(*networks)
    if isinstance(claim, Decision):
        networks = both_of_two_classes(*networks)
    size, outputs = networks[0].input_size, networks[0].output_size
    claim = without_arrays(claim)
    validate(claim, outputs)
    if isinstance(claim, Decision) and outputs < 2:
        name = type(claim).__name__
        said = f"{name} says nothing of networks with one output, which is always the first; claim an Epsilon"
        raise InputError(f"{said}: {INSTEAD_OF_A_DECISION}")
    _check_scores(claim, networks, scores)
    if decide not in ("max", "min"):
        raise InputError(f"decide = {decide!r}; one of max, min")
    _mention_labels(networks, claim, decide)
    if arithmetic not in ("real", "float32"):
        raise InputError(f"arithmetic = {arithmetic!r}; one of real, float32")
    compared = (in_float32(networks[0]), in_float32(networks[1])) if arithmetic == "float32" else networks
    reference, candidate = compared
    if scores == "probabilities" and isinstance(claim, Margin | Comparison):
        if arithmetic == "float32" and any(network.stripped for network in compared):
            raise InputError("probabilities cannot be compared in float32: no standard says how a Softmax is rounded")
        reference, candidate = softened(reference), softened(candidate)
    _check_labels(
        {"lower": box[0], "upper": box[1], "constraints[0]": constraints[0] if isinstance(constraints, tuple) else None}
    )
    ends = _corners(box, size)
    lattices = _lattices(grid, size)
    low, high = _on_grid(lattices, *ends)
    corners = floats_below(low), floats_above(high)
    for name, corner in zip(("lower", "upper"), corners, strict=True):
        if (beyond := np.flatnonzero(~np.isfinite(corner))).size:
            raise InputError(f"{name}[{beyond[0]}] is beyond the range of floats; give narrower bounds")
    for network in compared:
        comparison(network).within(*corners)
    return Task(
        id="verify",
        check="verify",
        parameters={},
        reference=reference,
        candidate=candidate,
        reference_name="reference",
        candidate_name="candidate",
        reference_takes_raw=False,
        candidate_takes_raw=False,
        space=_numbered_space(size, outputs, decide),
        lower_exact=low,
        upper_exact=high,
        lower=corners[0],
        upper=corners[1],
        property=claim,
        constraints=_constraints(constraints, size),
        lattices=lattices,
    )


def _check_sizes(networks: Networks) -> None:
    first, second = networks
    for name, one, other in (
        ("inputs", first.input_size, second.input_size),
        ("outputs", first.output_size, second.output_size),
    ):
        if one != other:
            raise InputError(f"{first.source} has {one} {name}, but {second.source} has {other}")


def _numbered_space(inputs: int, outputs: int, decide: Literal["max", "min"]) -> Space:
    """A space whose inputs and outputs are named by their numbers, in the units that the networks take."""
    return Space(
        features=tuple(map(str, range(inputs))),
        units=(None,) * inputs,
        outputs=tuple(map(str, range(outputs))),
        centre=(Fraction(0),) * inputs,
        scale=(Fraction(1),) * inputs,
        decide=decide,
    )


def _check_labels(given: Mapping[str, Any]) -> None:
    """InputError where pandas names the same inputs in two orders, of which numbers by their places know nothing."""
    known: dict[str, list[Any]] = {}
    for name, numbers in given.items():
        labels = getattr(numbers, "columns", getattr(numbers, "index", None))
        if labels is None or callable(labels):  # of a list or a tuple it is a method
            continue
        known[name] = list(labels)
        first, order = next(iter(known.items()))
        if known[name] != order and set(known[name]) == set(order):
            raise InputError(f"{name} names the inputs in another order than {first}; bring both into that of the file")


def _corners(box: tuple[Bounds, Bounds], size: int) -> tuple[Corner, Corner]:
    low, high = _bounds("lower", box[0], size), _bounds("upper", box[1], size)
    for index, (a, b) in enumerate(zip(low, high, strict=True)):
        if a > b:
            raise InputError(f"lower[{index}] = {float(a)} is above upper[{index}] = {float(b)}; swap the ends")
    return low, high


def _lattices(grid: Grid | None, size: int) -> Lattices:
    """The grid of each input; empty without any."""
    every = grid if isinstance(grid, Sequence) and not isinstance(grid, str) else [grid] * size
    if len(every) != size:
        raise InputError(f"grid: {len(every)} steps for {size} inputs")
    found: list[Lattice | None] = []
    for index, given in enumerate(every):
        if given is None or isinstance(given, Lattice):
            found.append(given)
            continue
        step = _as_it_is(given, f"grid[{index}]")
        if step <= 0:
            raise InputError(f"grid[{index}] = {given}; a step is above 0, or None for any number")
        found.append(Lattice(Fraction(0), step))
    return tuple(found) if any(found) else ()


def _as_it_is(number: Number, name: str) -> Fraction:
    """A bound as an exact number: a float is taken with all of its binary digits, text as the number it writes."""
    if isinstance(number, float) and isfinite(number):
        return Fraction(number)
    if not isinstance(number, Rational | float | str):
        raise InputError(f"{name} = {number!r}; give a step, a Lattice, or None for any number")
    return exact(number)


def _on_grid(lattices: Lattices, low: Corner, high: Corner) -> tuple[Corner, Corner]:
    """The box rounded inward to its grid. InputError where no point is left."""
    if not lattices:
        return low, high
    ends = [
        (a, b) if grid is None else (grid.at_least(a), grid.at_most(b))
        for grid, a, b in zip(lattices, low, high, strict=True)
    ]
    for index, (a, b) in enumerate(ends):
        if a > b:
            raise InputError(
                f"no grid point in the box: lower[{index}] = {float(low[index])} and upper[{index}] = "
                f"{float(high[index])} lie between {float(b)} and {float(a)}"
            )
    return tuple(a for a, _ in ends), tuple(b for _, b in ends)


def _check_scores(claim: Property, networks: Networks, scores: str | None) -> None:
    """InputError where a claim may be meant about probabilities; only a warning where its size rules that out."""
    if scores not in (None, "logits", "probabilities"):
        raise InputError(f'scores = {scores!r}; "logits", "probabilities", or None')
    sigmoids = {network.source: None for network in networks if scores == "logits" and ends_in_sigmoid(network)}
    if sigmoids:
        cause = f"{' and '.join(sigmoids)} {'end' if len(sigmoids) > 1 else 'ends'} in Sigmoid, which is not left out"
        raise InputError(f'{cause}, so its scores are not logits; give scores="probabilities", or export it without')
    inner = [network for network in networks if scores == "logits" and network.kept_softmax is not None]
    if inner:
        cause = f"{inner[0].source}: {inner[0].kept_softmax} is not left out, so its scores are not logits"
        raise InputError(f"{cause}; leave scores out to compare what the file gives, or export it without what follows")
    if scores == "probabilities" and isinstance(claim, Comparison) and (two := logarithm_beside(networks)) is not None:
        one, other = (networks[number].source for number in two)
        cause = f"{one} gives logarithms of probabilities (LogSoftmax), {other} gives probabilities"
        raise InputError(f'{cause}; give scores="logits", or export both with the same end')
    if scores is not None or not ambiguous(claim, networks):
        return
    found = [f"{network.source} ends in {left_out(network)}" for network in networks if left_out(network) is not None]
    what = f"{' and '.join(dict.fromkeys(found))}: compared are the logits in front of it, not probabilities"
    if not beyond_probabilities(claim, networks):
        raise InputError(f'{what}; give scores="logits" if that is meant, or "probabilities"')
    warnings.warn(f'{what}, which cannot be so far apart; give scores="logits" to say so', UserWarning, stacklevel=4)


def _mention_order(reference: Network, candidate: Network) -> None:
    """Warn where both take or give the same in another order."""
    if (found := in_another_order(candidate, reference)) is not None:
        verb, here, there, why = found
        what = f"the candidate {verb} {here} where the reference {verb} {there}: {why}"
        warnings.warn(f"{what}, compared as one vector; export both in one order", UserWarning, stacklevel=4)


def _mention_labels(networks: Networks, claim: Property, decide: Literal["max", "min"]) -> None:
    """Warn where a file's own label is the place of the other end of its scores."""
    for network in networks:
        if isinstance(claim, Decision) and network.label not in (None, decide):
            what = f"the label that {network.source} gives is by the other end of its scores than decide={decide!r}"
            warnings.warn(f"{what}; give decide={network.label!r} if decisions are meant", UserWarning, stacklevel=4)


def _bounds(name: str, given: Bounds, size: int) -> tuple[Fraction, ...]:
    """The numbers of a corner; one number stands for all of them."""
    single = isinstance(given, Rational | float | Decimal | str | np.generic)
    numbers = tuple(_numbers(name, [given] * size if single else given, 1).tolist())
    if len(numbers) != size:
        raise InputError(f"{name} has {len(numbers)} numbers for networks with {size} inputs")
    return numbers


def _numbers(name: str, given: Any, dimensions: int) -> NDArray[Any]:
    """The numbers of an array or of nested lists as Fractions: what a float is and what a text says, none rounded."""
    if np.ma.is_masked(given):
        raise InputError(f"{name} has masked entries; give a number for each")
    try:
        array = np.array(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # tensors raise the last one
        raise InputError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim != dimensions:
        raise InputError(f"{name} has shape {array.shape}; give {dimensions} dimension{'s' * (dimensions > 1)}")
    found = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        found[place] = _number(name, array[place], place)
    return found


def _number(name: str, value: Any, place: tuple[int, ...]) -> Fraction:
    if isinstance(value, Rational | str | np.bool_):
        return exact(int(value) if isinstance(value, np.bool_) else value)
    if np.iscomplexobj(value):
        raise InputError(f"{name} is not an array of numbers: some are complex")
    try:
        number = value if isinstance(value, float | np.floating | Decimal) else float(value)
        return Fraction(*number.as_integer_ratio())
    except (OverflowError, ValueError) as error:
        where = f"{name}[{', '.join(map(str, place))}]"
        if isinstance(value, float | np.floating | Decimal):
            raise InputError(f"{where} = {value} is not finite; every input needs finite bounds") from None
        raise InputError(f"{where} is not a number: {error}") from None
    except TypeError as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from None


def _constraints(given: tuple[ArrayLike, ArrayLike] | None, size: int) -> tuple[LinearConstraint, ...]:
    if given is None:
        return ()
    try:
        rows, sides = given
    except (TypeError, ValueError):
        raise InputError("constraints are a pair of arrays: A (q, I) and b (q,)") from None
    matrix, bounds = _numbers("constraints[0]", rows, 2), _numbers("constraints[1]", sides, 1)
    if matrix.shape != (len(bounds), size):
        raise InputError(f"constraints have shapes {matrix.shape} and {bounds.shape}; give (q, {size}) and (q,)")
    return tuple(
        LinearConstraint(tuple(row), bound) for row, bound in zip(matrix.tolist(), bounds.tolist(), strict=True)
    )
