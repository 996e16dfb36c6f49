"""No two files of the package, and none of the core, use each other, neither directly nor round about.

A file on a circle cannot be read, tested or moved without all the others on it. `test_rust_layers.py` and import-linter
look at modules and packages; this looks at files, inside a package too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.circles import Graph, circles, shortest
from contracts.python_imports import imports
from contracts.rust_uses import uses

# Circles that are still to be cut. One that is gone, or smaller, fails the test until its line goes too.
KNOWN_IN_RUST: list[tuple[str, ...]] = []
KNOWN_IN_PYTHON: list[tuple[str, ...]] = [
    ("eqspec/pytest_plugin/__init__.py", "eqspec/pytest_plugin/claims.py", "eqspec/pytest_plugin/session_options.py"),
]


def _only_known(graph: Graph, known: list[tuple[str, ...]]) -> None:
    found = circles(graph)
    new = [f"{shortest(graph, circle)}  (all on it: {', '.join(circle)})" for circle in found if circle not in known]
    assert not new, "files that use each other:\n" + "\n".join(new)
    gone = [circle for circle in known if circle not in found]
    assert not gone, f"circles that are listed here but no longer there: {gone}"


def _sources(folder: Path, suffix: str) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob(f"*{suffix}")
    }


def test_files_of_the_core_are_on_no_circle(root: Path) -> None:
    graph = uses(_sources(root / "rust" / "src", ".rs"))
    assert len(graph) > 50
    assert sum(len(used) for used in graph.values()) > 200
    _only_known(graph, KNOWN_IN_RUST)


def test_files_of_the_package_are_on_no_circle(root: Path) -> None:
    graph = imports(_sources(root / "python", ".py"))
    assert len(graph) > 200
    assert sum(len(used) for used in graph.values()) > 900
    _only_known(graph, KNOWN_IN_PYTHON)


def test_a_circle_is_named_by_a_shortest_way_round_it() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"d"}, "d": {"a", "e"}, "e": {"e"}, "f": {"a"}}
    assert circles(graph) == [("a", "b", "c", "d")]
    assert shortest(graph, circles(graph)[0]) == "a -> b -> d -> a"


def test_a_circle_that_is_listed_but_gone_fails() -> None:
    with pytest.raises(AssertionError, match="no longer there"):
        _only_known({"a": {"b"}, "b": set()}, [("a", "b")])


@pytest.mark.parametrize(
    "text",
    [
        "from p.b import thing",
        "from . import b",
        "from .b import thing as other",
        "import p.b",
        "def f():\n    import p.b as q",
        "if TYPE_CHECKING:\n    from p.b import Thing",
        "from p import thing",
        "from p import renamed",
        "from p.sub import thing",
    ],
)
def test_every_way_to_import_counts(text: str) -> None:
    graph = imports(
        {
            "p/__init__.py": "from p.b import thing\nfrom p.b import thing as renamed",
            "p/sub/__init__.py": "from .. import thing",
            "p/a.py": text,
            "p/b.py": "import numpy",
        }
    )
    assert graph["p/a.py"] == {"p/b.py"}


def test_what_an_init_file_defines_itself_leads_to_it() -> None:
    graph = imports({"p/__init__.py": "import p.a\nlimit = 3", "p/a.py": "from p import limit"})
    assert circles(graph) == [("p/__init__.py", "p/a.py")]


@pytest.mark.parametrize(
    "code",
    [
        "use crate::m::b::Thing;",
        "use super::b::{self};",
        "use super::{b::Thing as Other};",
        "use crate::{m::{b::Thing}, n};",
        "use super::Thing;",
        "use super::Renamed;",
        "use crate::Thing;",
        "use super::super::n::Thing;",
        "fn f() -> super::b::Thing { todo!() }",
        "fn f() { crate::m::b::run(); }",
        "use crate::m;\nfn f() { m::Thing::new(); }",
        "use crate::m::b::*;",
        "fn f(x: Thing) { x.added(); }",
    ],
)
def test_every_way_to_use_a_file_counts(code: str) -> None:
    graph = uses(
        {
            "lib.rs": "pub mod m;\npub mod n;\npub use m::Thing;",
            "m/mod.rs": "mod a;\nmod b;\nmod owner;\npub use b::Thing;\npub use b::{Thing as Renamed};",
            "m/owner.rs": "pub struct Owner;",
            "m/b.rs": "use super::owner::Owner;\nimpl Owner {\n    pub fn added(&self) {}\n}",
            "m/a.rs": code,
            "n/mod.rs": "pub use crate::m::Thing;",
        }
    )
    assert graph["m/a.rs"] == {"m/b.rs"}


@pytest.mark.parametrize(
    "code",
    [
        "// use super::b::Thing;",
        "//! See [`super::b::Thing`].",
        'const S: &str = "super::b::Thing";',
        "use std::b::Thing;",
        "#[cfg(test)]\nmod tests {\n    use super::super::b::Thing;\n}",
        "use super::Own;",
    ],
)
def test_what_is_no_use_does_not_count(code: str) -> None:
    graph = uses({"lib.rs": "mod m;", "m/mod.rs": "mod a;\nmod b;\npub struct Own;", "m/b.rs": "", "m/a.rs": code})
    assert graph["m/a.rs"] == set()
