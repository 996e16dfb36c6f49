"""Nodes that the kernel's prover closes by bounds of the layer behind, and by the limits of what is to be excluded.

Deep pairs whose weights differ a little, by their seeds: without either of both these claims took splits or were open.
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


def near_pair(random: Random, outputs: int) -> str:
    """Four layers of ReLUs, in which the candidate's weights are off by up to 1/32, and the same outputs of both."""
    said, width = [f"pair {INPUTS} {DEPTH + 1}"], INPUTS
    for _ in range(DEPTH):
        neurons = list[str]()
        for _ in range(WIDTH):
            row = [random.randint(-4, 4) for _ in range(width)]
            bias = random.randint(-2048, 2048)
            other = [16 * a + random.randint(-1, 1) for a in row]
            neurons.append(f"0 {bias} {texts([16 * a for a in row])} {bias} {texts(other)}")
        said.append(f"layer 32 1 0 0 1 0 1 {WIDTH} {' '.join(neurons)}")
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
