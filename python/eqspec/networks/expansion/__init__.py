"""Operators that are others put together: written out as these, before a graph is read.

Most are outside of the standard. Each of them is replaced by nodes that compute the same function over the real
numbers, with the numbers of the file as they are; so there is nothing else to trust below. What has no such form is
left as it is, and refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from onnx import AttributeProto, NodeProto, TensorProto

from eqspec.networks.expansion import (
    attention,
    blocks,
    classifiers,
    composed,
    dynamic_quantisation,
    experimental,
    formulas,
    fused,
    fused_by_shape,
    fused_for_devices,
    guarded_branches,
    never_chosen,
    softmax_by_hand,
    support_vectors,
    two_classes,
    wrapped_places,
)
from eqspec.networks.expansion.fused import GELU_DOMAIN
from eqspec.networks.expansion.graph_pieces import Pieces
from eqspec.networks.expansion.in_place import InPlace
from eqspec.networks.onnx_tensor import ExternalData, UnreadableError

__all__ = ["EXPANDED", "GELU_DOMAIN", "IN_PLACE", "UnexpandedError", "expanded"]

_STANDARD = {**composed.EXPANSIONS, **experimental.EXPANSIONS, **formulas.EXPANSIONS}
_EXPANSIONS = {
    **{(domain, name): expand for domain in ("", "ai.onnx") for name, expand in _STANDARD.items()},
    **{("ai.onnx.ml", name): expand for name, expand in classifiers.EXPANSIONS.items()},
    **{("ai.onnx.ml", name): expand for name, expand in support_vectors.EXPANSIONS.items()},
    **{("com.microsoft", name): expand for name, expand in fused.EXPANSIONS.items()},
    **{("com.microsoft", name): expand for name, expand in dynamic_quantisation.EXPANSIONS.items()},
    **{(blocks.DOMAIN, name): expand for name, expand in blocks.EXPANSIONS.items()},
}


IN_PLACE: dict[tuple[str, str], Callable[[InPlace], None]] = {
    ("ai.onnx.ml", "ArrayFeatureExtractor"): classifiers.array_feature_extractor,
    **{(blocks.DOMAIN, name): expand for name, expand in blocks.IN_PLACE.items()},
    **{
        (domain, name): expand
        for domain in ("", "ai.onnx")
        for name, expand in (
            ("Attention", attention.attention),
            ("CenterCropPad", fused_by_shape.center_crop_or_pad),
            ("MeanVarianceNormalization", fused_by_shape.mean_variance_normalization),
            ("RotaryEmbedding", attention.rotary_embedding),
            ("SimplifiedLayerNormalization", fused_by_shape.simplified_layer_normalization),
        )
    },
    **{
        ("com.microsoft", name): expand
        for name, expand in (
            ("Attention", attention.packed_attention),
            ("BiasSoftmax", fused_for_devices.bias_softmax),
            ("CDist", fused_for_devices.distances),
            ("EmbedLayerNormalization", fused_by_shape.embed_layer_normalization),
            ("FusedMatMul", fused_by_shape.fused_matmul),
            ("GroupNorm", fused_for_devices.group_norm),
            ("MultiHeadAttention", attention.multi_head_attention),
            ("RotaryEmbedding", attention.rotary_embedding_of_onnxruntime),
            ("SimplifiedLayerNormalization", fused_by_shape.simplified_layer_normalization),
            ("SkipLayerNormalization", fused_by_shape.skip_layer_normalization),
            ("SkipSimplifiedLayerNormalization", fused_by_shape.skip_layer_normalization),
        )
    },
}
"""Those that are written out while the graph is evaluated, because their form depends on shapes (`in_place`)."""


EXPANDED = frozenset(
    f"{domain}.{name}" if domain not in ("", "ai.onnx") else name for domain, name in (*_EXPANSIONS, *IN_PLACE)
)
"""The operators that are written out, by name with their domain."""


MALFORMED = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


class UnexpandedError(Exception):
    """A node cannot be written out."""

    def __init__(self, node: NodeProto, cause: UnreadableError) -> None:
        self.node, self.cause = node, cause
        super().__init__(str(cause))


def expanded(
    nodes: Sequence[NodeProto],
    tensors: dict[str, TensorProto],
    inputs: Sequence[str],
    output: str,
    opset: int,
    external: ExternalData,
    *,
    as_computed: bool = False,
) -> Pieces:
    """The nodes with what they compute written in standard operators. Raises UnexpandedError.

    With `as_computed` what is another function in float32 stays as the file has it.
    """
    pieces = Pieces(nodes, tensors, inputs, output, opset, external)
    for given in nodes:
        with _fault_of(given):
            node = blocks.passed(pieces, given) if pieces.blocked and given.domain != blocks.DOMAIN else given
            expand = _EXPANSIONS.get((node.domain, node.op_type))
            if expand is None or _has_graphs(node):
                pieces.nodes.append(node)
            else:
                expand(pieces, node)
    if pieces.nodes:
        with _fault_of(pieces.nodes[-1]):
            never_chosen.expand(pieces)
            two_classes.expand(pieces)
            dynamic_quantisation.expand(pieces)
            softmax_by_hand.expand(pieces, as_computed=as_computed)
            wrapped_places.expand(pieces)
            guarded_branches.expand(pieces)
    return pieces


@contextmanager
def _fault_of(node: NodeProto) -> Iterator[None]:
    """Whatever goes wrong is this node's fault: attributes, shapes and constants may be of any kind."""
    try:
        yield
    except UnreadableError as error:
        raise UnexpandedError(node, error) from error
    except MALFORMED as error:
        cause = UnreadableError(f"the node cannot be read ({error})", "export the model again")
        raise UnexpandedError(node, cause) from error


def _has_graphs(node: NodeProto) -> bool:
    return any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute)
