"""What a network is, in two lines: how many numbers go in and out, and of what it is made."""

from __future__ import annotations

from eqspec.networks.network import Network
from eqspec.report.numbers import count, plural


def shape_in_words(network: Network) -> str:
    """`16 inputs -> 5 outputs`."""
    return f"{plural(network.input_size, 'input')} -> {plural(network.output_size, 'output')}"


def steps_in_words(network: Network) -> tuple[str, str]:
    """What it is made of, layers or steps, and how many neurons these have."""
    only_relu = all(step.function in ("relu", "identity") for step in network.steps)
    neurons = f"{count(network.neurons)} {'ReLU ' if only_relu else ''}neurons"
    if network.is_chain:
        widths = [network.input_size, *(step.rows for step in network.steps)]
        return "layers", f"{'-'.join(map(str, widths))}, {neurons}"
    return "steps", f"{len(network.steps)}, {neurons}, {count(network.products)} products a point"
