"""Layers of two values: add and subtract, exactly, and concatenate1d; each assigned to the result's type."""

from __future__ import annotations

from collections.abc import Callable

from eqspec.networks.firmware.layer import Layer

_SIZES = ("n_elem", "n_elem1", "n_elem2")


def combined(sign: int) -> Callable[[Layer], None]:
    """The sum, or with -1 the difference, of two values of equal size."""

    def read(layer: Layer) -> None:
        _check(layer)
        configuration = layer.configuration("merge_config", _SIZES, ("reuse_factor",))
        members = [name for name in _SIZES if name in configuration.members]
        sizes = {layer.project.declared.member_number(configuration, name) for name in members}
        if len(sizes) != 1:
            layer.fail(f"values of sizes {sorted(sizes)} are not read together", "give both values the same shape")
        (size,) = sizes
        first, second = layer.given(size), layer.given(size, argument=1, template=1)
        layer.project.builder.refuse = layer.fail
        layer.gives(layer.project.builder.combined(first, second, sign), argument=2, template=2)

    return read


def concatenated(layer: Layer) -> None:
    """Two vectors one behind the other."""
    _check(layer)
    configuration = layer.configuration("concat_config", ("n_elem1_0", "n_elem2_0"), _OTHER_AXES)
    sizes = [layer.project.declared.member_number(configuration, name) for name in ("n_elem1_0", "n_elem2_0")]
    first, second = layer.given(sizes[0]), layer.given(sizes[1], argument=1, template=1)
    layer.project.builder.refuse = layer.fail
    layer.gives(layer.project.builder.joined(first, second), argument=2, template=2)


_OTHER_AXES = ("n_elem1_1", "n_elem1_2", "n_elem2_1", "n_elem2_2", "axis", "reuse_factor")


def _check(layer: Layer) -> None:
    layer.check_call(4, 3)
    if layer.word:
        layer.fail("it is not read of streams", "write the project with io_parallel")
    layer.rests_on("nnet_merge", layer.call.function)
