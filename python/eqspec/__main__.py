"""python -m eqspec, and the commands `eqspec` and `eqspec-vnnlib`.

A signal may come before the command listens for it, while its first modules are imported.
"""

import gc
import os
import sys
from importlib import import_module

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries behind numpy ask when they are loaded, for how many threads to use."""
NEW_OBJECTS = 10_000
"""How many objects are made between two searches for cycles, instead of 700: what is imported stays in use, and was
searched 150 times in a short check."""


def start() -> int:
    """Run `eqspec`; its exit code."""
    return _start("eqspec.cli")


def start_solver() -> int:
    """Run `eqspec-vnnlib`; its exit code."""
    return _start("eqspec.cli.vnnlib_solver")


def _start(module: str) -> int:
    """Run the `main` of a module.

    numpy computes on one thread, unless the environment says otherwise: its products are small here, and threads that
    wait for the next one would take the cores from the search. What is there at the end goes with the process, without
    being searched for cycles once more.
    """
    gc.set_threshold(NEW_OBJECTS)
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        code: int = import_module(module).main()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(start())
