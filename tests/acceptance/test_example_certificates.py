"""Every verdict of the example specs has a certificate that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from breadth import some
from eqspec.api import load
from eqspec.certificates import Auditor, Certifier
from eqspec.run.options import Options
from eqspec.tasks.verdict import Verdict

SPECS = Path(__file__).parents[2] / "specs"
AGAIN = 3
"""One certificate in so many is audited once more, as the file that it became."""
MOST = len(some(range(6), 3))
"""Tasks of a spec that are certified, spread over it: a survey of thirty rows asks the same of each."""


@pytest.mark.parametrize("path", sorted(SPECS.glob("**/*.eqspec")), ids=lambda path: str(path.stem))
def test_every_verdict_has_a_certificate(path: Path, tmp_path: Path) -> None:
    with Certifier(tmp_path) as certifier, Auditor() as again:
        spec = load(path)
        tasks = spec.select()
        report = spec.run(tasks[:: -(-len(tasks) // MOST)], Options(threads=1, certifier=certifier))
        decided = [result for result in report if result.verdict is not Verdict.UNKNOWN and result.find is None]
        assert decided
        for number, result in enumerate(decided):
            assert result.certificate is not None, (result.id, result.uncertified)
            if number % AGAIN:
                continue  # it was audited before it got its name
            answer = again.ask(Path(result.certificate))
            assert answer.refused is None, result.id
            assert answer.verdict == result.verdict.value
        assert not certifier.missing
