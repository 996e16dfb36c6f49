"""Names of the outputs from the labels of a table: each output is called like the class that it answers.

Which that is the rows tell, never the alphabet: a class belongs to the output that surely decides more than half of its
rows. Classes that are called 0, 1, 2, ... are left to be counted, as outputs are. Where the rows do not tell, it is
asked for.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import numpy as np

from eqspec.draft.assignment import interval
from eqspec.draft.evidence import Evidence, Labels
from eqspec.draft.named_pair import Pair, identifier
from eqspec.draft.open_question import Answer, Question
from eqspec.draft.space import Inputs
from eqspec.errors import InputError

NONE = "none"
"""The only label that says that the column beside the inputs does not hold the classes of the outputs."""
_COUNTED = "the outputs are only counted; names read better: outputs a, b, ..."


def named(inputs: Inputs, pair: Pair, labels: Labels | None, evidence: Evidence | None) -> tuple[Inputs, str]:
    """The inputs with names for the outputs, and where they come from. A Question where the rows do not tell."""
    if inputs.labels is not None and inputs.labels != (NONE,):
        return _as_said(inputs, pair, inputs.labels, labels)
    if inputs.outputs is not None:
        return inputs, "the names of the outputs were said on the command line (--outputs)."
    if inputs.labels == (NONE,) or labels is None or labels.kind != "classes" or evidence is None:
        return inputs, _COUNTED
    if labels.numbered and _is_counted(labels, evidence, pair):
        return inputs, f"the classes of the table are numbers, and so are the outputs; {_COUNTED}"
    doubtful = evidence.in_doubt()
    if doubtful and labels.numbered:
        return inputs, f"which class of the table belongs to which output the rows do not tell; {_COUNTED}"
    names = _names(labels, evidence, pair)
    if doubtful:
        raise _which_order(labels, evidence, pair, doubtful)
    agreed = f"{evidence.share:.1%} of {evidence.rows} rows"
    return replace(inputs, outputs=names), f"the outputs are called like the classes that they answer, in {agreed}."


def remarks(inputs: Inputs, labels: Labels | None, evidence: Evidence | None) -> list[str]:
    """A warning where the names that were said are those of the classes, but in another order than the rows tell."""
    if labels is None or labels.kind != "classes" or evidence is None or inputs.outputs is None or evidence.in_doubt():
        return []
    calls = {identifier(text): evidence.matching[k] for k, text in enumerate(labels.texts)}
    wrong = [(name, o) for o, name in enumerate(inputs.outputs) if calls.get(identifier(name), o) != o and name != NONE]
    return [
        f"careful: output {o} is called {name} as was said, but rows of {name} are mostly decided by output "
        f"{calls[identifier(name)]}"
        for name, o in wrong[:4]
    ]


def _as_said(inputs: Inputs, pair: Pair, order: tuple[str, ...], labels: Labels | None) -> tuple[Inputs, str]:
    if len(order) != pair.outputs:
        raise InputError(f"--labels has {len(order)} labels for {pair.outputs} outputs; give one for each, or 'none'")
    if labels is not None and labels.kind == "classes" and not set(labels.texts) <= set(order):
        missing = ", ".join(text for text in labels.texts if text not in order)
        raise InputError(f"--labels does not have {missing}, which stand in the table; its labels are {_list(labels)}")
    names = inputs.outputs or tuple(_written(text) for text in order)
    note = "which output belongs to which label was said on the command line (--labels)."
    return replace(inputs, outputs=names), note


def _is_counted(labels: Labels, evidence: Evidence, pair: Pair) -> bool:
    """Whether class k may be output k: nothing else agrees with surely more rows."""
    assert evidence.counts is not None
    numbers = [int(text) for text in labels.texts]
    if max(numbers) >= pair.outputs:
        return False
    agreed = int(evidence.counts[np.arange(len(numbers)), numbers].sum())
    return interval(agreed, evidence.rows)[1] >= evidence.low


def _names(labels: Labels, evidence: Evidence, pair: Pair) -> tuple[str, ...]:
    names = [f"output_{o}" for o in range(pair.outputs)]
    for text, output in zip(labels.texts, evidence.matching, strict=True):
        names[output] = _written(text)
    if len(set(names)) < len(names):
        raise InputError(
            f"the labels {_list(labels)} are not all different as names of the language; give others with --outputs"
        )
    return tuple(names)


def _written(text: str) -> str:
    """The label as a name; a number becomes class_1 or class_minus_1."""
    if not text.removeprefix("-").isdecimal():
        return identifier(text)
    return f"class_minus_{text[1:]}" if text.startswith("-") else f"class_{text}"


def _which_order(labels: Labels, evidence: Evidence, pair: Pair, doubtful: list[int]) -> Question:
    assert evidence.counts is not None
    lines = ["Which output belongs to which class? The rows do not tell it for all of them:"]
    for k in doubtful[:8]:
        total, own = int(evidence.counts[k].sum()), int(evidence.counts[k, evidence.matching[k]])
        lines.append(f"  {labels.texts[k]}: of {total} rows, output {evidence.matching[k]} decides {own}")
    order = [f"output_{o}" for o in range(pair.outputs)]
    for text, output in zip(labels.texts, evidence.matching, strict=True):
        order[output] = text
    answers = [
        Answer("--labels", _joined(order), f"in this order, which {evidence.share:.1%} of the rows agree with"),
        Answer("--labels", NONE, "leave the outputs without names; every claim means the same"),
    ]
    return Question("\n".join(lines), answers)


def _joined(order: Sequence[str]) -> str:
    """Labels as the option takes them: those with commas in quotes."""
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(order)
    return line.getvalue()


def _list(labels: Labels) -> str:
    return ", ".join(labels.texts[:12]) + (", ..." if len(labels.texts) > 12 else "")
