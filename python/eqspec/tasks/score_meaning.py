"""What the scores of a claim are. Where a file ends in Softmax or LogSoftmax, they are the logits in front of it.

For decisions that changes nothing: the order of the probabilities is that of the logits, and a confidence is the
softmax of the logits. A margin is safe as well. Where the probabilities of f have a gap p_k - p_l >= m, m in [0, 1],
p_k and p_l sum up to at most 1, so p_l <= (1 - m) / 2 and p_k / p_l >= 1 + m / p_l >= (1 + m) / (1 - m): the logits
have a gap of at least ln((1 + m) / (1 - m)) >= 2 m >= m. A proof about logits therefore covers the claim about
probabilities.

For a distance and for a linear inequality it changes the question. Nobody can tell from the claim whether logits or
probabilities are meant, so it has to be said (`gives logits`). One case tells it by itself: if both files end in
Softmax, no distance between what they give is more than 1 in linf, 2 in l1, or the root of 2 in l2, because
probabilities lie between 0 and 1 and sum up to 1. A larger distance is allowed only by somebody who means logits. The
logarithms of probabilities that LogSoftmax gives have no such limit.

A distance can also hold by what the outputs are alone: where all outputs of both files lie between a and b, as those of
a sigmoid lie between 0 and 1, they differ by at most b - a in linf, by n (b - a) in l1 and by the root of n times
(b - a) in l2, n the number of outputs that are compared. A claim of so much says nothing of the two files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from eqspec.networks import Network
from eqspec.networks.curves import Curve, Curves
from eqspec.networks.quantiser import Quantiser
from eqspec.property import Comparison, Epsilon, Margin, Property, exact

_TAILS = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}
_RANGES = {"sigmoid": (0, 1), "tanh": (-1, 1), "softsign": (-1, 1), "erf": (-1, 1)}
"""Between which numbers the values of a function lie, whatever its argument is."""


def left_out(network: Network) -> str | None:
    """The operator at the end of the file if the scores are its argument; None if they are the outputs."""
    return None if network.stripped is None else _TAILS[network.stripped]


def ends_in_sigmoid(network: Network) -> bool:
    """Whether all outputs are those of a sigmoid, which is read as it stands."""
    curves = _at_the_end(network)
    return bool(curves) and all(curve == Curve("sigmoid") for curve in curves)


def ends_in_shares(network: Network) -> bool:
    """Whether all outputs are levels from 0 to 1, as those of a Softmax that a file quantises: they are read as they
    stand.
    """
    curves = _at_the_end(network)
    return bool(curves) and all(map(_is_share, curves))


def _is_share(curve: Curve) -> bool:
    if curve.name != "quantiser":
        return False
    quantiser = Quantiser.of(curve)
    return quantiser.value_of(quantiser.low) >= 0 and quantiser.value_of(quantiser.high) <= 1


def range_of_outputs(networks: Iterable[Network]) -> tuple[Fraction, Fraction] | None:
    """Numbers a <= b between which all outputs of all networks lie at any input whatsoever, by the functions at their
    ends; None where these do not tell.
    """
    ranges = [one for network in networks for one in _ranges(network)]
    known = [one for one in ranges if one is not None]
    if len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _ranges(network: Network) -> list[tuple[Fraction, Fraction] | None]:
    if network.softened == "softmax":
        return [(Fraction(0), Fraction(1))]
    return [_range_of(curve) for curve in _at_the_end(network)] or [None]


def _range_of(curve: Curve) -> tuple[Fraction, Fraction] | None:
    if curve.name == "quantiser":
        quantiser = Quantiser.of(curve)
        return quantiser.value_of(quantiser.low), quantiser.value_of(quantiser.high)
    if curve.name not in _RANGES or curve.parameters:
        return None
    low, high = _RANGES[curve.name]
    return Fraction(low), Fraction(high)


def says_nothing(claim: Property, networks: Sequence[Network]) -> bool:
    """Whether a distance is allowed between any two networks whose outputs lie where those of the given ones do."""
    ends = range_of_outputs(networks) if isinstance(claim, Epsilon) else None
    if ends is None or not isinstance(claim, Epsilon):
        return False
    apart, eps = ends[1] - ends[0], exact(claim.eps)
    compared = networks[0].output_size if claim.outputs is None else len(claim.outputs)
    match claim.norm:
        case "linf":
            return eps >= apart
        case "l1":
            return eps >= compared * apart
        case "l2":
            return eps * eps >= compared * apart * apart


def _at_the_end(network: Network) -> list[Curve]:
    """The functions whose values the outputs are; none where some output is anything else."""
    last = network.steps[-1]
    if isinstance(last.function, Curves):
        return [curve for curve, _ in last.function.groups(last.rows)]
    if last.function != "identity" or len(last.terms) != 1 or last.bias.any() or last.terms[0].source < 0:
        return []
    tile, before = last.terms[0].tile, network.steps[last.terms[0].source]
    of_one = ((tile.weight != 0.0).sum(axis=-1) == 1).all() and (tile.weight.sum(axis=-1) == 1.0).all()
    if not of_one or not (tile.index >= 0).all() or not isinstance(before.function, Curves):
        return []
    return [curve for curve, _ in before.function.taken(tile.index.reshape(-1)).groups(tile.index.size)]


def ambiguous(claim: Property, networks: Iterable[Network]) -> bool:
    """Whether it makes a difference to the claim that some file gives something else than its scores."""
    return isinstance(claim, Comparison) and any(left_out(network) is not None for network in networks)


def beyond_probabilities(claim: Property, networks: Sequence[Network]) -> bool:
    """Whether a distance is larger than any between probabilities, where all files give probabilities."""
    if not isinstance(claim, Epsilon) or any(left_out(network) != "Softmax" for network in networks):
        return False
    most = {"linf": 1, "l1": 2, "l2": 2}[claim.norm]  # for l2, of the square
    eps = exact(claim.eps)
    return (eps * eps if claim.norm == "l2" else eps) > most


def of_claim(claim: Property, networks: Iterable[Network]) -> str:
    """The words about scores to add to a claim, such as that they are logits; empty where nothing has to be said."""
    compared = list(networks)
    if not (isinstance(claim, Margin) or ambiguous(claim, compared)) or all(left_out(n) is None for n in compared):
        return ""
    return ", scores being logits" + (", taken from one file as it gives them" if alone_with_logits(compared) else "")


def alone_with_logits(networks: Sequence[Network]) -> list[int]:
    """Which networks end in no Softmax while what they are compared with does, and is read without it.

    What they give is taken for logits, and nothing tells whether it is.
    """
    without = [number for number, network in enumerate(networks) if left_out(network) is None]
    return without if len(without) < len(networks) else []


def logarithm_beside(networks: Sequence[Network]) -> tuple[int, int] | None:
    """Of files whose outputs are compared: one that gives logarithms of probabilities, and one that gives these."""
    tails = [left_out(network) or ("Sigmoid" if ends_in_sigmoid(network) else "") for network in networks]
    plain = [number for number, tail in enumerate(tails) if tail in ("Softmax", "Sigmoid")]
    return (tails.index("LogSoftmax"), plain[0]) if plain and "LogSoftmax" in tails else None


def of_networks(pairs: Iterable[Iterable[Mapping[str, Any]]]) -> str:
    """A sentence on the scores of pairs of networks, given as results name them; empty where scores are the files'
    outputs.
    """
    found: dict[str, dict[str, None]] = {}
    bare: dict[str, None] = {}
    for pair in pairs:
        records = list(pair)
        for record in records:
            if tail := record.get("left_out"):
                found.setdefault(tail, {})[record["name"]] = None
        if any(record.get("left_out") for record in records):
            bare.update({record["name"]: None for record in records if record.get("left_out", "?") is None})
    parts = [f"{_listed(names)} read without the {tail} at the end" for tail, names in found.items()]
    if bare:
        parts.append(f"{_listed(bare)} compared as given, without a Softmax to leave out")
    return f"scores are logits: {'; '.join(parts)}" if parts else ""


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last} are" if first else f"{last} is"
