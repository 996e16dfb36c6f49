"""What `verify`, `diff` and `init` make of the options of a pair: its networks, and what is known of their inputs."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from eqspec.cli.options.input_shape import input_shape_of, words_of
from eqspec.cli.options.pair import names_of
from eqspec.draft.completed import Completed, complete
from eqspec.draft.data import read_data
from eqspec.draft.evidence import may_decide
from eqspec.draft.named_pair import Pair, read_pair, with_two_classes
from eqspec.draft.open_question import Question
from eqspec.draft.space import Inputs
from eqspec.errors import InputError, OpenSizesError, unwritten
from eqspec.networks.readers.open_sizes import InputShape


def given_words(arguments: argparse.Namespace) -> list[str]:
    """What `add_pair` puts into the arguments, as words of a command line: the files, and what was said of them."""
    words = [arguments.reference, arguments.candidate]
    for name in arguments.network_output or ():
        words += ["--network-output", name]
    words += words_of(arguments.input_shape)
    if arguments.dequantised:
        words.append("--dequantised")
    for name in ("reference_output", "candidate_output", "data", "label_file", "scaler", "takes", "normalisation"):
        if (value := getattr(arguments, name)) is not None:
            words += [f"--{name.replace('_', '-')}", value]
    if arguments.columns is not None:
        words += ["--columns", "{}..{}".format(*arguments.columns)]
    for name in ("labels", "outputs"):
        if (names := getattr(arguments, name)) is not None:
            words += [f"--{name}", ",".join(names)]
    return words if arguments.decide == "max" else [*words, "--decide", arguments.decide]


def read(arguments: argparse.Namespace, err: Console, *, to_keep: bool) -> tuple[Pair, Completed]:
    """The networks, and what is known of their inputs; what was found out is told on the way.

    What cannot be found out is asked on a terminal; elsewhere the Question is raised. NetworkError or InputError where
    something does not fit.
    """
    refuse_without_data(arguments)
    outputs = _chosen_outputs(arguments)
    pair = _pair(arguments, outputs)
    if len(arguments.outputs or arguments.labels or ()) == 2 or _claims_a_decision(arguments):
        pair = with_two_classes(pair)
    data = None
    if arguments.data is not None:
        try:
            data = read_data(arguments.data, pair.inputs, arguments.columns, pair.outputs, arguments.label_file)
        except InputError as problem:
            raise InputError(f"{problem}{_of_several(pair)}") from None
    if to_keep and arguments.outputs is None and may_decide(data, pair.outputs):
        pair = with_two_classes(pair)
    while True:
        inputs = Inputs(
            arguments.scaler,
            data,
            arguments.takes,
            arguments.outputs,
            arguments.decide,
            arguments.normalisation,
            arguments.labels,
        )
        try:
            known = complete(pair, inputs, to_keep=to_keep)
        except Question as question:
            _ask(question, arguments, err)
            continue
        for line in known.said:
            err.print(Text(line), soft_wrap=True)
        return pair, known


def _pair(arguments: argparse.Namespace, outputs: tuple[str | None, str | None]) -> Pair:
    """Both networks; sizes that a file leaves open are those that were said, or what the columns of the table tell."""
    shape: InputShape | None = input_shape_of(arguments.input_shape)
    read = partial(read_pair, arguments.reference, arguments.candidate, outputs, dequantised=arguments.dequantised)
    try:
        return read(input_shape=shape)
    except OpenSizesError:
        if shape is not None or arguments.data is None or arguments.columns is None:
            raise
    return read(input_shape=(arguments.columns[1] - arguments.columns[0] + 1,))


def _claims_a_decision(arguments: argparse.Namespace) -> bool:
    """Whether one of the options of 'verify' claims a decision of a classifier."""
    return any(getattr(arguments, name, None) not in (None, False) for name in ("top1", "confidence", "margin"))


def _chosen_outputs(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    """The outputs that are compared, by name; None where a file is said to have just one."""
    each: tuple[str | None, str | None] = (arguments.reference_output, arguments.candidate_output)
    both: list[str] = arguments.network_output or []
    if not both:
        return each
    if len(both) > 2:
        raise InputError(f"{len(both)} outputs are chosen; give one for both networks, or one for each")
    if each != (None, None):
        raise InputError("--network-output is for both networks; leave it out where one has an option of its own")
    return both[0], both[-1]


def _of_several(pair: Pair) -> str:
    """A sentence that lists the inputs of a file with several: one may be a constant that the exporter left out."""
    ports = pair.reference.ports
    if len(ports) < 2:
        return ""
    listed = ", ".join(f"{port.name!r} ({port.size})" for port in ports[:8])
    return f". The networks take several inputs, one behind the other: {listed}{', ...' if len(ports) > 8 else ''}"


def refuse_without_data(arguments: argparse.Namespace) -> None:
    """InputError for options about a table where none is given."""
    if arguments.data is not None:
        return
    if arguments.columns is not None:
        raise InputError("--columns says which columns of --data; give that, too")
    if arguments.label_file is not None:
        raise InputError("--label-file has the labels of the rows of --data; give that, too")
    if arguments.labels is not None:
        raise InputError("--labels says which labels of --data belong to the outputs; give that, too")


def _ask(question: Question, arguments: argparse.Namespace, err: Console) -> None:
    """Put the answer into the arguments. Without a terminal, or without an answer, the Question is raised."""
    if not (sys.stdin is not None and sys.stdin.isatty() and err.is_terminal):
        raise question
    err.print(Text(question.asked), soft_wrap=True)
    for number, answer in enumerate(question.answers, 1):
        err.print(Text(f"  [{number}] {answer.words}   ({answer.typed})"), soft_wrap=True)
    while True:
        try:
            typed = err.input(f"1 to {len(question.answers)}: ").strip()
        except EOFError:
            raise question from None
        if typed.isdecimal() and 1 <= int(typed) <= len(question.answers):
            break
    answer = question.answers[int(typed) - 1]
    value = names_of(answer.value) if answer.option == "--labels" else answer.value
    setattr(arguments, answer.option.removeprefix("--"), value)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet. InputError if it is, or if it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already and is left as it is; choose another name or remove it") from None
    except OSError as error:
        with suppress(OSError):
            path.unlink()  # nothing is left of what was begun
        raise unwritten(path, error) from None
