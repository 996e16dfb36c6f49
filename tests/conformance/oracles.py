"""What others make of a model: onnxruntime without its optimiser, onnx's reference implementation, onnx's checker.

An answer is an array, or the words with which the model was refused. onnxruntime is asked in a process of its own,
because a failed assertion in it ends the process that it runs in; its answer is `DIED` then.
"""

from __future__ import annotations

import atexit
import pickle
import struct
import subprocess
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Timer
from typing import IO, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Answer = NDArray[Any] | str
DIED = "the process of onnxruntime ended"
"""What is said of a model at which it dies, or for which it takes longer than `SECONDS`."""
SECONDS = 60.0


class Shape(OpRun):
    """The operator as its definition has it: onnx's own does not clamp what lies before the first axis."""

    def _run(self, data: NDArray[Any], start: int | None = None, end: int | None = None) -> tuple[NDArray[np.int64]]:
        rank = data.ndim
        ends = [0 if start is None else start, rank if end is None else end]
        first, last = (min(max(i + rank if i < 0 else i, 0), rank) for i in ends)
        return (np.array(data.shape[first:last], np.int64),)


def by_onnxruntime(model: onnx.ModelProto, inputs: list[NDArray[Any]]) -> list[Answer]:
    """The first output at each input."""
    return the_process().ask(model.SerializeToString(), inputs)


class OnnxruntimeProcess:
    """A process that asks onnxruntime, begun when it is first needed, and again after it died."""

    def __init__(self) -> None:
        self.running: subprocess.Popen[bytes] | None = None

    def ask(self, content: bytes, inputs: list[NDArray[Any]]) -> list[Answer]:
        """What it answers, `DIED` at each input if it does not live to do so."""
        if self.running is None:
            command = [sys.executable, "-m", "conformance.onnxruntime_process"]
            pipe, folder = subprocess.PIPE, Path(__file__).parents[1]
            self.running = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=folder)
        running = self.running
        late = Timer(SECONDS, running.kill)
        late.start()
        try:
            assert running.stdin is not None
            assert running.stdout is not None
            send(running.stdin, (content, inputs))
            found: list[Answer] = receive(running.stdout)
        except (EOFError, OSError):
            self.kill()
            return [DIED] * len(inputs)
        finally:
            late.cancel()
        return found

    def kill(self) -> None:
        """End the process."""
        if self.running is not None:
            self.running.kill()
            with suppress(OSError):  # what it has not read
                self.running.communicate()
            self.running = None


@cache
def the_process() -> OnnxruntimeProcess:
    """The one that this process has."""
    process = OnnxruntimeProcess()
    atexit.register(process.kill)
    return process


def send(pipe: IO[bytes], thing: Any) -> None:
    """Write something behind its length."""
    content = pickle.dumps(thing)
    pipe.write(struct.pack("<Q", len(content)) + content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read what `send` wrote. Raises EOFError at the end."""
    if len(size := pipe.read(8)) < 8:
        raise EOFError
    content = pipe.read(struct.unpack("<Q", size)[0])
    return pickle.loads(content)


def by_reference(model: onnx.ModelProto, inputs: list[NDArray[Any]]) -> list[Answer]:
    """The first output at each input."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = ReferenceEvaluator(model, new_ops=[Shape])
            return [np.asarray(evaluator.run(None, {"x": x})[0]) for x in inputs]  # type: ignore[index]
    except Exception as error:  # whatever numpy raises
        return [f"{type(error).__name__}: {error}"] * len(inputs)


def complaint_of_checker(model: onnx.ModelProto) -> str | None:
    """Why onnx calls a model invalid, shapes and types included."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # of several classes
        return str(error)
    return None
