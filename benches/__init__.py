"""Measurements, run from the repository's root: `python -m benches`, `python -m benches.ablation`,
`python -m benches.paper`.

baselines.csv and kernels.csv beside this file have the results that are kept; BASELINES.md says how to read them.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benches" / "results"
"""Where runs leave their logs, tables and plots; not under version control."""

# The runner of whole families stands beside the acceptance tests, the training script beside the example networks.
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "specs") if str(ROOT / folder) not in sys.path]
