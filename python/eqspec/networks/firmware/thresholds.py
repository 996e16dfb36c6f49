"""Normalisations with a binary or ternary tanh behind them, which hls4ml makes one layer: thresholds for each channel.

normalize_binary_tanh    1 from the threshold on, else 0, in one bit
normalize_ternary_tanh   1 above the upper threshold, -1 up to the lower one, else 0, in two bits
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eqspec.networks.curves import Curve, Curves
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.lattices import Lattice, integers
from eqspec.networks.firmware.layer import SPEED, Layer
from eqspec.networks.firmware.tokens import Words
from eqspec.networks.quantiser import Quantiser, Rounding

_BY_CHANNEL = "( n_filt = = - 1 ) ? n_in : n_filt"
"""How hls4ml says how many thresholds there are."""
_FROM_ZERO = Quantiser(1.0, -1, 0, Rounding.FLOOR, unit=1.0).curve
"""0 from 0 on, else -1."""
_ABOVE_ZERO = Quantiser(1.0, 0, 1, Rounding.CEIL, unit=1.0).curve
"""1 above 0, else 0."""


def binary(layer: Layer) -> None:
    """1 from the threshold on, else 0."""
    given, (threshold,) = _read(layer, 1)
    reached = _passed(layer, given, threshold, _FROM_ZERO, -1)
    one = integers([1] * given.size)
    _gives(layer, layer.project.builder.scaled(reached, one, 0, one, 0), "ap_uint<1>")


def ternary(layer: Layer) -> None:
    """1 above the upper threshold, -1 up to the lower one, else 0."""
    given, (upper, lower) = _read(layer, 2)
    builder = layer.project.builder
    # The upper one is asked first: above it a lower one that is larger does not count.
    passed = [_passed(layer, given, t, _ABOVE_ZERO, 0) for t in (upper, integers(np.minimum(upper, lower)))]
    both = builder.combined(passed[0], passed[1], 1)
    ones = integers([1] * given.size)
    moved = builder.scaled(both, ones, 0, -ones, 0)
    _gives(layer, replace(moved, lattice=Lattice(-ones, ones, ones, 0)), "ap_int<2>")


def _read(layer: Layer, count: int) -> tuple[Value, list[Integers]]:
    """What it reads, and for each entry its thresholds as integers of the type that it reads."""
    layer.check_call(2, 2 + count)
    read = ("n_in", "n_filt", "n_scale_bias")
    configuration = layer.configuration("batchnorm_quantized_tanh_config", read, SPEED)
    layer.rests_on("nnet_batchnorm", layer.call.function)
    size, channels = (layer.project.declared.member_number(configuration, name) for name in read[:2])
    channels = size if channels == -1 else channels
    member = configuration.members.get("n_scale_bias")
    by_channel = member is not None and " ".join(word.text for word in member.words) == _BY_CHANNEL
    stored = channels if by_channel else layer.project.declared.member_number(configuration, "n_scale_bias")
    if channels < 1 or size % channels or stored < channels:
        layer.fail(f"{size} entries of {channels} channels, {stored} thresholds", "write the project again")
    if layer.word % channels or (layer.word and layer.word != stored):
        said = f"a word of its stream has {layer.word} numbers, {stored} thresholds for {channels} channels"
        layer.fail(said, "write the project again")
    weights = [layer.weights(argument, layer.given_type, stored) for argument in layer.call.arguments[2:]]
    of_entry = np.arange(size) % channels
    return layer.given(size), [one.integers[of_entry] for one in weights]


def _passed(layer: Layer, given: Value, threshold: Integers, kind: Curve, least: int) -> Value:
    """A function of each entry less its threshold, which gives one of two numbers, `least` and the next."""
    builder, ones = layer.project.builder, integers([1] * given.size)
    builder.refuse = layer.fail
    moved = builder.scaled(given, ones, 0, -threshold, layer.given_type.bits)
    return builder.function(moved, Curves.all(kind), Lattice(least * ones, (least + 1) * ones, ones, 0))


def _gives(layer: Layer, value: Value, of: str) -> None:
    """Assign what it gives, whose type the function says and no template of the call."""
    path, word = layer.project.function.path, layer.word
    text = f"nnet::array<{of},{word}>" if word else of
    template = tuple(Words(path, f"{text};").until(";"))
    data, configuration = layer.call.templates
    call = replace(layer.call, templates=(data, template, configuration))
    replace(layer, call=call).gives(value, argument=1, template=1, word=word or None)
