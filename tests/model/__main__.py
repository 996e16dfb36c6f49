"""A long campaign: `PYTHONPATH=python:tests python -m model --machines 1000 --steps 40 --seed 3`.

Each machine takes up to so many steps. What is found is shrunk to the fewest steps and printed as a program.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import monotonic

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from model.machine import SEEN, Tool


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m model", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--machines", type=int, default=300)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="another number goes elsewhere")
    given = parser.parse_args()
    os.environ["EQSPEC_CACHE"] = "off"
    os.environ["EQSPEC_CACHE_KEY"] = "of this campaign, and of no interest"
    chosen = settings(
        max_examples=given.machines,
        stateful_step_count=given.steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    began = monotonic()
    try:
        run_state_machine_as_test(seed(given.seed)(Tool), settings=chosen)
    except KeyboardInterrupt:
        print("stopped; nothing was found until then", flush=True)
    finally:
        for trait, times in sorted(SEEN.items()):
            print(f"{times:9d}  {trait}")
        print(f"{monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
