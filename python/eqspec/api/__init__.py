"""What `import eqspec` offers: check specs, verify a pair on a box, reports that are sequences of results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eqspec.api.report import Report
from eqspec.api.spec import Spec, check, load, loads
from eqspec.tasks.result import Appearance, Result

if TYPE_CHECKING:
    from eqspec.api.pair_verification import verify
    from eqspec.api.quantised_network import quantised

__all__ = ["Report", "Spec", "check", "load", "loads", "quantised", "verify"]

_WHEN_USED = {"quantised": "eqspec.api.quantised_network", "verify": "eqspec.api.pair_verification"}
"""What specs do not need is imported when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _WHEN_USED:
        raise AttributeError(f"module 'eqspec.api' has no attribute {name!r}")
    value = getattr(import_module(_WHEN_USED[name]), name)
    globals()[name] = value
    return value


def _text(result: Result) -> str:
    from eqspec.report import failure

    return failure.of_result(result)


def _html(result: Result) -> str:
    from eqspec.report import notebook

    return notebook.of_result(result)


Result.appearance = Appearance(text=_text, html=_html)
