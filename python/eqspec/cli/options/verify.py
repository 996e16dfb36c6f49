"""What `eqspec verify` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.pair import add_pair, add_where
from eqspec.cli.options.search import add_effort

_EXAMPLES = """\
examples:
  eqspec verify full.onnx small.onnx --scaler scaler.json --sigma 0.5 --confidence 0.9
  eqspec verify full.onnx small.onnx --data train.csv --eps 0.05 --norm l2
  eqspec verify full.onnx small.onnx --lower -1,0 --upper 1,8/3 --top1 --spec small.eqspec

exit codes: 0 it holds; 1 it does not, or it says nothing of any input; 2 something cannot be used; 3 undecided"""


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
