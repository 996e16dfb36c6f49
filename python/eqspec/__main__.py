"""python -m eqspec, and the command `eqspec`.

A signal may come before the command listens for it, while its first modules are imported.
"""

import os
import sys

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries behind numpy ask when they are loaded, for how many threads to use."""


def start() -> int:
    """Run the command; its exit code.

    numpy computes on one thread, unless the environment says otherwise: its products are small here, and threads that
    wait for the next one would take the cores from the search.
    """
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        from eqspec.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(start())
