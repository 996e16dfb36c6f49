"""The long text of each finding code, from the file beside this module; and how such files are read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from eqspec.lazy_dataclass import dataclass
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
    """The value of a param given from outside, as name=value."""

    def file(self, example: str) -> str:
        """A whole spec with one of the examples."""
        return example if self.whole else f"eqspec 1\n{self.around}{example}"


def explanation(code: str) -> Explanation | None:
    """The explanation of a code of specs, None if there is no such code."""
    return read("eqspec.spec", CODES).get(code)


def read(package: str, codes: Mapping[str, str]) -> dict[str, Explanation]:
    """The explanations of a package by code; `codes` are its codes and what they are about, in one line."""
    data = _data(package)
    return {code: _explanation(code, title, data) for code, title in codes.items() if code in data}


def _explanation(code: str, title: str, data: Mapping[str, Any]) -> Explanation:
    found = data[code]
    around = "".join(data["around"][name] for name in found.get("around", []))
    text = " ".join(found["text"].split())
    wrong, right = found["wrong"].strip("\n"), found["right"].strip("\n")
    return Explanation(code, title, text, wrong, right, around, found.get("whole", False), found.get("params"))


@cache
def _data(package: str) -> dict[str, Any]:
    return tomllib.loads(files(package).joinpath("explanations.toml").read_text(encoding="utf-8"))
