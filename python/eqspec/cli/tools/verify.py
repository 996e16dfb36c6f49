"""`eqspec verify`: one question about two networks, answered without a spec, and the spec it amounts to.

The options become a spec; that text is compiled and run, so what is printed is what was decided.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.text import Text

from eqspec.api.cluster_choice import engine_on
from eqspec.api.report import Report
from eqspec.api.spec import loads
from eqspec.cli.arguments import add_effort, options_of
from eqspec.cli.cache_options import advise, cache_from_arguments, note
from eqspec.cli.commands import Commands, command
from eqspec.cli.exit import ExitCode, exit_code
from eqspec.cli.tools.common import show, show_warnings
from eqspec.cli.tools.pair_arguments import add_pair, add_where, read, refuse_without_data, write_new
from eqspec.draft.comment_lines import comment
from eqspec.draft.verified_spec import What, Where, draft, refuse_incomplete
from eqspec.errors import EqspecError, SpecError
from eqspec.report import json, table
from eqspec.report.live import LiveMonitor
from eqspec.report.run_output import show_results
from eqspec.report.witness_files import save_witnesses
from eqspec.spec import printer

_EXAMPLES = """\
examples:
  eqspec verify full.onnx small.onnx --scaler scaler.json --sigma 0.5 --confidence 0.9
  eqspec verify full.onnx small.onnx --data train.csv --eps 0.05 --norm l2
  eqspec verify full.onnx small.onnx --lower -1,0 --upper 1,8/3 --top1 --spec small.eqspec

exit codes: 0 it holds; 1 it does not, or it says nothing of any input; 2 something cannot be used; 3 undecided"""
_HERE = {
    "E131": "here the ends are those of '--lower' and '--upper'",
    "E208": "here '--logits' or '--probabilities' says so",
    "E306": "here '--eps' claims such a distance",
}
"""What the help of a finding about the spec means on the command line."""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "verify",
        "Prove one claim about two networks on one region, or show an input where it does not hold, and print the\n"
        "spec this amounts to. Everything is in raw units, before normalisation.",
    )
    add_pair(made)
    add_where(made.add_argument_group("on which inputs (default: all that --data spans)"))
    what = made.add_argument_group("what is claimed")
    what.add_argument("--top1", action="store_true", help="the candidate decides as the reference")
    what.add_argument("--confidence", metavar="D", help="it does so wherever the reference is at least so confident")
    what.add_argument("--margin", metavar="T", help="it does so wherever the reference leads by at least T")
    what.add_argument("--eps", metavar="E", help="no output differs by more than E")
    what.add_argument("--norm", choices=("linf", "l1", "l2"), help="with --eps: how differences are summed up")
    what.add_argument("--comparing", metavar="A,B", help="with --eps: only these outputs")
    scores = what.add_mutually_exclusive_group()
    scores.add_argument(
        "--logits",
        dest="gives",
        action="store_const",
        const="logits",
        help="scores are logits: files that end in Softmax are read without it (with --eps one of the two is needed)",
    )
    scores.add_argument(
        "--probabilities",
        dest="gives",
        action="store_const",
        const="probabilities",
        help="scores are what files that end in Softmax, LogSoftmax or Sigmoid give",
    )
    what.add_argument("--float32", action="store_true", help="it holds for what every float32 runtime computes")
    add_effort(made.add_argument_group("how to run"))
    shown = made.add_argument_group("what to show")
    shown.add_argument("--format", choices=("human", "json"), default="human", help="text, or the result as JSON")
    shown.add_argument("--spec", type=Path, metavar="FILE", help="write the spec to a new file instead of printing it")
    shown.add_argument("--only-spec", action="store_true", help="print or write the spec and prove nothing")
    shown.add_argument("--save-witness", type=Path, metavar="DIR", help="write the input that breaks the claim")
    made.epilog = _EXAMPLES
    made.set_defaults(run=run)


def run(arguments: argparse.Namespace, out: Console, err: Console) -> ExitCode:
    """Run the command."""
    options = options_of(arguments)
    text = _spec(arguments, err)
    if arguments.spec is not None:
        write_new(arguments.spec, text)
    if arguments.only_spec:
        if arguments.spec is None:
            out.file.write(text)
        return ExitCode.AS_EXPECTED
    try:
        spec = loads(text, directory=_folder(arguments), name="this question as a spec")
    except SpecError as problem:
        show(problem, err)
        for code in dict.fromkeys(finding.code for finding in problem.diagnostics):
            if code in _HERE:
                err.print(_HERE[code], highlight=False, soft_wrap=True)
        return ExitCode.BAD_INPUT
    show_warnings(spec.warnings, err)
    cache = cache_from_arguments(arguments, err)
    began = perf_counter()
    engine_there = engine_on(arguments.cluster, partial(note, err))
    again = arguments.format == "human" and out.is_terminal
    with engine_there as engine, LiveMonitor(err, 1, told_again=again) as monitor:
        report = spec.run(spec.tasks, options, 1, monitor, cache, engine=engine)
    for _, error in report.failures:
        if not isinstance(error, EqspecError):
            raise error
        err.print(Text.assemble(("error", "bold red"), f": {error}"), soft_wrap=True)
    if arguments.format == "json":
        out.file.write(json.to_text(report) + "\n")
    else:
        _show(report, perf_counter() - began, out)
        if arguments.spec is None:
            out.print(Text("As a spec (--spec FILE writes it):\n", "bold"), soft_wrap=True)
            out.file.write(text)
        else:
            err.print(Text(f"wrote {arguments.spec}"), soft_wrap=True)
    if arguments.save_witness is not None and (saved := save_witnesses(report, arguments.save_witness)):
        err.print(Text(f"saved {len(saved)} in {arguments.save_witness}"), soft_wrap=True)
    advise(cache, report, err)
    return exit_code([report], bad_input=False)


def _spec(arguments: argparse.Namespace, err: Console) -> str:
    comparing = tuple(name.strip() for name in arguments.comparing.split(",")) if arguments.comparing else ()
    where = Where(arguments.sigma, arguments.lower, arguments.upper)
    claim = (arguments.eps, arguments.norm, comparing, arguments.top1, arguments.confidence, arguments.margin)
    what = What(*claim, arguments.float32, arguments.gives)
    refuse_without_data(arguments)
    refuse_incomplete(where, what, has_data=arguments.data is not None)
    pair, known = read(arguments, err, to_keep=False)
    text = printer.text(draft(pair, known.inputs, where, what, _folder(arguments), arguments.timeout))
    if arguments.data is None:
        return text
    version, _, rest = text.partition("\n")
    return "\n".join([version, *(line for note in known.notes for line in comment(note)), rest])


def _folder(arguments: argparse.Namespace) -> Path:
    """Where the spec lies, or would lie."""
    return Path() if arguments.spec is None else Path(arguments.spec).parent


def _show(report: Report, seconds: float, out: Console) -> None:
    show_results(report, out)
    if said := table.scores(report):
        out.print(Text(said), soft_wrap=True)
    out.print(table.summary(report, seconds, interrupted=report.interrupted, left_out=report.left_out), soft_wrap=True)
    out.print()
