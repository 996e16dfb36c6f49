"""The configuration of hls4ml for a network in fixed point, for those who deploy it.

hls4ml makes its C++ from the float model and a configuration. The one written here gives types to kinds of
numbers instead of layers, as all layers have the same, so it fits the model under whatever names its layers have. It
says all types that matter; hls4ml infers none. A layer has to hold its bias, as in models of Keras and PyTorch. From
ONNX, hls4ml makes a layer of its own of every bias, which assigns what the layer gives to a type once more.
"""

from __future__ import annotations

from eqspec.networks.deriving.precision import FixedPointFormat
from eqspec.networks.network import Network

_VARIABLES = {"weight": "weights", "bias": "biases", "accum": "accumulators", "result": "results"}
"""What hls4ml calls a kind of numbers, with our role of it."""


def configuration(derived: Network, types: FixedPointFormat) -> str:
    """The configuration of hls4ml for a network in fixed point, as YAML."""
    of = types.roles
    lines = [
        f"# {' '.join(derived.source.rpartition('/')[2].split())}: types for hls4ml, written by eqspec. In Python,",
        "#   config = yaml.safe_load(open(...))['HLSConfig']",
        "#   hls4ml.converters.convert_from_keras_model(model, hls_config=config)",
        "# and the same with convert_from_pytorch_model.",
        "Backend: Vivado",
        "IOType: io_parallel",
        "HLSConfig:",
        "  Model:",
        "    ReuseFactor: 1",
        "    Strategy: Latency",
        "    Precision:",
        f"      default: {types.value.text}",
        *(f"      {variable}: {of[role].text}" for variable, role in _VARIABLES.items()),
        "  LayerType:",
        *(f"    {kind}: {{Precision: {{result: '{of['inputs'].text}'}}}}" for kind in ("Input", "InputLayer")),
    ]
    return "\n".join(lines) + "\n"
