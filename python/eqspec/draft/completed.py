"""What was said about the inputs, completed by guesses, with a note on the origin of each part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eqspec.draft import guesses
from eqspec.draft.data import Data
from eqspec.draft.pair import Pair
from eqspec.draft.space import Inputs


@dataclass(frozen=True)
class Completed:
    """The inputs, notes on where they come from, and whether the outputs are classes, with the reason."""

    inputs: Inputs
    notes: tuple[str, ...]
    decides: bool
    why: str


def complete(pair: Pair, inputs: Inputs) -> Completed:
    """Guess what was not said."""
    notes: list[str] = []
    data = inputs.data
    if inputs.scaler is None and inputs.takes is None:
        beside = [pair.reference.source, pair.candidate.source, *([data.path] if data is not None else [])]
        if (found := guesses.nearby_scaler(beside)) is not None:
            inputs = replace(inputs, scaler=found)
            notes.append(f"{Path(found).name} was found beside the networks; that they take what it scales is a guess.")
    classes = None if data is None else guesses.classes(data, pair.outputs)
    if data is not None:
        notes.append(_table(data))
    if data is not None and inputs.scaler is None:
        basis = f"mean and std are those of {Path(data.path).name}"
        if inputs.takes is None:
            guess = guesses.takes(pair, data, classes, lowest=inputs.decide == "min")
            inputs = replace(inputs, takes=guess.takes)
            kind = "the columns as they are" if guess.takes == "raw" else "standardised columns"
            basis += f"; the networks take {kind}: {guess.reason}"
        notes.append(f"{basis}.")
        if data.constant:
            listed = ", ".join(f"x{i}" if data.names is None else data.names[i][0] for i in data.constant[:8])
            more = ", ..." if len(data.constant) > 8 else ""
            notes.append(f"there is only one value of {listed}{more}: divided by 1.")
    if data is None and inputs.scaler is None:
        notes.append("nothing is known of the inputs: --data or --scaler would give names and normalisation.")
    if classes is not None and classes.names is not None and inputs.outputs is None:
        inputs = replace(inputs, outputs=classes.names)
        notes.append("the outputs are called like the classes in the table, in alphabetic order: is it the networks'?")
    elif inputs.outputs is None:
        notes.append("the outputs are only counted; names read better: outputs a, b, ...")
    return Completed(inputs, tuple(notes), *_decides(pair, inputs, classes))


def _table(data: Data) -> str:
    left_out = f", {data.skipped} incomplete rows left out" if data.skipped else ""
    return f"{Path(data.path).name}: columns {data.first}..{data.last}, {len(data.values)} rows{left_out}."


def _decides(pair: Pair, inputs: Inputs, classes: guesses.Classes | None) -> tuple[bool, str]:
    if pair.outputs == 1:
        return False, "There is one output, so it is a quantity."
    if pair.reference.stripped or pair.candidate.stripped:
        return True, "The files end in Softmax, so the outputs are classes."
    if classes is not None:
        return True, "The table has a class for each row, so the outputs are classes."
    if inputs.data is not None and guesses.has_quantities(inputs.data):
        return False, "The column beside the inputs holds quantities, so the outputs are quantities."
    return True, "The outputs are taken for scores of classes; for quantities write 'stays within 0.05 of'."
