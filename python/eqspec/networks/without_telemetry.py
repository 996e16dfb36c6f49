"""onnxruntime, imported so that it collects nothing for its makers.

As soon as it is imported, onnxruntime 1.32 keeps a number of the machine and a database of events among the caches of
the user, to be sent to its makers. They describe the machine, and every model by the names of its file, of its graph
and of its exporter. Where they cannot be written, a warning is on the terminal. Whoever proves something about a model
expects none of it.

It asks the environment once, when it is imported, so only the import sees the variable. A program that imported
onnxruntime before eqspec, or a user who has set the variable, has decided it.
"""

import os

_SWITCH = "ORT_DISABLE_TELEMETRY"

_before = os.environ.get(_SWITCH)
os.environ.setdefault(_SWITCH, "1")
try:
    import onnxruntime
finally:
    if _before is None:
        del os.environ[_SWITCH]

__all__ = ["onnxruntime"]
