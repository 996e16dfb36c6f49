"""One pair on one box, without a spec."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eqspec.api.cache_choice import open_cache
from eqspec.api.cluster_choice import engine_on
from eqspec.api.progress import shown
from eqspec.api.settings import Keywords, options_with
from eqspec.errors import InputError
from eqspec.networks import Arithmetic, Model, Network, as_network, comparison, in_float32, softened
from eqspec.property import Comparison, Margin, Number, Property, exact, validate
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.directed_rounding import floats_above, floats_below
from eqspec.tasks.lattice import Lattice, Lattices
from eqspec.tasks.result import Result
from eqspec.tasks.score_meaning import ambiguous, beyond_probabilities, ends_in_sigmoid, left_out
from eqspec.tasks.task import LinearConstraint, Space, Task

if TYPE_CHECKING:
    from distributed import Client

Bounds: TypeAlias = ArrayLike | Sequence[Number]
Corner: TypeAlias = tuple[Fraction, ...]
Grid: TypeAlias = Number | Lattice | Sequence[Number | Lattice | None]


def verify(
    reference: Model,
    candidate: Model,
    lower: Bounds,
    upper: Bounds,
    property: Property,  # noqa: A002 - the word of the field
    *,
    constraints: tuple[ArrayLike, ArrayLike] | None = None,
    grid: Grid | None = None,
    decide: Literal["max", "min"] = "max",
    arithmetic: Arithmetic = "real",
    scores: Literal["logits", "probabilities"] | None = None,
    on_progress: Callable[[Progress], bool | None] | None = None,
    progress: bool | None = None,
    cache: bool | str | PathLike[str] = False,
    resume: bool = False,
    client: Client | str | None = None,
    options: Options | None = None,
    **settings: Unpack[Keywords],
) -> Result:
    """Decide whether a property holds at every input of a box.

    Args:
        reference: a network with I inputs and O outputs: a path (.onnx, .nnet), an `onnx.ModelProto`, a torch module, a
            Keras model, a scikit-learn MLP, or what `read_network` or `as_network` returned.
        candidate: the same for the network that is to behave like it; it need not be of the same kind.
        lower: lower corner of the box, I numbers in the units the networks take. Floats are taken exactly as they are;
            a sequence may also hold Fractions, or text such as "1/3".
        upper: upper corner.
        property: `Epsilon(0.05)`, `Top1()`, `Margin(0.5)`, `Confidence(0.9)` or `Linear(...)`.
        constraints: A (q, I) and b (q,): only inputs with A x <= b count.
        grid: a step for all inputs, or one for each with None where there is none: only inputs that are whole multiples
            of it count. A `Lattice` in place of a step has another origin than 0. Floats are taken exactly, too.
        decide: whether the largest or the smallest score decides.
        arithmetic: "real", or "float32" for a claim about every float32 runtime, in any order of summation.
        scores: "logits" says that scores are logits: a network that ends in Softmax is compared without it.
            "probabilities" says that a distance, inequality or margin is about what such a network gives. `Epsilon`
            and `Linear` of such a network need one of the two.
        on_progress: called about ten times a second; returning True stops, with what is known by then.
        progress: whether to show what runs. None: in notebooks, unless `on_progress` is told; True: on a terminal, too.
        cache: True, or a folder, to keep the result, and to take one that is kept.
        resume: go on where an earlier search stopped that was interrupted or ran out of time.
        client: a `distributed.Client`, by the workers of whose cluster the search is run; it is neither started nor
            closed here.
        options: how to search, as `eqspec.Options`.
        settings: `timeout`, `threads`, `memory`, `domain`, `lp`, `milp` and `since`, each in place of what
            `options` says.

    Returns:
        The result. `equivalent` is a theorem about the real numbers; `different` comes with a `witness` that was
        checked exactly; `unknown` says with `reason` which limit was met.

    Raises:
        InputError: an argument has the wrong shape or an impossible value, float32 could overflow, or a distance of
            networks that end in Softmax does not say whether it is one of logits.
        NetworkError: a file cannot be read exactly, or onnxruntime answers something else than what was read.

    Running out of a budget never raises.
    """
    first, second = as_network(reference), as_network(candidate)
    for name, one, other in (
        ("inputs", first.input_size, second.input_size),
        ("outputs", first.output_size, second.output_size),
    ):
        if one != other:
            raise InputError(f"{first.source} has {one} {name}, but {second.source} has {other}")
    validate(property, first.output_size)
    _check_scores(property, (first, second), scores)
    if decide not in ("max", "min"):
        raise InputError(f"decide = {decide!r}; one of max, min")
    if arithmetic not in ("real", "float32"):
        raise InputError(f"arithmetic = {arithmetic!r}; one of real, float32")
    if arithmetic == "float32":
        first, second = in_float32(first), in_float32(second)
    compared = (first, second)
    if scores == "probabilities" and isinstance(property, Margin | Comparison):
        if arithmetic == "float32" and any(network.stripped for network in compared):
            raise InputError("probabilities cannot be compared in float32: no standard says how a Softmax is rounded")
        first, second = softened(first), softened(second)
    size = first.input_size
    low, high = _bounds("lower", lower, size), _bounds("upper", upper, size)
    for index, (a, b) in enumerate(zip(low, high, strict=True)):
        if a > b:
            raise InputError(f"lower[{index}] = {float(a)} is above upper[{index}] = {float(b)}; swap the ends")
    lattices = _lattices(grid, size)
    low, high = _on_grid(lattices, low, high)
    corners = floats_below(low), floats_above(high)
    for network in compared:
        comparison(network).within(*corners)
    task = Task(
        id="verify",
        check="verify",
        parameters={},
        reference=first,
        candidate=second,
        reference_name="reference",
        candidate_name="candidate",
        reference_takes_raw=False,
        candidate_takes_raw=False,
        space=Space(
            features=tuple(str(i) for i in range(size)),
            units=(None,) * size,
            outputs=tuple(str(i) for i in range(first.output_size)),
            centre=(Fraction(0),) * size,
            scale=(Fraction(1),) * size,
            decide=decide,
        ),
        lower_exact=low,
        upper_exact=high,
        lower=corners[0],
        upper=corners[1],
        property=property,
        constraints=_constraints(constraints, size),
        lattices=lattices,
    )
    chosen = options_with(options, settings)
    with (
        engine_on(client) as engine,
        shown(progress, 1) if on_progress is None else nullcontext(_Listener(on_progress)) as told,
    ):
        results = open_cache(cache, resume=resume)
        runner = Runner(chosen, results, engine)
        if told is not None:
            told.started(task)
        result = runner.run(task, told)
        if told is not None:
            told.finished(task, result)
        if results is not None:
            results.store.tidy()
        return result


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
    """A number as bounds are read: a float is the number that it is, text what it says."""
    if isinstance(number, float) and isfinite(number):
        return Fraction(number)
    if not isinstance(number, int | float | str | Fraction):
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


def _check_scores(claim: Property, networks: tuple[Network, Network], scores: str | None) -> None:
    """InputError where a claim may be meant of probabilities; a warning where its size shows that it is not."""
    if scores not in (None, "logits", "probabilities"):
        raise InputError(f'scores = {scores!r}; "logits", "probabilities", or None')
    sigmoids = [network.source for network in networks if scores == "logits" and ends_in_sigmoid(network)]
    if sigmoids:
        cause = f"{' and '.join(dict.fromkeys(sigmoids))} ends in Sigmoid, which is not left out"
        raise InputError(f'{cause}, so its scores are no logits; give scores="probabilities", or export it without')
    inner = [network for network in networks if scores == "logits" and network.inner_softmax is not None]
    if inner:
        cause = f"{inner[0].source}: {inner[0].inner_softmax} is not left out, so its scores are no logits"
        raise InputError(f"{cause}; leave scores out to compare what the file gives, or export it without what follows")
    if scores is not None or not ambiguous(claim, networks):
        return
    found = [f"{network.source} ends in {left_out(network)}" for network in networks if left_out(network) is not None]
    what = f"{' and '.join(dict.fromkeys(found))}: compared are the logits in front of it, not probabilities"
    if not beyond_probabilities(claim, networks):
        raise InputError(f'{what}; give scores="logits" if that is meant, or "probabilities"')
    warnings.warn(f'{what}, which cannot be so far apart; give scores="logits" to say so', UserWarning, stacklevel=3)


class _Listener(Monitor):
    """Hands progress on; an answer of True stops the search as Ctrl-C does."""

    def __init__(self, hear: Callable[[Progress], bool | None]) -> None:
        self._hear = hear

    def progress(self, task: Task, progress: Progress) -> None:  # noqa: ARG002
        if self._hear(progress):
            raise KeyboardInterrupt


def _bounds(name: str, given: Bounds, size: int) -> tuple[Fraction, ...]:
    """The numbers of a corner: floats as they are, anything else as the exact number it stands for."""
    values: list[Any] = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if any(isinstance(v, str | Fraction) for v in values):
        numbers = tuple(exact(v) for v in values)
    else:
        numbers = tuple(Fraction(x) for x in _floats(name, given, 1).tolist())
    if len(numbers) != size:
        raise InputError(f"{name} has {len(numbers)} numbers for networks with {size} inputs")
    return numbers


def _floats(name: str, given: object, dimensions: int) -> NDArray[np.float64]:
    if np.iscomplexobj(cast(ArrayLike, given)):
        raise InputError(f"{name} is no array of numbers: some are complex")
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers: {error}") from None
    if array.ndim != dimensions:
        raise InputError(f"{name} has shape {array.shape}; give {dimensions} dimension{'s' * (dimensions > 1)}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = ", ".join(map(str, where))
        raise InputError(f"{name}[{place}] = {array[where]} is not finite; every input needs finite bounds")
    return array


def _constraints(given: tuple[ArrayLike, ArrayLike] | None, size: int) -> tuple[LinearConstraint, ...]:
    if given is None:
        return ()
    try:
        rows, sides = given
    except (TypeError, ValueError):
        raise InputError("constraints are a pair of arrays: A (q, I) and b (q,)") from None
    matrix, bounds = _floats("constraints[0]", rows, 2), _floats("constraints[1]", sides, 1)
    if matrix.shape != (len(bounds), size):
        raise InputError(f"constraints have shapes {matrix.shape} and {bounds.shape}; give (q, {size}) and (q,)")
    return tuple(
        LinearConstraint(tuple(Fraction(a) for a in row), Fraction(bound))
        for row, bound in zip(matrix.tolist(), bounds.tolist(), strict=True)
    )
