"""`dataclass` of the standard library, whose methods are made when a class is first used, not when it is defined.

The standard decorator writes and compiles the source of half a dozen methods, which takes longer than to import an
average module. A command defines some hundred classes of which it uses a third, so this was a fifth of a short check.

Here methods that stand in are put into the class at first. Whichever is called makes the class: the standard decorator
is given a double, with the attributes of the class and the fields that it inherits, and what it adds to the double
takes the place of what stands in, one assignment each, so that other threads never see a class that lacks a method.
From its first object on a class is an ordinary dataclass. `fields`, `replace`, `inspect.signature` and dataclasses that
inherit from the class find what they ask for, because what they look up stands in as well; and objects that pickle or
copy make without `__init__` are compared, hashed and shown like all others.

What can be seen of it: a mistake in a definition, such as a field without a default behind one with, is reported at
first use. A class with slots or with an `__init__` of its own is made at once.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

__all__ = ["dataclass"]

Defined = TypeVar("Defined", bound=type)

_LOCK = RLock()
"""Of all classes, since one that inherits from another makes that one first."""
_OF_THE_CLASS = {"__dict__", "__weakref__", "__setattr__", "__delattr__", "__abstractmethods__", "_abc_impl"}
"""What belongs to one class alone, and is not taken from its double or given to it."""


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """The decorator, with or without options, which are those of `dataclasses.dataclass`."""
        return _decorator(options) if cls is None else _decorator(options)(cls)


def _decorator(options: dict[str, bool]) -> Callable[[Defined], Defined]:
    def decorate(cls: Defined) -> Defined:
        if options.get("slots") or not options.get("init", True) or "__init__" in vars(cls):
            return _standard(cls, options)
        if options.get("frozen"):
            _freeze(cls)
        _stand_in(cls, options)
        return cls

    return decorate


def _standard(cls: Defined, options: dict[str, bool]) -> Defined:
    from dataclasses import dataclass as standard

    made: Any = standard(**options)(cls)
    return cast("Defined", made)


def _freeze(cls: Any) -> None:
    """Refuse assignments as the standard decorator does: of fields also in classes that inherit from this one."""

    def refuse(self: object, name: str, verb: str) -> None:
        if type(self) is cls or name in cls.__dataclass_fields__:
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot {verb} field {name!r}")

    def assign(self: object, name: str, value: object) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = assign, delete


class _MakesClass:
    """An attribute that makes the class, and then is what the class has under this name."""

    def __init__(self, name: str, make: Callable[[], None]) -> None:
        self._name, self._make = name, make

    def __get__(self, instance: object, owner: type) -> Any:
        self._make()
        return getattr(owner, self._name)


def _stand_in(cls: Any, options: dict[str, bool]) -> None:
    """Put the methods and attributes into the class that make it when they are used."""
    standing: dict[str, object] = {}

    def make() -> None:
        with _LOCK:
            if standing:  # else another thread was first
                _make(cls, options, standing)
                standing.clear()

    def init(self: Any, /, *values: Any, **named: Any) -> None:
        make()
        cls.__init__(self, *values, **named)

    def equal(self: Any, other: object, /) -> Any:
        make()
        return cls.__eq__(self, other)

    def hashed(self: Any, /) -> int:
        make()
        return hash(self)

    def shown(self: Any, /) -> Any:
        make()
        return cls.__repr__(self)

    own = set(vars(cls))
    standing["__init__"] = init
    standing.update({name: _MakesClass(name, make) for name in ("__dataclass_fields__", "__signature__")})
    if options.get("eq", True) and "__eq__" not in own:
        standing |= {"__eq__": equal} if "__hash__" in own else {"__eq__": equal, "__hash__": hashed}
    if options.get("repr", True) and "__repr__" not in own:
        standing["__repr__"] = shown
    for name, value in standing.items():
        setattr(cls, name, value)


def _make(cls: type, options: dict[str, bool], standing: dict[str, object]) -> None:
    """Put into the class what the standard decorator makes of its double, in place of what stands in."""
    from dataclasses import field, fields

    own = {name: value for name, value in vars(cls).items() if name not in standing and name not in _OF_THE_CLASS}
    types = dict[str, Any]()
    inherited = dict[str, Any]()
    for base in cls.__mro__[:0:-1]:
        if "__dataclass_fields__" in vars(base):
            for each in fields(base):
                settings = {name: getattr(each, name) for name in ("init", "repr", "hash", "compare", "kw_only")}
                settings |= {name: getattr(each, name) for name in ("default", "default_factory")}
                types[each.name], inherited[each.name] = each.type, field(**settings, metadata=each.metadata)
    declared = own.get("__annotations__", {})
    inherited = {name: value for name, value in inherited.items() if name not in declared}
    given = own | inherited | {"__annotations__": types | declared, "__qualname__": cls.__qualname__}
    double = vars(_standard(type(cls.__name__, (), given), options))
    for name in own.keys() - double.keys():
        delattr(cls, name)  # the default of a field is a new object each time
    for name, value in double.items():
        if name not in _OF_THE_CLASS and name not in inherited and value is not given.get(name, given):
            setattr(cls, name, value)
    for name in standing:
        if vars(cls).get(name) is standing[name]:
            delattr(cls, name)
