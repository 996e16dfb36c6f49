"""The auditor is short enough to be read in one sitting, and what it trusts is small."""

from __future__ import annotations

import ast
import tokenize
from pathlib import Path

AUDIT = Path(__file__).resolve().parents[2] / "python" / "eqspec" / "audit"
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
BESIDE = {"__main__.py", "claimed.py", "drafts.py", "emptiness.py", "sessions.py", "statement.py", "witness.py"}
"""What no proof that is audited by itself goes through: the command, drafts, what a writer asks, counterexamples,
and what is said about a certificate that holds."""


def code_lines(path: Path) -> int:
    """Lines that hold anything but comments and docstrings."""
    texts: set[int] = set()
    for found in ast.walk(ast.parse(path.read_text())):
        if isinstance(found, ast.Expr) and isinstance(found.value, ast.Constant) and isinstance(found.value.value, str):
            texts.update(range(found.lineno, (found.end_lineno or found.lineno) + 1))
    with path.open("rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type not in {*SILENT, tokenize.ENCODING}]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)} - texts)


def test_lines_are_counted_as_a_reader_would(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text(
        '"""Words.\n\nMore."""\n\n# why\nx = [\n    1,\n]  # here\n\n\ndef f():\n    """Words."""\n    return x\n'
    )
    assert code_lines(path) == 5


def test_what_proves_is_under_nine_hundred_lines() -> None:
    """All but the reading of files and the functions, which are read by themselves, and what is in `BESIDE`."""
    counted = {path.name: code_lines(path) for path in AUDIT.glob("*.py") if path.name not in BESIDE}
    assert {"alone.py", "bounds.py", "claim.py", "forms.py", "proof.py", "relu.py", "rounding.py"} < counted.keys()
    assert sum(counted.values()) < 900, counted


def test_each_of_the_others_is_shorter() -> None:
    """Reading decides what a proof is about, and refuses every file that could be about two things.

    Functions are proven one by one, and tested against interval arithmetic of many digits. Decisions by grids share no
    line with what bounds boxes, and rest on the reading and on the levels of quantisers alone.
    """
    most = {"reading": 3700, "functions": 920, "grids": 330}
    for part in (AUDIT / "opening", *(AUDIT / name for name in (*most, *sorted(BESIDE)))):
        files = part.glob("*.py") if part.is_dir() else [part]
        assert 0 < sum(map(code_lines, files)) < most.get(part.name, 500), part
