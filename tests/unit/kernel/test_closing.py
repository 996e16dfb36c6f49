"""Nodes that the kernel's prover closes by bounds of the layer behind, and by the limits of what is to be excluded.

Deep pairs whose weights differ a little, by their seeds: without either of both these claims took splits or were open.
So they were where both networks are nearer than slopes were rounded, whose bits depended on the longest weight.
"""

from __future__ import annotations

from random import Random

import pytest

from eqspec.kernel import find
from eqspec.kernel.binary import ask, stream
from unit.kernel.test_kernel import needs_kernel

INPUTS, WIDTH, DEPTH = 2, 5, 4


def texts(numbers: list[int]) -> str:
    return " ".join(map(str, [len(numbers), *numbers]))


def near_pair(random: Random, outputs: int, parts: int = 16, longer: int = 1) -> str:
    """Four layers of ReLUs, in which the candidate's weights are off by up to half a part, and the same outputs.

    All numbers of a layer are this many times longer than they have to be.
    """
    unit = parts * longer
    said, width = [f"pair {INPUTS} {DEPTH + 1}"], INPUTS
    for _ in range(DEPTH):
        neurons = list[str]()
        for _ in range(WIDTH):
            row = [random.randint(-4, 4) for _ in range(width)]
            bias = random.randint(-2048, 2048) * unit // 16
            other = [unit * a + longer * random.randint(-1, 1) for a in row]
            neurons.append(f"0 {bias} {texts([unit * a for a in row])} {bias} {texts(other)}")
        said.append(f"layer {2 * unit} 1 0 0 1 0 1 {WIDTH} {' '.join(neurons)}")
        width = WIDTH
    rows = [texts([random.randint(-4, 4) for _ in range(width)]) for _ in range(outputs)]
    said.append(f"layer 1 1 1 0 0 {outputs} {' '.join(f'0 0 {row} 0 {row}' for row in rows)} end")
    return " ".join(said)


@needs_kernel
@pytest.mark.parametrize(
    ("seed", "outputs", "claim", "depth"),
    [(232, 1, "distance 1 0 8 1", 0), (295, 1, "distance 1 0 8 1", 0), (29, 3, "keeps-first 8 1", 2)],
)
def test_a_node_is_closed_with_few_splits(seed: int, outputs: int, claim: str, depth: int) -> None:
    question = f"question 4096 ranges -1 1 1 1 -1 1 1 1 inequalities 0 claim {claim} end"
    answer = ask(find(), stream(near_pair(Random(seed), outputs), question, [f"P {depth}"]))
    assert answer.refused is None, answer


@needs_kernel
@pytest.mark.parametrize(("seed", "parts_of_one"), [(3, 64), (29, 64), (232, 128)])
def test_long_weights_leave_slopes_their_bits(seed: int, parts_of_one: int) -> None:
    claim = f"ranges -1 1 1 1 -1 1 1 1 inequalities 0 claim distance 1 0 1 {parts_of_one}"
    pair = near_pair(Random(seed), 1, parts=2**14, longer=2**30)
    answer = ask(find(), stream(pair, f"question {2**26} {claim} end", ["P 0"]))
    assert answer.refused is None, answer


@needs_kernel
def test_rows_may_end_before_their_layer_does() -> None:
    """The last hidden neuron is read by nobody; one difference of weights keeps the networks from agreeing."""
    hidden = " ".join(["0 0 1 1 0 1 1"] * 3)
    pair = f"pair 1 2 layer 1 1 0 0 1 0 1 3 {hidden} layer 16 1 1 0 0 1 0 0 2 16 1 0 2 17 1 end"
    question = "question 4096 ranges -1 1 1 1 inequalities 0 claim distance 1 0 1 10 end"
    answer = ask(find(), stream(pair, question, ["P 2"]))
    assert answer.refused is None, answer
