"""How two networks differ, from Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eqspec.differences.difference import Difference, difference
from eqspec.differences.places import CUBE, at_rows, place
from eqspec.draft.completed import complete
from eqspec.draft.data import read_data
from eqspec.draft.named_pair import paired
from eqspec.draft.space import Inputs
from eqspec.draft.verified_spec import Where
from eqspec.errors import InputError
from eqspec.networks import Model, as_network

Bound: TypeAlias = float | Sequence[float] | NDArray[np.float64]


def diff(
    reference: Model,
    candidate: Model,
    *,
    data: str | os.PathLike[str] | ArrayLike | None = None,
    lower: Bound | None = None,
    upper: Bound | None = None,
    scaler: str | os.PathLike[str] | None = None,
    normalisation: str | None = None,
    decide: Literal["max", "min"] = "max",
) -> Difference:
    """Show how two networks differ where somebody looks: samples and a short attack, which prove nothing, and a
    claim that is tried for a moment; its `claims` say whether it is proved.

    Args:
        reference: the network that is right: anything that `eqspec.verify` takes.
        candidate: the network that is to behave like it, with as many inputs and outputs.
        data: a table in raw units (the path of a csv, npy or npz file), or an array (N, I) of inputs as the networks
            take them. Without it points are drawn at random.
        lower: the lower end of the box to look at, in raw units: a number for all inputs, or one for each. Without
            `data` it is -1 .. 1.
        upper: the upper end.
        scaler: the file of the scaler that normalises a table, or inputs in the box.
        normalisation: what the networks take of a table, as `eqspec diff --normalisation` has it.
        decide: whether the largest or the smallest score decides.

    Returns:
        What was seen. `print` shows it as a page, `to_json` gives its numbers, `claims` what is worth proving.

    Raises:
        InputError: the networks do not fit together or to the data, or it has to be said what they take.
        NetworkError: a file cannot be read exactly.
    """
    began = perf_counter()
    if decide not in ("max", "min"):
        raise InputError(f"decide = {decide!r}; one of max, min")
    pair = paired(as_network(reference), as_network(candidate))
    where = Where(lower=_typed(lower), upper=_typed(upper))
    table = os.fspath(data) if isinstance(data, str | os.PathLike) else None
    inputs = Inputs(
        scaler=None if scaler is None else os.fspath(scaler),
        data=None if table is None else read_data(table, pair.inputs, outputs=pair.outputs),
        normalisation=normalisation,
        decide=decide,
    )
    known = complete(pair, inputs, to_keep=False)
    if table is None and data is not None:
        if where != Where() or scaler is not None or normalisation is not None:
            raise InputError(
                "data is an array of what the networks take, so lower, upper, scaler and normalisation say nothing "
                "about it; leave them out, or give the table as a file"
            )
        return difference(pair, known, at_rows(pair, known, _rows(data, pair.inputs)), None, began)
    found = place(pair, known, where)
    if not all(isinstance(model, str | os.PathLike) for model in (reference, candidate)):
        return difference(pair, known, found, None, began)
    if table is None and where == Where():
        where = CUBE
    named = {"data": table, "scaler": inputs.scaler, "normalisation": normalisation}
    words = [pair.reference.source, pair.candidate.source]
    words += [word for name, value in named.items() if value is not None for word in (f"--{name}", value)]
    words += [f"--{end}={value}" for end in ("lower", "upper") if (value := getattr(where, end)) is not None]
    words += [] if decide == "max" else ["--decide", decide]
    return difference(pair, known, found, words, began)


def _typed(bound: Bound | None) -> str | None:
    """A bound as it would be typed: each number with all of its digits."""
    if bound is None:
        return None
    numbers = np.atleast_1d(np.asarray(bound, np.float64)).tolist()
    return ",".join(str(int(x)) if x.is_integer() and abs(x) < 2.0**53 else repr(x) for x in numbers)


def _rows(data: object, inputs: int) -> NDArray[np.float64]:
    """The array as rows (N, I), N >= 1. InputError for any other shape or number."""
    try:
        rows: NDArray[np.float64] = np.asarray(data, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"data is neither a path nor an array of numbers: {error}") from None
    if rows.ndim != 2 or rows.shape[1] != inputs or not len(rows):
        raise InputError(f"data has shape {rows.shape}; (N, {inputs}) is accepted, with at least one row")
    if not np.isfinite(rows).all():
        row = int(np.argwhere(~np.isfinite(rows))[0][0])
        raise InputError(f"data: row {row} has a number that is not finite; leave such rows out")
    return rows
