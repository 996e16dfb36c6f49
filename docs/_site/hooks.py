"""Parts of the site that are generated: the help of every command, and the explanation of every finding.

A page says where with `<!-- generated: commands -->` or `<!-- generated: findings -->`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from eqspec.cli.commands import parser
from eqspec.spec.codes import CODES
from eqspec.spec.explanations import explanation
from eqspec.vnnlib.codes import CODES as VNNLIB_CODES
from eqspec.vnnlib.explanations import explanation as vnnlib_explanation


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what is generated."""
    for name, made in (("commands", commands), ("findings", findings)):
        mark = f"<!-- generated: {name} -->"
        if mark in markdown:
            markdown = markdown.replace(mark, "\n".join(made()))
    return markdown


def commands() -> Iterator[str]:
    """A section with the help of each command, as it prints it on 100 columns."""
    os.environ["COLUMNS"] = "100"
    main = parser("")
    (group,) = (action for action in main._actions if isinstance(action, argparse._SubParsersAction))
    for choice in group._choices_actions:
        below = group.choices[choice.dest]
        yield f"## eqspec {choice.dest}\n\n```text\n{below.format_help().rstrip()}\n```\n"


def findings() -> Iterator[str]:
    """A section for each code: what it is about, why, and a wrong and a right example."""
    vnnlib = VNNLIB_CODES.items(), vnnlib_explanation, "lisp"
    for codes, explained, language in ((CODES.items(), explanation, "eqspec"), vnnlib):
        for code, about in codes:
            found = explained(code)
            yield f"## {code}\n\n{about[0].upper() + about[1:]}.\n"
            if found is None:
                continue
            yield f"{found.text}\n"
            for label, example in (("Wrong", found.wrong), ("Right", found.right)):
                yield f"{label}:\n\n```{language}\n{example.rstrip()}\n```\n"
