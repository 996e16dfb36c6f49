"""A process of a hunt: takes blocks by number, and gives up what hangs."""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from hunt.cases import Channel
from hunt.certifying import ask_kernel
from hunt.hunting import hunt

SEEDS = 12
"""A block: about five hundred cases."""
_HANGS = 3600.0
"""Seconds after which a block is given up, with a traceback: an hour, since a busy machine may need minutes for it."""


def first_seed(seed: int, block: int) -> int:
    """Where a block of a hunt begins; hunts with other seeds never meet."""
    return seed * 10**9 + block * SEEDS


def work(pipe: Connection, seed: int, channels: Sequence[Channel], kernel: bool = False) -> None:
    """Blocks by number, until nobody asks any more; ended from outside, it takes its files and its auditor along."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ask_kernel(kernel)
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            block = pipe.recv()
            faulthandler.dump_traceback_later(_HANGS, exit=True)
            pipe.send(hunt(first_seed(seed, block), SEEDS, channels))
            faulthandler.cancel_dump_traceback_later()
