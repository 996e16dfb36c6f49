"""An If whose condition is constant is the branch that it takes.

Exporters write one where they did not know a size: whether an axis has one entry, and so can be squeezed. The nodes of
the branch stand in place of the If then. Names inside of a branch are its own: another If may use them again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import NodeProto, helper

from eqspec.networks.onnx_tensor import UnreadableError
from eqspec.networks.operators.operator_call import Value
from eqspec.networks.readers.onnx_bodies import AGAIN, body_of, own_names, written_out


def taken(node: NodeProto, given: Sequence[Value | None], number: int) -> list[NodeProto]:
    """The nodes of the branch that an If takes, which end in its outputs. Raises UnreadableError.

    `number` tells this If from all others that were met.
    """
    condition = given[0] if given else None
    if not isinstance(condition, np.ndarray) or condition.size != 1 or condition.dtype != np.bool_:
        message = "which branch it takes depends on the input, or is not known"
        raise UnreadableError(message, "export the branch that is meant, with fixed sizes")
    name = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    branch = body_of(node, name)
    if len(branch.output) != len(node.output) or branch.input:
        raise UnreadableError(f"{name} does not fit the node", AGAIN)
    new = {old: f"{old}/eqspec branch {number}" for old in own_names(branch)}
    made = written_out(branch, new)
    ends = zip(branch.output, node.output, strict=True)
    return made + [helper.make_node("Identity", [new.get(a.name, a.name)], [b]) for a, b in ends if b]
