"""`dataclass` of the standard library, whose methods are made when a class is first used, not when it is defined.

The standard decorator writes and compiles the source of half a dozen methods, which takes longer than to import an
average module. A command defines some hundred classes of which it uses a third, so this was a fifth of a short check.

Here methods that stand in are put into the class at first. The first object has `__init__` made (`dataclass_init`), the
first look at the fields whatever tells of them; the first comparison, hash or `repr` has the methods made that do
these, which most classes never need. Each time the standard decorator is given a double, with the attributes of the
class and the fields that it inherits, and what it adds to the double takes the place of what stands in, one assignment
each, so that other threads never see a class that lacks a method. Then nothing is left of what stood in. `fields`,
`replace`, `inspect.signature` and dataclasses that inherit from the class find what they ask for, because what they
look up stands in as well; and objects that pickle or copy make without `__init__` are compared, hashed and shown like
all others.

What can be seen of it: a mistake in a definition, such as a field without a default behind one with, is reported at
first use, and a class without a docstring gets the standard one when its fields are looked at. A class with other
options, such as slots, or with an `__init__` or an `__eq__` of its own is made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import MISSING
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from eqspec.dataclass_init import initialiser

__all__ = ["dataclass"]

Defined = TypeVar("Defined", bound=type)

_LOCK = RLock()
"""Of all classes, since one that inherits from another makes that one first."""
_LATER = {"frozen", "eq", "repr", "kw_only"}
"""The options of classes that are made when they are used."""
_LOOKED_UP = {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__replace__", "__signature__"}
"""What others look up in a class; before some version of Python not all of it was there."""
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
        if options.keys() - _LATER or vars(cls).keys() & {"__init__", "__eq__"}:
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
    own = set(vars(cls))
    first, then, described = dict[str, object](), dict[str, object](), dict[str, object]()

    def make() -> None:
        with _LOCK:
            if first:  # else another thread was before this one
                for name, value in described.items():
                    setattr(cls, name, value)
                _replace(cls, first, _with_fields(cls, options, first.keys() | then.keys()))
                first.clear()

    def make_all() -> None:
        with _LOCK:
            make()
            if then:
                _replace(cls, then, _comparing(cls, options, then))
                then.clear()

    def init(self: Any, /, *values: Any, **named: Any) -> None:
        with _LOCK:
            # Otherwise another thread was before this one.
            if vars(cls)["__init__"] is init and not _initialise(cls, options, described):
                make()
        cls.__init__(self, *values, **named)

    def equal(self: Any, other: object, /) -> Any:
        make_all()
        return cls.__eq__(self, other)

    def hashed(self: Any, /) -> int:
        make_all()
        return hash(self)

    def shown(self: Any, /) -> Any:
        make_all()
        return cls.__repr__(self)

    first["__init__"] = init
    first.update({name: _MakesClass(name, make) for name in _LOOKED_UP - own})
    if options.get("eq", True):
        then |= {"__eq__": equal} if "__hash__" in own else {"__eq__": equal, "__hash__": hashed}
    if options.get("repr", True) and "__repr__" not in own:
        then["__repr__"] = shown
    for name, value in (first | then).items():
        setattr(cls, name, value)


def _initialise(cls: Any, options: dict[str, bool], described: dict[str, object]) -> bool:
    """Put `__init__` alone into a class of plain fields. What describes them in the class goes to `described`."""
    made = initialiser(cls, options)
    if made is None:
        return False
    for name, default in made.attributes.items():
        described[name] = vars(cls)[name]
        if default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, default)
    cls.__init__ = made.method
    return True


def _with_fields(cls: type, options: dict[str, bool], standing: Set[str]) -> dict[str, object]:
    """What the standard decorator adds to the class but for the methods that compare, hash and show."""
    own = {name: value for name, value in vars(cls).items() if name not in standing and name not in _OF_THE_CLASS}
    types = dict[str, Any]()
    inherited = dict[str, Any]()
    for base in cls.__mro__[:0:-1]:
        if "__dataclass_fields__" in vars(base):
            for name, (type_, again) in _again(base).items():
                types[name], inherited[name] = type_, again
    declared = own.get("__annotations__", {})
    inherited = {name: value for name, value in inherited.items() if name not in declared}
    given = own | inherited | {"__annotations__": types | declared, "__qualname__": cls.__qualname__}
    double = vars(_standard(type(cls.__name__, (), given), options | {"eq": False, "repr": False}))
    for name in own.keys() - double.keys():
        delattr(cls, name)  # the default of a field is a new object each time
    kept = {*_OF_THE_CLASS, *inherited}
    return {name: v for name, v in double.items() if name not in kept and v is not given.get(name, given)}


def _comparing(cls: type, options: dict[str, bool], standing: Mapping[str, object]) -> dict[str, object]:
    """The methods that compare, hash and show."""
    hashes = bool(options.get("frozen")) and "__hash__" in standing
    wanted = {"init": False, "eq": "__eq__" in standing, "repr": "__repr__" in standing, "unsafe_hash": hashes}
    every = _again(cls)
    given = {name: again for name, (_, again) in every.items()}
    types = {"__annotations__": {name: type_ for name, (type_, _) in every.items()}}
    double = vars(_standard(type(cls.__name__, (), given | types | {"__qualname__": cls.__qualname__}), wanted))
    return {name: double[name] for name in standing}


def _again(cls: type) -> dict[str, tuple[Any, Any]]:
    """The fields of a dataclass by name, with their types, to be declared again."""
    from dataclasses import field, fields

    found = {}
    for each in fields(cls):
        settings = ("init", "repr", "hash", "compare", "kw_only", "default", "default_factory", "metadata")
        found[each.name] = each.type, field(**{name: getattr(each, name) for name in settings})
    return found


def _replace(cls: type, standing: Mapping[str, object], made: Mapping[str, object]) -> None:
    """Put what was made in the place of what stands in."""
    for name, value in made.items():
        setattr(cls, name, value)
    for name in standing.keys() - made.keys():
        delattr(cls, name)
