"""python -m eqspec, and the commands `eqspec` and `eqspec-vnnlib`.

A signal may come before the command listens for it, while its first modules are imported.
"""

import os
import sys
from importlib import import_module

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries behind numpy ask when they are loaded, for how many threads to use."""


def start() -> int:
    """Run `eqspec`; its exit code."""
    return _start("eqspec.cli")


def start_solver() -> int:
    """Run `eqspec-vnnlib`; its exit code."""
    return _start("eqspec.cli.vnnlib_solver")


def _start(module: str) -> int:
    """Run the `main` of a module.

    numpy computes on one thread, unless the environment says otherwise: its products are small here, and threads that
    wait for the next one would take the cores from the search.
    """
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        code: int = import_module(module).main()
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(start())
