"""The process of the auditor holds itself to a time and to memory, whatever a certificate asks of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eqspec.audit
from eqspec.certificates import Auditor
from fuzz.hostile_certificates import LEAF, ONE_LEAF, header, packed

DEEP = np.array([(1, 0, 0.0), (LEAF, 0, 0)], np.float64)


def test_time_is_up_in_the_middle_of_a_tree_and_then_it_goes_on(tmp_path: Path) -> None:
    """The next certificate is audited as if nothing had been."""
    tree = np.concatenate([np.tile(DEEP, (400_000, 1)), ONE_LEAF])
    long, whole = tmp_path / "long.eqcert", tmp_path / "whole.eqcert"
    long.write_bytes(packed(header(tmp_path), tree))
    whole.write_bytes(packed(header(tmp_path), ONE_LEAF))
    with Auditor() as auditor:
        assert auditor.ask(whole).refused is None  # whatever is loaded once is loaded
        assert "takes longer" in (auditor.ask(long, seconds=0.2).refused or "")
        assert auditor.ask(whole).refused is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to this limit")
def test_memory_beyond_the_limit_is_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "whole.eqcert"
    path.write_bytes(packed(header(tmp_path), ONE_LEAF))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "import audit.certificate\n"
        "from audit.opening.process import hold\n"
        "audit.certificate.question = lambda _: bytearray(1 << 31)\n"
        "hold(1 << 30)\n"
        "try:\n    audit.audit(Path(sys.argv[2]))\n"
        "except audit.Refused as reason:\n    print(reason)\n"
    )
    folder = str(Path(eqspec.audit.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, folder, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "it needs more memory than the auditor may take\n", done.stderr
