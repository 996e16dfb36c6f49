"""Parts of the site that are generated: the help of every command, the explanation of every finding, and links.

A page says where with `<!-- generated: commands -->` or `<!-- generated: findings -->`. Works that a page cites, as
[VD], lead to the bibliography. Files of the repository that are no pages have no address here, so they are named. What
stands behind a fence for the tests, as `exit=1`, is left out.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eqspec.cli.commands import parser
from eqspec.spec.codes import CODES
from eqspec.spec.explanations import explanation
from eqspec.vnnlib.codes import CODES as VNNLIB_CODES
from eqspec.vnnlib.explanations import explanation as vnnlib_explanation

DOCS = Path(__file__).resolve().parents[1]
BIBLIOGRAPHY = "engine/bibliography.md"
_WORK = re.compile(r"^- \[(\w+)\] ", re.MULTILINE)
_FOR_TESTS = re.compile(r"^(```\w+) exit=\d+$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]+)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what is generated."""
    markdown = _FOR_TESTS.sub(r"\1", _named_files(_cited(markdown, page.file), page.file.src_uri))
    for name, made in (("commands", commands), ("findings", findings)):
        mark = f"<!-- generated: {name} -->"
        if mark in markdown:
            markdown = markdown.replace(mark, "\n".join(made()))
    return markdown


def _cited(markdown: str, file: Any) -> str:
    """Citations as links; in the bibliography itself they are what is linked to."""
    if file.src_uri == BIBLIOGRAPHY:
        return _WORK.sub(lambda found: f'- <a id="{found[1].lower()}"></a>[{found[1]}] ', markdown)
    works = _WORK.findall((DOCS / BIBLIOGRAPHY).read_text(encoding="utf-8"))
    there = f"{'../' * file.url.count('/')}engine/bibliography/"
    cited = re.compile(rf"(?<![\w`\]])\[({'|'.join(works)})\](?![(\[`])")
    return cited.sub(lambda found: f'<a href="{there}#{found[1].lower()}">&#91;{found[1]}&#93;</a>', markdown)


def _named_files(markdown: str, name: str) -> str:
    """Links that lead out of the documentation, as the name of the file."""

    def named(found: re.Match[str]) -> str:
        target = (DOCS / name).parent.joinpath(found[2]).resolve()
        if target.is_relative_to(DOCS):
            return found[0]
        file = f"`{target.relative_to(DOCS.parent)}`"
        return file if found[1].strip("`") == file.strip("`") else f"{found[1]} ({file})"

    return _LINK.sub(named, markdown)


def commands() -> Iterator[str]:
    """A section with the help of each command, as it prints it on 100 columns."""
    os.environ["COLUMNS"] = "100"
    main = parser("")
    (group,) = (action for action in main._actions if isinstance(action, argparse._SubParsersAction))
    for choice in group._choices_actions:
        below = group.choices[choice.dest]
        yield f"## eqspec {choice.dest}\n\n```text\n{below.format_help().rstrip()}\n```\n"


def _shown(about: str) -> str:
    """Text as a heading: what Markdown would take for its own is escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#])", r"\\\1", about)


def findings() -> Iterator[str]:
    """A section for each code, called what it is about: why, and a wrong and a right example."""
    vnnlib = VNNLIB_CODES.items(), vnnlib_explanation, "lisp"
    for codes, explained, language in ((CODES.items(), explanation, "eqspec"), vnnlib):
        for code, about in codes:
            found = explained(code)
            yield f"## {code}: {_shown(about)} {{ #{code.lower()} }}\n"
            if found is None:
                continue
            yield f"{found.text}\n"
            for label, example in (("Wrong", found.wrong), ("Right", found.right)):
                yield f"{label}:\n\n```{language}\n{example.rstrip()}\n```\n"
