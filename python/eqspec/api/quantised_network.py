"""A quantised network from Python, in the words that specs have for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eqspec.compile.derived_networks import format_of
from eqspec.errors import InputError
from eqspec.networks import Model, Network, as_network
from eqspec.networks.derived import derived
from eqspec.spec import ast, derivations, values, vocabulary
from eqspec.spec.derivations import FixedPrecision, FixedType, Precision
from eqspec.spec.findings import Fault
from eqspec.spec.parse import parse_number_type


def quantised(
    reference: Model,
    to: str,
    *,
    per_channel: bool = False,
    calibration: ArrayLike | None = None,
    input: str | None = None,  # noqa: A002 - the word of the language
    weight: str | None = None,
    bias: str | None = None,
    accum: str | None = None,
    result: str | None = None,
) -> Network:
    """A network quantised as a spec says it: `quantised(f, "int8", calibration=rows)`, `quantised(f, "fixed<16, 6>")`.

    Args:
        reference: a network, or whatever `as_network` takes.
        to: "int8" or "int<B>", B from 2 to 16, for integers as ONNX files with QuantizeLinear have them; "fixed<W, I>",
            "ufixed<W, I>", or "fixed<W, I, RND, SAT>" with modes, for fixed point as hls4ml computes it.
        per_channel: of integers, whether each output channel of the weights has a scale of its own.
        calibration: of integers, N typical inputs (N, I) in the units that the network takes.
        input: the fixed-point type of the inputs, if it is another one than `to`.
        weight: that of weights.
        bias: that of biases.
        accum: that of accumulators.
        result: that of what layers and activations give.

    Returns:
        The network, for `verify` and `check`.

    Raises:
        InputError: a type that there is not, or an argument that does not go with it.
        NetworkError: a network that cannot be quantised so, or calibration that does not fit.
    """
    others = {"input": input, "weight": weight, "bias": bias, "accum": accum, "result": result}
    given = {key: _fixed_type(text, key) for key, text in others.items() if text is not None}
    held = _parsed(to, "to")
    if held.word.text not in vocabulary.WORDS["fixed point type"]:
        if given:
            raise InputError(f"{next(iter(given))} is a fixed-point type, and {to!r} is none")
        integers = format_of(_integers(held, per_channel=per_channel))
        if calibration is None:
            raise InputError(f"{to!r} needs calibration=rows: the scales depend on which inputs are typical")
        return derived(as_network(reference), integers, np.asarray(calibration, np.float64))
    if per_channel or calibration is not None:
        name = "per_channel" if per_channel else "calibration"
        raise InputError(f"{name} is for integers, and {to!r} is a fixed-point type")
    precision = FixedPrecision(_fixed_type(to, "to"), tuple(given.items()))
    return derived(as_network(reference), format_of(precision))


def _parsed(text: str, name: str) -> ast.NumberType:
    if not isinstance(text, str):
        raise InputError(f'{name} = {text!r}; give a type, such as "int8" or "fixed<16, 6>"')
    return parse_number_type(text, name)


def _integers(held: ast.NumberType, *, per_channel: bool) -> Precision:
    try:
        found = derivations.integers(held, values.no_names, per_channel=per_channel)
    except Fault as fault:
        raise InputError(_said(fault, "to")) from None
    assert found is not values.UNKNOWN
    return found


def _fixed_type(text: str, name: str) -> FixedType:
    try:
        found = derivations.fixed_type(_parsed(text, name), values.no_names)
    except Fault as fault:
        raise InputError(_said(fault, name)) from None
    assert found is not values.UNKNOWN
    return found


def _said(fault: Fault, name: str) -> str:
    found = fault.diagnostic
    if found is None:
        return f"{name}: this is not a type"
    return f"{name}: {found.message}" + (f"; {found.help}" if found.help else "")
