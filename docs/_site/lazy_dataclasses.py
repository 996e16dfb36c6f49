"""An extension of griffe, for the pages of the Python library: classes of `eqspec.lazy_dataclass` are dataclasses.

griffe writes the constructor of a dataclass down where the decorator is that of the standard library, by its path.
"""

from __future__ import annotations

from typing import Any

import griffe

OURS, STANDARD = "eqspec.lazy_dataclass.dataclass", "dataclasses.dataclass"


class LazyDataclasses(griffe.Extension):
    """Reads an import of our decorator as one of the standard one."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called when a class is met, before its members."""
        imported = cls.module.members.get("dataclass")
        if imported is not None and imported.is_alias and imported.target_path == OURS:
            cls.module.members["dataclass"] = griffe.Alias("dataclass", STANDARD, parent=cls.module)
        if any(decorator.callable_path == STANDARD for decorator in cls.decorators):
            cls.labels.add("dataclass")
