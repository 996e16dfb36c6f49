"""Streams as terms of Coq: `python3 tiny_in_coq.py tiny/*.stream > Tiny.v`.

Every one becomes a lemma that `check` accepts it, and one that it does not without the last record. Both are calculated
inside Coq, without extraction, once each: by Qed, which checks the cast. This needs Python's standard library alone.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path


def words(data: bytes) -> tuple[Iterator[str], Iterator[str], Iterator[str]]:
    """Those of the pair, of the question and of the records."""
    parts = []
    for _ in range(2):
        line, data = data.split(b"\n", 1)
        size = int(line.split()[2])
        parts.append(iter(data[:size].decode().split()))
        data = data[size:]
    return parts[0], parts[1], iter(data.decode().split())


def several(count: int, one: Callable[[], str]) -> str:
    """A list of Coq."""
    return "[" + "; ".join(one() for _ in range(count)) + "]"


class Terms:
    """Terms of one stream."""

    def __init__(self, source: Iterator[str]) -> None:
        self.source = source

    def z(self) -> str:
        """An integer."""
        return f"({int(next(self.source))})%Z"

    def count(self) -> int:
        """A number of things that follow."""
        return int(next(self.source))

    def nat(self) -> str:
        """An index."""
        return f"{self.count()}%nat"

    def positive(self) -> str:
        """A positive integer."""
        return f"{self.count()}%positive"

    def zs(self) -> str:
        """A row."""
        return several(self.count(), self.z)

    def row(self) -> str:
        """Runs of weights: *K stands for K zeros in front of one."""
        runs = list[tuple[int, list[str]]]()
        for word in (next(self.source) for _ in range(self.count())):
            if word.startswith("*") or not runs:
                runs.append((int(word[1:]) if word.startswith("*") else 0, []))
            if not word.startswith("*"):
                runs[-1][1].append(f"({int(word)})%Z")
        return "[" + "; ".join(f"({zeros}%nat, [{'; '.join(weights)}])" for zeros, weights in runs) + "]"

    def bias(self) -> list[str]:
        """A bias, and what is unknown of the row and of itself, if anything is."""
        return next(self.source).split("~")

    def rat(self) -> str:
        """A rational number."""
        return f"({self.z()}, {self.positive()})"

    def flag(self) -> str:
        """0 or 1."""
        return {"0": "false", "1": "true"}[next(self.source)]

    def kind(self) -> str:
        """x, y or d."""
        return "K" + next(self.source).upper()

    def function(self) -> str:
        """A piecewise linear function, or a quantiser."""
        first = next(self.source)
        if first in ("levels", "wrapping"):
            numbers = f"{self.positive()} {self.z()} {self.z()} {self.z()}"
            rounding, wraps = next(self.source).title().replace("-", ""), str(first == "wrapping").lower()
            return f"(Levels (Grid {numbers} {rounding} {wraps}))"
        if first == "sigmoid":
            numbers, astray = f"{self.positive()} {self.positive()} {self.z()}", self.z()
            return f"(Smooth (Logistic {numbers} {self.bent(next(self.source))} {astray}))"
        return f"(Bent {self.bent(first)})"

    def bent(self, base: str) -> str:
        """A piecewise linear function."""
        shift, kinks = self.z(), several(self.count(), lambda: f"({self.z()}, {self.z()})")
        return f"(Fn ({int(base)})%Z {shift} {kinks})"

    def neuron(self, functions: list[str]) -> str:
        """A neuron."""
        which, _, another = next(self.source).partition("/")
        other = f"(Some {functions[int(another)]})" if another else "None"
        bias1, row1, bias2, row2 = self.bias(), self.row(), self.bias(), self.row()
        sizes = [word for bias in (bias1, bias2) for word in bias[1:] or ["0", "0"]]
        unknown = "None" if sizes == ["0"] * 4 else f"(Some (Spread {' '.join(f'{int(size)}%N' for size in sizes)}))"
        values = (f"(long_of ({int(bias[0])}))" for bias in (bias1, bias2))
        return f"Neuron {functions[int(which)]} {other} {row1} {next(values)} {row2} {next(values)} {unknown}"

    def layer(self) -> str:
        """A layer."""
        assert next(self.source) == "layer"
        denominator = self.positive()
        functions = [self.function() for _ in range(self.count())]
        return f"Layer {denominator} {several(self.count(), lambda: self.neuron(functions))}"

    def pair(self) -> tuple[int, str]:
        """How many inputs there are, and the layers from the last to the first."""
        assert next(self.source) == "pair"
        inputs, layers = self.count(), self.count()
        return inputs, "[" + "; ".join(reversed([self.layer() for _ in range(layers)])) + "]"

    def group(self) -> str:
        """Classes, each with a weight and a margin."""
        return several(self.count(), lambda: f"({self.nat()}, ({self.z()}, {self.rat()}))")

    def claim(self) -> tuple[str, str]:
        """The constructor of a claim, and what it is given."""
        name = next(self.source)
        if name in ("distance", "manhattan"):
            return name.capitalize(), f"{several(self.count(), self.nat)} {self.rat()}"
        if name == "keeps-first":
            return "KeepsFirst", self.rat()
        if name == "keeps-confident":
            hints = f"{self.rat()} {self.rat()} {self.nat()}"
            return "KeepsConfident", f"{hints} {several(self.count(), self.group)}"
        if name == "fits":
            return "Fits", self.flag()
        return "Inequality", f"{self.zs()} {self.zs()} {self.rat()} {self.flag()}"

    def question(self, inputs: int) -> str:
        """The question about `pair`."""
        assert next(self.source) == "question"
        grain = self.positive()
        assert next(self.source) == "ranges"
        ranges = several(inputs, lambda: f"({self.rat()}, {self.rat()})")
        assert next(self.source) == "inequalities"
        rows = several(self.count(), lambda: f"({self.zs()}, {self.rat()})")
        assert next(self.source) == "claim"
        return f"Question {grain} pair {ranges} {rows} ({' '.join(self.claim())})"

    def hints(self) -> str:
        """Hints of layers."""

        def hint() -> str:
            return f"Hint {self.z()} {self.z()} {self.z()} {self.z()}"

        return several(self.count(), lambda: f"({self.z()}, {several(self.count(), hint)})")

    def record(self, name: str) -> str:
        """A record."""
        given = {
            "I": ("RInput", "nat z"), "C": ("RCut", "nat nat kind z"), "A": ("RAssume", "nat"),
            "B": ("RBound", "nat nat kind flag z hints"), "N": ("RBoundInput", "nat flag z hints"),
            "F": ("RForward", "nat"), "D": ("RDone", ""), "L": ("RLeaf", "hints"), "V": ("RVoid", "nat nat"),
            "E": ("REmpty", "nat"),
        }  # fmt: skip
        constructor, arguments = given[name]
        return " ".join([constructor, *(getattr(self, argument)() for argument in arguments.split())])


def lemma(name: str, data: bytes) -> str:
    """That it is accepted, and that it is not where a record is missing."""
    pair, question, records = map(Terms, words(data))
    inputs, network = pair.pair()
    asked = question.question(inputs)
    proof = ";\n  ".join(records.record(one) for one in records.source)
    return (
        f"Module {name}.\nDefinition pair : net := {network}.\nDefinition question := {asked}.\n"
        f"Definition records := [\n  {proof}].\n"
        "Lemma accepted : check question records = true. Proof. vm_cast_no_check (eq_refl true). Qed.\n"
        "Lemma refused : check question (removelast records) = false. Proof. vm_cast_no_check (eq_refl false). Qed.\n"
        f"Definition proved := check_ok question records accepted.\nEnd {name}.\n"
    )


if __name__ == "__main__":
    print("(** Tiny certificates, checked inside Coq: made by tiny_in_coq.py of the streams in tiny/. *)")
    print("From Coq Require Import ZArith List.")
    print("From Kernel Require Import Functions Smooth Rounding Levels Networks Bounds Relaxation Pulls Trees Claims.")
    print("Import ListNotations.\nOpen Scope Z_scope.\n")
    for path in map(Path, sys.argv[1:]):
        print(lemma("Tiny_" + path.stem.replace("-", "_"), path.read_bytes()))
