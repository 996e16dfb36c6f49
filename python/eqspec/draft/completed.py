"""What was said about the inputs, completed by what the table shows, with a note on the origin of each part.

What the networks take is never guessed: it was said, or the table tells it by the labels that the reference answers, or
it is asked for. A wrong normalisation makes a spec about other inputs than those that were meant, and that spec can be
proved like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eqspec.draft import outputs, scalings
from eqspec.draft.candidate_judged import Judged, judged
from eqspec.draft.data import Data
from eqspec.draft.evidence import ENOUGH, Evidence, Labels, are_quantities, decided, labels_of, weigh
from eqspec.draft.named_pair import Pair
from eqspec.draft.open_question import Answer, Question
from eqspec.draft.scalings import Scaling
from eqspec.draft.space import Inputs
from eqspec.draft.two_classes import TwoClasses, two_classes
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.run.attack_alone import MOST_CLASSES


@dataclass(frozen=True)
class Completed:
    """The inputs, and whether the outputs are classes, with the reason.

    `notes` say where the inputs come from and stand in a spec; `said` is what the user is to see at once. `between`
    are the two classes that a single output decides between, if it does.
    """

    inputs: Inputs
    notes: tuple[str, ...]
    said: tuple[str, ...]
    decides: bool
    why: str
    between: TwoClasses | None = None


def complete(pair: Pair, inputs: Inputs, *, to_keep: bool) -> Completed:
    """Find out what the user left open; raises a Question where the data does not tell.

    For a spec that is `to_keep` the outputs are called like the labels of the table, and without a table it is asked
    about scalers that lie beside the networks; a single question without a table is about the networks' own inputs.
    """
    chosen = _chosen(pair, inputs)
    data = inputs.data
    if data is None:
        found, notes = _without_data(pair, inputs, chosen, look_beside=to_keep)
        return Completed(found, tuple(notes), (), *_decides(pair, found, None))
    labels = labels_of(data, pair.outputs)
    ways, remarks = _ways(pair, data, chosen)
    said = [*data.remarks, *filter(None, [data.left_out()]), *remarks]
    weighed = [] if labels is None else _weighed(pair, data, labels, ways, lowest=inputs.decide == "min")
    if chosen is None:
        found_way = None if labels is None else decided(weighed, labels)
        if found_way is None:
            raise _which_way(pair, data, labels, weighed, ways, said)
        way, origin = found_way.scaling, _origin(pair, found_way, weighed)
    else:
        way, origin = chosen, _chosen_origin(pair, chosen, weighed)
        said += _contradiction(weighed, chosen)
    said += _table(pair, weighed, way)
    evidence = next((e for e in weighed if e.scaling is way or e.scaling.is_like(way, data)), None)
    candidate = Judged()
    if labels is not None and evidence is not None:
        candidate = judged(pair, data, labels, ways, evidence, said=chosen is not None, lowest=inputs.decide == "min")
        candidate = replace(candidate, said=(*_units(pair, evidence), *candidate.said))
    said += candidate.said
    inputs = _both(inputs, way, candidate.takes)
    notes = [_columns(data), *data.remarks, *filter(None, [data.left_out()]), *remarks, origin]
    notes += [*candidate.said, *said_of_constants(data, way)]
    if to_keep or inputs.labels is not None:
        inputs, more = outputs.named(inputs, pair, labels, evidence)
        notes.append(more)
        said += outputs.remarks(inputs, labels, evidence)
    between = two_classes(labels, evidence, lowest=inputs.decide == "min")
    if between is not None:
        said.append(between.words)
        return Completed(inputs, tuple(notes), tuple(said), False, between.words, between)
    return Completed(inputs, tuple(notes), tuple(said), *_decides(pair, inputs, labels))


def _chosen(pair: Pair, inputs: Inputs) -> Scaling | None:
    """The way that was said; None if none was. InputError where it cannot be used."""
    option, data = inputs.normalisation, inputs.data
    if option is not None and (inputs.scaler is not None or inputs.takes is not None):
        raise InputError("--normalisation says what --scaler and --takes say; give it alone, or these two")
    if inputs.takes == "raw":
        return scalings.of_table("raw", data, pair.inputs)
    file = inputs.scaler if option is None else None if option in scalings.NAMES else option
    if file is not None:
        if data is None:
            return Scaling(file, f"what {Path(file).name} normalises", "none", file=file)
        found = scalings.of_file(file, data.features)
        if len(found) > 1:
            raise InputError(f"{file} has mean and std as well as low and high; keep those that the networks take")
        return found[0]
    if option is not None:
        return scalings.of_table(option, data, pair.inputs)
    return None if inputs.takes is None else scalings.of_table("zscore", data, pair.inputs)


def _ways(pair: Pair, data: Data, chosen: Scaling | None) -> tuple[list[Scaling], list[str]]:
    """Every way that differs from those before it on the rows of the table."""
    files = [*_files(pair), data.path]
    beside, remarks = scalings.beside(files, data.features)
    raw, *others = (scalings.of_table(name, data, pair.inputs) for name in scalings.NAMES)
    found: list[Scaling] = []
    for way in ([] if chosen is None else [chosen]) + [raw, *beside, *reversed(others)]:
        if not any(way.is_like(other, data) for other in found):
            found.append(way)
    return found, remarks


def _files(pair: Pair) -> list[str]:
    return [network.source for network in (pair.reference, pair.candidate) if Path(network.source).is_file()]


def _without_data(pair: Pair, inputs: Inputs, chosen: Scaling | None, *, look_beside: bool) -> tuple[Inputs, list[str]]:
    """What is known without a table. A scaler beside the files is asked about, since nothing shows that it belongs."""
    notes = []
    if inputs.outputs is None:
        notes.append("the outputs are only counted; names read better: outputs a, b, ...")
    if chosen is not None:
        option = _option(inputs)
        return _taking(inputs, chosen), [f"what the networks take was said: {option}.", *notes]
    features = tuple((f"x{i}", None) for i in range(pair.inputs))
    beside = scalings.beside(_files(pair), features)[0] if look_beside else []
    if beside:
        answers = [Answer("--scaler", way.option, way.words) for way in beside]
        answers.append(Answer("--normalisation", "raw", "the inputs as they are"))
        asked = (
            f"What do the networks take? {Path(beside[0].option).name} lies beside them, and without a table of inputs "
            "nothing shows whether it is theirs."
        )
        raise Question(asked, answers)
    notes.append("nothing is known of the inputs: --data or --scaler would give names and normalisation.")
    return inputs, notes


def _taking(inputs: Inputs, way: Scaling) -> Inputs:
    """The inputs with a way that was found or chosen."""
    if way.file is not None:
        return replace(inputs, scaler=way.file, takes="normalised", scaling=way if way.first else None)
    if way.option in ("raw", "zscore"):
        return replace(inputs, takes="raw" if way.option == "raw" else "normalised", scaling=None)
    return replace(inputs, takes="normalised", scaling=way)


def _both(inputs: Inputs, way: Scaling, candidate: Scaling | None) -> Inputs:
    """The inputs with the way that the reference takes, and the one of the candidate where that is another."""
    if candidate is None:
        return _taking(inputs, way)
    if candidate.option == "raw":
        return replace(_taking(inputs, way), raw_alone="candidate")
    return replace(_taking(inputs, candidate), raw_alone="reference")


def _weighed(pair: Pair, data: Data, labels: Labels, ways: Sequence[Scaling], *, lowest: bool) -> list[Evidence]:
    """How well each way answers the labels: a quantity as the table has it or, if that fits nowhere, up to its unit."""
    weighed = weigh(pair.reference, data, labels, ways, lowest=lowest)
    if labels.kind != "quantity" or decided(weighed, labels) is not None:
        return weighed
    fitted = weigh(pair.reference, data, labels, ways, lowest=lowest, fitted=True)
    return fitted if fitted[0].share >= ENOUGH > weighed[0].share else weighed


def _units(pair: Pair, evidence: Evidence) -> list[str]:
    """What the output is of a network that answers in a unit of its own."""
    if evidence.line is None:
        return []
    factor, constant = evidence.line
    return [
        f"{pair.reference_name} answers in a unit of its own, as after training on standardised targets: the quantity "
        f"of the table is {factor:.4g} times its output plus {constant:.4g}, so a distance of 1 is {factor:.4g} of that"
    ]


def _which_way(
    pair: Pair,
    data: Data,
    labels: Labels | None,
    weighed: Sequence[Evidence],
    ways: Sequence[Scaling],
    said: Sequence[str],
) -> Question:
    """The question what the networks take, with how well each way answers the labels."""
    name = Path(data.path).name
    if labels is None:
        why = f"{name} has no labels to hold the reference against, so nothing tells (--label-file gives some)."
        answers = [Answer("--normalisation", way.option, way.words) for way in ways]
    else:
        best = weighed[0]
        if best.share < ENOUGH:
            why = f"{pair.reference_name} {_best(labels, best.share)} {name} under any of these."
        else:
            why = f"Several of these answer {name} equally well, or no better than always the largest class would."
        answers = [
            Answer("--normalisation", e.scaling.option, f"{_answers(labels, e)} {e.scaling.words}") for e in weighed
        ]
    asked = "\n".join([*said, f"What do the networks take? {why} A wrong choice makes a spec about other inputs."])
    return Question(asked, answers)


def _table(pair: Pair, weighed: Sequence[Evidence], way: Scaling) -> list[str]:
    """How well the labels are answered under each way."""
    if not weighed:
        return []
    width = max(len(e.scaling.option) for e in weighed)
    lines = [f"how well {pair.reference_name} answers the labels of {weighed[0].rows} rows, by what it takes:"]
    for e in weighed:
        taken = "  <- taken" if e.scaling is way else ""
        lines.append(f"  {e.scaling.option:<{width}}  {e.share:6.1%}  {e.scaling.words}{taken}")
    return lines


def _answers(labels: Labels, evidence: Evidence) -> str:
    what = "of the variance explained" if labels.kind == "quantity" else f"of {evidence.rows} rows right"
    return f"{evidence.share:6.1%} {what}:"


def _best(labels: Labels, share: float) -> str:
    if labels.kind == "quantity":
        return f"explains at most {share:.1%} of the variance of"
    return f"answers the class of at most {share:.1%} of the rows of"


def _origin(pair: Pair, found: Evidence, weighed: Sequence[Evidence]) -> str:
    others = ", ".join(f"{e.scaling.option} {e.share:.1%}" for e in weighed if e is not found)
    measure = "explains" if found.losses is not None else "is right in"
    return (
        f"the networks take {found.scaling.words} ({_name(found.scaling)}): {pair.reference_name} then {measure} "
        f"{found.share:.1%} of {'the variance over ' if found.losses is not None else ''}{found.rows} rows"
        + (f"; otherwise {others}." if others else ".")
    )


def _chosen_origin(pair: Pair, chosen: Scaling, weighed: Sequence[Evidence]) -> str:
    shares = ", ".join(f"{e.scaling.option} {e.share:.1%}" for e in weighed)
    note = f"that the networks take {chosen.words} was said on the command line ({_name(chosen)})"
    return note + (f"; how well {pair.reference_name} answers the labels: {shares}." if shares else ".")


def _contradiction(weighed: Sequence[Evidence], chosen: Scaling) -> list[str]:
    """A warning where the labels speak for another way than the one that was said."""
    mine = next((e for e in weighed if e.scaling is chosen), None)
    if mine is None or weighed[0] is mine or weighed[0].share < ENOUGH or not weighed[0].surpasses(mine):
        return []
    best = weighed[0]
    return [
        f"careful: taking {chosen.words}, as was said, the reference is right in {mine.share:.1%}, taking "
        f"{best.scaling.words} in {best.share:.1%}"
    ]


def _name(way: Scaling) -> str:
    return f"normalisation {Path(way.option).name if way.file else way.option}"


def _option(inputs: Inputs) -> str:
    if inputs.normalisation is not None:
        return f"--normalisation {inputs.normalisation}"
    return f"--takes {inputs.takes}" if inputs.scaler is None else f"--scaler {Path(inputs.scaler).name}"


def _columns(data: Data) -> str:
    return f"{Path(data.path).name}: columns {data.first}..{data.last}, {len(data.values)} rows."


def said_of_constants(data: Data, way: Scaling) -> list[str]:
    """A note on columns with one value that are divided by 1."""
    if way.file is not None:
        return []
    divided = [i for i in data.constant if way.normaliser != "minmax" or way.second[i] - way.first[i] == 1]
    if not divided:
        return []
    listed = ", ".join(data.features[i][0] for i in divided[:8])
    more = ", ..." if len(divided) > 8 else ""
    return [f"there is only one value of {listed}{more}: divided by 1."]


def _decides(pair: Pair, inputs: Inputs, labels: Labels | None) -> tuple[bool, str]:
    if pair.outputs == 1:
        return False, "There is one output, so it is a quantity."
    if pair.two_classes:
        return True, (
            "The one output p of each file is a Sigmoid, so it is read as two classes, with two outputs: 1 - p and p."
        )
    if pair.reference.stripped or pair.candidate.stripped:
        return True, "The files end in Softmax, so the outputs are classes."
    if labels is not None:
        return True, "The table has a class for each row, so the outputs are classes."
    if inputs.data is not None and are_quantities(inputs.data, pair.outputs):
        return False, "The column beside the inputs holds quantities, so the outputs are quantities."
    if pair.outputs > MOST_CLASSES:
        return False, f"There are {pair.outputs} outputs, more than classes have, so they are taken for quantities."
    return True, "The outputs are taken for scores of classes; for quantities write 'stays within 0.05 of'."
