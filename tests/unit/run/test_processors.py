"""As many threads are started as this process has processors, not as the machine has."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from eqspec.run.options import Options, cores
print(cores(), Options().share(None, jobs=1).threads)
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="it cannot be told where to run here")
def test_a_process_that_may_use_one_processor_starts_one_thread() -> None:
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1", "1"]
