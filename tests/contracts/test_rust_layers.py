"""The Rust core's modules know each other in one direction only; `cargo` has no linter for that, so the sources are
read.

A module may name modules of lower layers and itself, wherever the path stands: in a `use`, in a signature, in an
expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

LAYERS = (
    {"error"},
    {"numeric"},
    {"curve"},
    {"network"},
    {"domain"},
    {"settings"},
    {"property"},
    {"lp"},
    {"bound"},
    {"search"},
    {"python"},
)
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}


def _without_comments(text: str) -> str:
    """Line comments go, doc comments included: a link is not a dependency. The core has no block comments."""
    return re.sub(r"//[^\n]*", "", text)


def _roots(code: str) -> Iterator[str]:
    """The first name behind every `crate::`, each of several for `crate::{a::b, c}`."""
    for found in re.finditer(r"\bcrate::\s*(\w+|\{)", code):
        if found[1] != "{":
            yield found[1]
            continue
        depth, name = 1, ""
        for character in code[found.end() :]:
            depth += {"{": 1, "}": -1}.get(character, 0)
            if depth == 0 or (depth == 1 and character == ","):
                yield name.strip().partition("::")[0]
                name = ""
            else:
                name += character
            if depth == 0:
                break


def _climbs(parts: tuple[str, ...], code: str) -> Iterator[str]:
    """The crate's modules that a file reaches by `super::super::name`; `parts` is its path below src without the
    suffix.

    In a module inside the file, `super` begins one step further in. A test module at the end of a file is left out.
    """
    nesting = len([part for part in parts if part != "mod"])
    code = code.partition("#[cfg(test)]")[0]
    for found in re.finditer(r"\b((?:super::)+)\s*(\w+)", code):
        if found[1].count("super::") >= nesting + _modules_around(code[: found.start()]):
            yield found[2]


def _modules_around(code: str) -> int:
    """How many inline modules are open at the end of a piece of code."""
    opened: list[bool] = []
    for brace in re.finditer(r"(\bmod\s+\w+\s*)?\{|\}", code):
        if brace[0] == "}":
            del opened[-1:]
        else:
            opened.append(brace[1] is not None)
    return sum(opened)


def breaches(sources: Mapping[str, str]) -> list[str]:
    """What breaks the layers, `file: reason`; keys are paths below rust/src, such as `domain/relu.rs`."""
    found = []
    for name, text in sorted(sources.items()):
        parts = Path(name).with_suffix("").parts
        if parts == ("lib",):
            continue
        if parts[0] not in RANK:
            found.append(f"{name}: module {parts[0]!r} has no layer; give it one in this test and in ARCHITECTURE.md")
            continue
        code = _without_comments(text)
        for used in [*filter(None, _roots(code)), *_climbs(parts, code)]:
            if used not in RANK:
                found.append(f"{name}: {used!r} is no module of the table; name things where they are defined")
            elif used != parts[0] and RANK[used] >= RANK[parts[0]]:
                found.append(f"{name}: {parts[0]} may not use {used}")
    return found


def test_the_core_keeps_to_its_layers(root: Path) -> None:
    folder = root / "rust" / "src"
    sources = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.rs")}
    assert len(sources) > 10
    assert breaches(sources) == []


def test_the_layers_are_those_of_the_document(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("## Rust")[2].partition("##")[0]
    rows = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`[^|]*) \|", table, flags=re.MULTILINE)]
    modules = [module for row in rows for module in row]
    assert set(modules) == set(RANK)
    assert [RANK[module] for module in modules] == sorted(RANK[module] for module in modules)


def test_the_core_names_no_python_outside_its_boundary(root: Path) -> None:
    folder = root / "rust" / "src"
    inside = [path for path in folder.rglob("*.rs") if path.relative_to(folder).parts[0] not in ("python", "lib.rs")]
    assert [str(path) for path in inside if re.search(r"\b(pyo3|numpy)::", path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("numeric/round.rs", "use crate::network::Layer;"),
        ("domain/relu.rs", "use crate::{\n    numeric::round::{U, add_up},\n    search::{Box, Queue},\n};"),
        ("property/mod.rs", "fn f() -> crate::lp::Problem { todo!() }"),
        ("search/mod.rs", "use crate::python::convert;"),
        ("error.rs", "use crate::numeric::round::U;"),
        ("domain/affine.rs", "use super::super::search::Queue;"),
        ("network/mod.rs", "use super::domain::Zonotope;"),
        ("python/mod.rs", "mod inner {\n    use super::super::python::x;\n    fn f() {}\n}\nuse super::misc::g;"),
        ("misc.rs", ""),
        ("domain/relu.rs", "use crate::Verdict;"),
    ],
)
def test_a_breach_is_seen(name: str, code: str) -> None:
    assert len(breaches({name: code})) == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("domain/relu.rs", "use crate::{\n    domain::columns::{A, B},\n    error::Error,\n};"),
        ("domain/relu.rs", "//! Decided later, see [`crate::search`].\nuse super::columns::Columns;"),
        ("error.rs", "#[cfg(test)]\nmod tests {\n    use super::Error;\n}"),
        ("python/mod.rs", "use crate::search::solve;"),
        ("python/mod.rs", "mod run;\nmod inner {\n    fn f() {}\n    use super::run::solve;\n}"),
        ("lib.rs", "pub mod python;"),
    ],
)
def test_what_is_allowed_passes(name: str, code: str) -> None:
    assert breaches({name: code}) == []
