"""docs/soundness.md names files and tests; all of them exist."""

from __future__ import annotations

import re
from pathlib import Path

PATH = re.compile(r"`((?:rust|python|tests)/[\w./]+?)(?:::(\w+))?`")


def test_every_file_and_test_it_names_exists(root: Path) -> None:
    named = PATH.findall((root / "docs" / "soundness.md").read_text())
    assert sum(bool(test) for _, test in named) > 20
    for path, test in named:
        assert (root / path).exists(), path
        if test:
            definition = "fn" if path.endswith(".rs") else "def"
            assert re.search(rf"\b{definition} {test}\b", (root / path).read_text()), f"{path}::{test}"


def test_every_statement_has_a_test(root: Path) -> None:
    _, tables = (root / "docs" / "soundness.md").read_text().split("## Statement, file, test")
    rows = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| statement")]
    assert len(rows) > 25
    for row in rows:
        assert "`tests/" in row.split("|")[-2], row
