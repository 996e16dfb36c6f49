"""An If whose condition is constant is the branch that it takes.

Exporters write one where they did not know a size: whether an axis has one entry, and so can be squeezed. The nodes of
the branch stand in place of the If then. Names inside of a branch are its own: another If may use them again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.readers.onnx_bodies import made_in, written_out

_AGAIN = "export the model again, with fixed sizes"


def taken(node: NodeProto, given: Sequence[Value | None], number: int) -> list[NodeProto]:
    """The nodes of the branch that an If takes, which end in its outputs. Raises UnreadableError.

    `number` tells this If from all others that were met.
    """
    condition = given[0] if given else None
    if not isinstance(condition, np.ndarray) or condition.size != 1:
        message = "which branch it takes depends on the input, or is not known"
        raise UnreadableError(message, "export the branch that is meant, with fixed sizes")
    name = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    branch = next((a.g for a in node.attribute if a.name == name and a.type == AttributeProto.GRAPH), None)
    if branch is None or len(branch.output) != len(node.output) or branch.input or branch.sparse_initializer:
        raise UnreadableError(f"{name} does not fit the node", _AGAIN)
    own = _own(branch)
    new = {old: f"{old}/eqspec branch {number}" for old in own}
    made = written_out(branch, new)
    ends = zip(branch.output, node.output, strict=True)
    return made + [helper.make_node("Identity", [new.get(a.name, a.name)], [b]) for a, b in ends if b]


def _own(branch: GraphProto) -> set[str]:
    """The names that a branch makes, each once. Raises UnreadableError."""
    names = made_in(branch)
    if len(set(names)) < len(names):
        raise UnreadableError("a name of a branch stands for two values", _AGAIN)
    return set(names)
