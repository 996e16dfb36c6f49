"""python -m eqspec, and the commands `eqspec` and `eqspec-vnnlib`.

A signal may come before the command listens for it, while its first modules are imported.
"""

import atexit
import gc
import os
import signal
import sys
from importlib import import_module

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries behind numpy ask when they are loaded, for how many threads to use."""
NEW_OBJECTS = 50_000
"""How many objects are made between two searches for cycles, instead of 700."""


def start() -> int:
    """Run `eqspec`; its exit code."""
    return _start("eqspec.cli")


def start_solver() -> int:
    """Run `eqspec-vnnlib`; its exit code."""
    return _start("eqspec.cli.vnnlib_solver")


def _start(module: str) -> int:
    """Run the `main` of a module.

    numpy computes on one thread, unless the environment says otherwise: its products are small here, and threads that
    wait for the next one would take the cores from the search. What is imported stays in use, and is never searched for
    cycles: that begins when the command runs (`cli/command`). What is there at the end goes with the process, without
    being searched once more.
    """
    gc.set_threshold(NEW_OBJECTS)
    gc.disable()
    atexit.register(_ignore_signals)  # the first is called last
    _open_streams()
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    try:
        code: int = import_module(module).main()
    except KeyboardInterrupt:
        code = 130
    except MemoryError:  # so early that no command could say so
        os.write(2, b"error: there is no memory left for it\n")
        code = 75
    finally:
        gc.freeze()
    _end_with(code)
    return code


def _end_with(code: int) -> None:
    """Have a signal that comes from now on end the process at once, with the code that is known.

    There may be threads that are waited for. While the interpreter is taken down, which takes some 50 ms, it hears no
    signal: they are ignored then, as one would end the process with a code of its own.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, lambda *_: os._exit(code))


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _open_streams() -> None:
    """Open the standard streams that are closed (`>&-`), on nothing.

    Python has None in their place; and their descriptors would be given to the next files that are opened, into which
    libraries that print would then write.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: PTH123, SIM115


if __name__ == "__main__":
    sys.exit(start())
