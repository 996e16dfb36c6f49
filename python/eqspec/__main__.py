"""python -m eqspec."""

import sys

from eqspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
