"""Everything that was seen of a pair, as data."""

from __future__ import annotations

import shlex

from eqspec.differences.layers import Layers
from eqspec.differences.outputs import Outputs
from eqspec.differences.places import Place
from eqspec.differences.worth_claiming import Claims
from eqspec.draft.named_pair import Pair
from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True, repr=False)
class Seen:
    """What was seen of a pair. Nothing in it is proved but what `claims` say is.

    `remarks` say what was found out about the inputs; `words` are the arguments that `eqspec verify` takes for the same
    networks and inputs, without a claim, where there are such files.
    """

    pair: Pair
    place: Place
    outputs: Outputs
    layers: Layers
    claims: Claims
    decides: bool
    remarks: tuple[str, ...]
    words: tuple[str, ...] | None
    seconds: float

    @property
    def same_steps(self) -> bool:
        """Whether both files are the same steps with the same numbers."""
        return all(layer.same for layer in self.layers.steps)

    def commands(self) -> list[str]:
        """The command lines that would prove what is worth claiming; none where the networks are no files."""
        if self.words is None:
            return []
        verify = ["eqspec", "verify", *self.words]
        eps, confidence, margin = self.claims.eps, self.claims.confidence, self.claims.margin
        logits = [] if self.pair.reference.stripped is None and self.pair.candidate.stripped is None else ["--logits"]
        found = [] if eps is None else [[*verify, "--eps", f"{eps:g}", *logits]]
        found += [] if confidence is None else [[*verify, "--confidence", f"{confidence:g}"]]
        found += [] if margin is None else [[*verify, "--margin", f"{margin:g}"]]
        return [shlex.join(words) for words in found]
