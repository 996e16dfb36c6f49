"""Which files of the package import which others.

Every import counts: at the top of a file, inside a function, and below `if TYPE_CHECKING`, because each of them makes a
reader open the other file. A name that an `__init__.py` only hands on leads to the file that defines it, and the
`__init__.py` files that do nothing but hand on names are on no circle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

Imported = tuple[str, str | None, str]  # the module, the name taken from it, and the name that it has here


def imports(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """The graph of files; keys are paths from the folder that holds the package, such as `eqspec/spec/ast.py`."""
    package = _Package(sources)
    return {path: package.used(path) - {path} for path in sources}


class _Package:
    def __init__(self, sources: Mapping[str, str]) -> None:
        self.path = {_module(path): path for path in sources}
        self.imported = {_module(path): list(_imported(path, text)) for path, text in sources.items()}
        self.home = {
            module: {here: (source, name) for source, name, here in found} for module, found in self.imported.items()
        }

    def used(self, path: str) -> set[str]:
        files = {self.file(module, name) for module, name, _ in self.imported[_module(path)]}
        return {file for file in files if file is not None}

    def file(self, module: str, name: str | None, seen: frozenset[tuple[str, str | None]] = frozenset()) -> str | None:
        """The file that defines a name of a module, or None outside the package."""
        if name is not None and f"{module}.{name}" in self.path:
            return self.path[f"{module}.{name}"]
        path = self.path.get(module)
        if path is None or name is None or not path.endswith("__init__.py") or (module, name) in seen:
            return path
        if name in self.home[module]:
            source, original = self.home[module][name]
            return self.file(source, original, seen | {(module, name)})
        return path


def _module(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: str, text: str) -> Iterator[Imported]:
    package = _module(path) if path.endswith("__init__.py") else _module(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                yield module, alias.name, alias.asname or alias.name
