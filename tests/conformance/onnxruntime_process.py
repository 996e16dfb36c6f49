"""onnxruntime without its optimiser, behind a pipe: models with inputs come in, answers go out.

It logs nothing, and what it prints when an assertion fails is not shown: the process that asks sees that it is gone.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from conformance.oracles import Answer, receive, send


def answers(content: bytes, inputs: list[NDArray[Any] | dict[str, NDArray[Any]]]) -> list[Answer]:
    """The first output at each input, which is x or those of several names, or why there is none."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        return [np.asarray(session.run(None, x if isinstance(x, dict) else {"x": x})[0]) for x in inputs]
    except Exception as error:  # its exceptions have no common class
        return [str(error)] * len(inputs)


def main() -> None:
    """Until nobody asks any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        while True:
            try:
                content, inputs = receive(sys.stdin.buffer)
            except EOFError:
                return
            send(out, answers(content, inputs))


if __name__ == "__main__":
    main()
