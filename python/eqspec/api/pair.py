"""One pair on one box, without a spec."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eqspec.errors import InputError
from eqspec.networks import Network, read_network
from eqspec.tasks.monitor import Monitor, Progress
from eqspec.tasks.property import Number, Property, exact, validate
from eqspec.tasks.result import Result
from eqspec.tasks.rounding import floats_above, floats_below
from eqspec.tasks.run import Options, Runner
from eqspec.tasks.task import Domain, LinearConstraint, Space, Task

StrPath: TypeAlias = str | os.PathLike[str]
Bounds: TypeAlias = ArrayLike | Sequence[Number]


def verify(
    reference: Network | StrPath,
    candidate: Network | StrPath,
    lower: Bounds,
    upper: Bounds,
    property: Property,  # noqa: A002 - the word of the field
    *,
    constraints: tuple[ArrayLike, ArrayLike] | None = None,
    decide: Literal["max", "min"] = "max",
    timeout: float | None = None,
    threads: int | None = None,
    domain: Domain = "shared",
    lp: bool = True,
    on_progress: Callable[[Progress], bool | None] | None = None,
) -> Result:
    """Decide whether a property holds at every input of a box.

    Args:
        reference: a file (.onnx, .nnet) or a network that was read, with I inputs and O outputs.
        candidate: the same for the network that is to behave like it.
        lower: lower corner of the box, I numbers in the units the networks take. Floats are taken exactly as they are;
            a sequence may also hold Fractions, or text such as "1/3".
        upper: upper corner.
        property: `Epsilon(0.05)`, `Top1()`, `Margin(0.5)`, `Confidence(0.9)` or `Linear(...)`.
        constraints: A (q, I) and b (q,): only inputs with A x <= b count.
        decide: whether the largest or the smallest score decides.
        timeout: seconds; None for no limit.
        threads: None for one per core.
        domain: "shared", or "paper" and "naive" for comparison with the published method.
        lp: whether linear programs may be solved.
        on_progress: called about ten times a second; returning True stops, with what is known by then.

    Returns:
        The result. `equivalent` is a theorem about the real numbers; `different` comes with a `witness` that was
        checked exactly; `unknown` says with `reason` which limit was met.

    Raises:
        InputError: an argument has the wrong shape or an impossible value. NetworkError: a file cannot be read exactly.
        Running out of a budget never raises.
    """
    first, second = _network(reference), _network(candidate)
    for name, one, other in (
        ("inputs", first.input_size, second.input_size),
        ("outputs", first.output_size, second.output_size),
    ):
        if one != other:
            raise InputError(f"{first.source} has {one} {name}, but {second.source} has {other}")
    validate(property, first.output_size)
    if decide not in ("max", "min"):
        raise InputError(f"decide = {decide!r}; one of max, min")
    size = first.input_size
    low, high = _bounds("lower", lower, size), _bounds("upper", upper, size)
    for index, (a, b) in enumerate(zip(low, high, strict=True)):
        if a > b:
            raise InputError(f"lower[{index}] = {float(a)} is above upper[{index}] = {float(b)}; swap the ends")
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
        lower=floats_below(low),
        upper=floats_above(high),
        property=property,
        constraints=_constraints(constraints, size),
    )
    runner = Runner(Options(timeout=timeout, threads=threads, domain=domain, lp=lp))
    return runner.run(task, _Listener(on_progress) if on_progress else None)


class _Listener(Monitor):
    """Hands progress on; an answer of True stops the search as Ctrl-C does."""

    def __init__(self, hear: Callable[[Progress], bool | None]) -> None:
        self._hear = hear

    def progress(self, task: Task, progress: Progress) -> None:  # noqa: ARG002
        if self._hear(progress):
            raise KeyboardInterrupt


def _network(given: Network | StrPath) -> Network:
    return given if isinstance(given, Network) else read_network(os.fspath(given))


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
