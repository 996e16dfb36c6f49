"""Every place where the core is broken on purpose is still there (`tests/mutation`), so that a run of it can begin."""

from __future__ import annotations

from mutation.run import ROOT, TABLE, checked, listed, table_of_phase_pairs


def test_every_mutant_fits_the_sources() -> None:
    table = table_of_phase_pairs((ROOT / TABLE).read_text(encoding="utf-8"))
    assert len(checked([*listed(), *table])) > 100
