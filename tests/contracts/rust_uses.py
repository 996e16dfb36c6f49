"""Which files of the core use which others, read from the sources.

A file uses another one when a path in it (in a `use`, a signature or an expression) ends at something that the other
one defines, and when it calls a method that the other one adds to a foreign type: `impl Type` outside the file that
defines `Type` is a way of using a file without naming it. `mod.rs` and `lib.rs` declare and hand on: a path through
them leads to the file that defines its end, and they are no files of the graph. Tests inside a file do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

Path = tuple[str, ...]


def uses(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """The graph of files; keys are paths below rust/src, such as `domain/relu.rs`."""
    crate = _Crate({name: _code(text) for name, text in sources.items()})
    graph = {name: crate.named(name) for name in sources}
    for name, added in _methods(crate, graph).items():
        graph[name] |= added
    return {
        name: {other for other in used if other != name and _counts(other)}
        for name, used in graph.items()
        if _counts(name)
    }


def _counts(name: str) -> bool:
    return PurePosixPath(name).name not in ("mod.rs", "lib.rs")


def _code(text: str) -> str:
    """Without comments, texts in quotes and the tests at the end."""
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', " ", text)
    return re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\b", text)[0]


def _module(name: str) -> Path:
    parts = PurePosixPath(name).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


class _Crate:
    def __init__(self, code: Mapping[str, str]) -> None:
        self.code = code
        self.file = {_module(name): name for name in code}
        self.imported = {
            _module(name): {leaf: path for path, leaf in _imports(text) if leaf != "*"} for name, text in code.items()
        }

    def named(self, name: str) -> set[str]:
        """The files that the paths in a file lead to."""
        module, code = _module(name), self.code[name]
        paths = {path for path, _ in _imports(code)}
        paths |= {tuple(re.split(r"\s*::\s*", found)) for found in re.findall(r"\b\w+(?:\s*::\s*\w+)+", code)}
        return {file for path in paths for file in [self.find(module, path)] if file is not None}

    def find(self, module: Path, path: Path, seen: frozenset[tuple[Path, str]] = frozenset()) -> str | None:
        """The file that defines the end of a path written in a module, or None outside the crate."""
        first, rest = path[0], path[1:]
        if first == "crate":
            return self.descend((), rest, seen)
        if first == "self":
            return self.descend(module, rest, seen)
        if first == "super":
            above = module[:-1]
            return self.find(above, rest, seen) if rest[:1] == ("super",) else self.descend(above, rest, seen)
        if (*module, first) in self.file or first in self.imported[module]:
            return self.descend(module, path, seen)
        return None

    def descend(self, module: Path, path: Path, seen: frozenset[tuple[Path, str]]) -> str | None:
        while path and (*module, path[0]) in self.file:
            module, path = (*module, path[0]), path[1:]
        if path and path[0] in self.imported[module] and (module, path[0]) not in seen:
            onward = self.imported[module][path[0]]
            return self.find(module, (*onward, *path[1:]), seen | {(module, path[0])})
        return self.file.get(module)


def _imports(code: str) -> Iterator[tuple[Path, str]]:
    """Every path of every `use` and the name that it has behind it; `use a::{self}` names `a`."""
    for found in re.finditer(r"\buse\s+([^;]+);", code):
        yield from _tree((), re.sub(r"\s+", " ", found[1]).strip())


def _tree(before: Path, text: str) -> Iterator[tuple[Path, str]]:
    head, brace, inside = text.partition("{")
    words = [word.strip() for word in head.split("::") if word.strip()]
    if brace:
        for part in _parts(inside.rstrip()[:-1]):
            yield from _tree((*before, *words), part)
        return
    last, _, renamed = words[-1].partition(" as ")
    path = (*before, *words[:-1], last.strip())
    if path[-1] in ("self", "*") and len(path) > 1:
        yield path[:-1], renamed.strip() or ("*" if path[-1] == "*" else path[-2])
    else:
        yield path, renamed.strip() or path[-1]


def _parts(text: str) -> Iterator[str]:
    """What stands between the commas of one pair of braces."""
    depth, part = 0, ""
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    if part.strip():
        yield part.strip()


def _methods(crate: _Crate, graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """For every file the files whose methods of foreign types it calls, where the method's name is unmistakable."""
    defined: dict[str, set[str]] = {}
    for name, code in crate.code.items():
        for method in re.findall(r"\bfn\s+(\w+)", code):
            defined.setdefault(method, set()).add(name)
    added: dict[str, set[str]] = {name: set() for name in crate.code}
    for name, code in crate.code.items():
        for owner, block in _implementations(code):
            home = crate.find(_module(name), (owner,))
            if home is None or home == name:
                continue
            for method in re.findall(r"\bfn\s+(\w+)", block):
                called = re.compile(rf"(?:\.|\bSelf\s*::\s*|\b{owner}\s*::\s*){method}\b\s*\(")
                for other, text in crate.code.items():
                    if other != name and defined[method] == {name} and called.search(text):
                        added[other].add(name)
    return added


def _implementations(code: str) -> Iterator[tuple[str, str]]:
    """The type and the text of every `impl Type` that is not of a trait."""
    for found in re.finditer(r"\bimpl\s*(?:<[^{}]*?>\s*)?(\w+)\s*(?:<[^{}]*?>)?\s*(?:where[^{}]*)?\{", code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield found[1], code[found.end() : end]
