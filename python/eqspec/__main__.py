"""python -m eqspec, and the command `eqspec`.

A signal may come before the command listens for it, while its first modules are imported.
"""

import sys


def start() -> int:
    """Run the command; its exit code."""
    try:
        from eqspec.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(start())
