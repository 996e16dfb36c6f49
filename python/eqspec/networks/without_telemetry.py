"""onnxruntime, imported so that it reports to nobody that it is used.

From the moment it is imported, onnxruntime 1.32 sends events to its makers and keeps a number of the machine among the
caches of the user, also on Linux; where it cannot write that, it warns on the terminal. Whoever proves something about
a model expects none of it. It asks the environment for that once, when it is imported, so only the import sees the
variable. A program that imported onnxruntime before eqspec, or a user who has set the variable, has decided it.
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
