"""The `__init__` of a plain dataclass, from one small source instead of the standard decorator's six.

The standard decorator takes some 0.4 ms for a class, most of it for fields as objects, signatures and methods that
nobody asks for, and a short check makes a hundred classes. What is written here does what the standard `__init__` does,
argument for argument. Where a definition has anything out of the ordinary, a mistake included, there is none, and the
standard decorator has its turn.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, NamedTuple

_UNUSUAL = ("ClassVar", "InitVar", "KW_ONLY")
"""What stands in an annotation that makes no field, or not one like others."""


class _Argument(NamedTuple):
    """One argument: what it is if it is not given, or what makes that; `MISSING` if there is no such thing."""

    default: Any
    factory: Any
    kw_only: bool


class Initialiser(NamedTuple):
    """The method, and what the attributes of the class that describe fields become: their defaults, or `MISSING`."""

    method: Any
    attributes: dict[str, Any]


def initialiser(cls: type, options: dict[str, bool]) -> Initialiser | None:
    """That of a class of which the standard decorator would be given these options; None of an unusual one."""
    arguments = dict[str, _Argument]()
    for base in cls.__mro__[:0:-1]:
        if "__dataclass_fields__" in vars(base):
            for each in fields(base):
                if not each.init:
                    return None
                arguments[each.name] = _Argument(each.default, each.default_factory, bool(each.kw_only))
    attributes = dict[str, Any]()
    for name, type_ in vars(cls).get("__annotations__", {}).items():
        given = vars(cls).get(name, MISSING)
        found = given if isinstance(given, Field) else None
        argument = _Argument(given, MISSING, bool(options.get("kw_only")))
        if found is not None:
            kw_only = argument.kw_only if found.kw_only is MISSING else bool(found.kw_only)
            argument = _Argument(found.default, found.default_factory, kw_only)
            attributes[name] = found.default
        if not _is_plain(type_, argument, found):
            return None
        arguments[name] = argument
    undeclared = (name for name, value in vars(cls).items() if isinstance(value, Field) and name not in arguments)
    positional = {name: a for name, a in arguments.items() if not a.kw_only}
    optional = [a.default is not MISSING or a.factory is not MISSING for a in positional.values()]
    if any(undeclared) or optional != sorted(optional) or "self" in arguments:
        return None
    named = {name: a for name, a in arguments.items() if a.kw_only}
    return Initialiser(_written(cls, positional, named, frozen=bool(options.get("frozen"))), attributes)


def _is_plain(type_: object, argument: _Argument, found: Field[Any] | None) -> bool:
    """Whether a declaration is of a field like others, with a default that objects may share."""
    if not isinstance(type_, str) or any(word in type_ for word in _UNUSUAL):
        return False
    return argument.default.__class__.__hash__ is not None and (found is None or found.init)


def _written(cls: type, positional: dict[str, _Argument], named: dict[str, _Argument], *, frozen: bool) -> Any:
    """The method from its source, in which names that no field has stand for defaults."""
    known: dict[str, Any] = {"_set_": object.__setattr__, "_absent_": MISSING}
    lines = list[str]()

    def taken(name: str, argument: _Argument) -> str:
        value, ending = name, ""
        if argument.factory is not MISSING:
            known[f"_make_{name}_"], ending = argument.factory, "=_absent_"
            value = f"_make_{name}_() if {name} is _absent_ else {name}"
        elif argument.default is not MISSING:
            known[f"_default_{name}_"], ending = argument.default, f"=_default_{name}_"
        lines.append(f"_set_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        return name + ending

    listed = ["self", *(taken(name, a) for name, a in positional.items())]
    if named:
        listed += ["*", *(taken(name, a) for name, a in named.items())]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    source = f"def __init__({', '.join(listed)}):\n " + "\n ".join(lines or ["pass"])
    exec(source, known)
    method = known["__init__"]
    method.__qualname__, method.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return method
