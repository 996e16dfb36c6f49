"""Networks: read from files, folded into affine and ReLU layers, aligned in pairs, evaluated in float64 and exactly."""

from eqspec.networks.align import align
from eqspec.networks.network import AffineLayer, Network
from eqspec.networks.read import read_network
from eqspec.networks.transform import compose_affine, negate_outputs

__all__ = ["AffineLayer", "Network", "align", "compose_affine", "negate_outputs", "read_network"]
