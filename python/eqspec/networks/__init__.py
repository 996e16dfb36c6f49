"""Networks: files, and models in memory, to programs of steps; pairs in step; values in floats and exactly.

`program` has the steps, `network` a network with its origin. `readers` and `operators` read files, `frameworks` models
in memory, `firmware` folders of hls4ml and `dais` programs of da4ml, and `deriving` makes quantised networks.
ARCHITECTURE.md lists the files.
"""

from eqspec.networks.agreement import Comparison
from eqspec.networks.align import align
from eqspec.networks.dequantised import Dequantised, ScaleAndZero
from eqspec.networks.float32 import in_float32, overflow
from eqspec.networks.frameworks import Model, as_network
from eqspec.networks.matching import match
from eqspec.networks.network import AffineLayer, Arithmetic, ExactLayer, Network, exact_layers
from eqspec.networks.readers.network_file import (
    both_of_two_classes,
    comparison,
    is_network_folder,
    of_two_classes,
    read_network,
)
from eqspec.networks.readers.onnx_overview import weight_files
from eqspec.networks.sharing import share
from eqspec.networks.softened import softened
from eqspec.networks.transform import compose_affine, negate_outputs
from eqspec.networks.whole_ranges import beyond

__all__ = [
    "AffineLayer",
    "Arithmetic",
    "Comparison",
    "Dequantised",
    "ExactLayer",
    "Model",
    "Network",
    "ScaleAndZero",
    "align",
    "as_network",
    "beyond",
    "both_of_two_classes",
    "comparison",
    "compose_affine",
    "exact_layers",
    "in_float32",
    "is_network_folder",
    "match",
    "negate_outputs",
    "of_two_classes",
    "overflow",
    "read_network",
    "share",
    "softened",
    "weight_files",
]
