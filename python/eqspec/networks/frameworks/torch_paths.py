"""Does the code of a torch module ask for a number that depends on its input, so that it could take another path?

Tracing warns of `if x.sum() > 0` and of `int(x[0])`, but not of everything that hands a number to Python: a tensor as
an index of a list or as the end of a `range`, `torch.is_nonzero`, `torch.equal`, `torch.allclose`. All of these reach
an operator that answers no tensor. Operators are watched while the module answers one input: what shares its memory
with the input depends on it, and whatever an operator makes of such a tensor, or writes into. The first number that is
asked for is asked for on every path.
"""

from __future__ import annotations

import importlib
from typing import Any


def number_asked_for(model: Any, example: Any) -> str | None:
    """The operator that answers the first number which depends on the input; None if only tensors are made of it.

    Of a torch that cannot be watched nothing is said. Raises whatever the module raises at this input.
    """
    try:
        base: Any = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
        leaves: Any = importlib.import_module("torch.utils._pytree").tree_leaves
        tensor: Any = importlib.import_module("torch").Tensor
    except (ImportError, AttributeError):
        return None

    class Watching(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.asked: str | None = None
            self._depending = {_memory(example): example}  # kept, so that no other tensor gets the same memory

        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            answer = operator(*args, **(kwargs or {}))
            given = [leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, tensor)]
            if any(_memory(one) in self._depending for one in given):
                made = leaves(answer)
                if self.asked is None and any(isinstance(one, (bool, int, float, complex)) for one in made):
                    self.asked = str(operator)
                written = given if operator._schema.is_mutable else []
                for one in [*(leaf for leaf in made if isinstance(leaf, tensor)), *written]:
                    self._depending[_memory(one)] = one
            return answer

    with Watching() as watching:
        model(example)
    asked: str | None = watching.asked
    return asked


def _memory(tensor: Any) -> object:
    """What tensors have in common that are views of one another."""
    try:
        return tensor.untyped_storage()._cdata
    except (AttributeError, NotImplementedError, RuntimeError):  # a sparse tensor has none of its own
        return id(tensor)
