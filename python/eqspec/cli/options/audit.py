"""What `eqspec audit` takes on the command line."""

from __future__ import annotations

from pathlib import Path

from eqspec.cli.commands import Commands, command
from eqspec.cli.options.search import add_params

SECONDS = 600
"""`eqspec.audit.opening.limits` has it."""


def add(commands: Commands) -> None:
    """Add the command."""
    audit = command(
        commands,
        "audit",
        "Check certificates: every step of a proof, every input that breaks a claim, on the network files as they are\n"
        "now. What a certificate shows is derived from what was checked; with --spec it must be what a task of the\n"
        "spec asks. The auditor is small, shares nothing with the search, and runs in a process of its own; it also\n"
        "runs where the compiled core does not: python path/to/eqspec/audit CERTIFICATE.",
    )
    audit.add_argument("files", nargs="+", type=Path, metavar="CERTIFICATE", help="*.eqcert files, or folders")
    audit.add_argument(
        "--spec",
        action="append",
        default=[],
        metavar="FILE",
        help="every certificate must answer a task of this spec exactly, and every task must have one; FILE:CHECK for"
        " one check; repeatable",
    )
    add_params(audit)
    audit.add_argument("--networks", type=Path, metavar="DIR", help="where the network files are, if they were moved")
    audit.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        help=f"seconds for each certificate, with --kernel for both checkers together (default: {SECONDS} for each of"
        " them, and for the kernel one for each leaf and round where these are more)",
    )
    audit.add_argument(
        "--cluster",
        metavar="WHERE",
        help="have the leaves of proofs checked by the workers of a Dask cluster: the address of its scheduler, the"
        " file it wrote, or 'local'",
    )
    audit.add_argument(
        "--kernel",
        action="store_true",
        help="have proofs checked once more by eqspec-kernel, whose correctness is proved in Coq: chains of layers,"
        " claims over the real numbers",
    )
    audit.add_argument(
        "--verbose",
        action="store_true",
        help="all inputs of a region and of a counterexample, in raw units too, and names",
    )
    audit.add_argument(
        "--format", choices=("human", "json"), default="human", help="sentences, or one JSON object with exact numbers"
    )
    audit.epilog = (
        "exit codes: 0 every certificate holds, and with --spec shows what the spec expects of every task; 1 one does\n"
        "not hold or belongs to no task, or a task has none or comes out otherwise; 2 there is no certificate, or a\n"
        "spec cannot be used"
    )
