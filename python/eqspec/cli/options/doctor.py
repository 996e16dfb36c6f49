"""What `eqspec doctor` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(
        commands,
        "doctor",
        "Look whether everything eqspec needs works on this machine: the prover on a pair with a known answer, HiGHS,\n"
        "onnxruntime, the floating-point mode, cores, memory, the cache, terminal. Add this to the report of a defect.",
    )
    made.add_argument("--format", choices=("human", "json"), default="human", help="a table, or a JSON list")
    made.epilog = "exit codes: 0 all that is needed works; 1 something does not"
