"""The long text of each finding code, from the file beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from eqspec.spec.codes import CODES


@dataclass(frozen=True)
class Explanation:
    """What a code means; `wrong` gives it and `right` does not, both behind `around` in a file."""

    code: str
    title: str
    text: str
    wrong: str
    right: str
    around: str = ""
    whole: bool = False
    """Whether the examples are whole files, with their first line."""
    param: str | None = None
    """What is given from outside, as name=value."""

    def file(self, example: str) -> str:
        """A whole file with one of the examples."""
        return example if self.whole else f"eqspec 1\n{self.around}{example}"


def explanation(code: str) -> Explanation | None:
    """The explanation of a code, None if there is no such code."""
    found = _data().get(code)
    if found is None or code not in CODES:
        return None
    around = "".join(_data()["around"][name] for name in found.get("around", []))
    text = " ".join(found["text"].split())
    wrong, right = found["wrong"].strip("\n"), found["right"].strip("\n")
    whole, param = found.get("whole", False), found.get("params")
    return Explanation(code, CODES[code], text, wrong, right, around, whole, param)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("eqspec.spec").joinpath("explanations.toml").read_text(encoding="utf-8"))
