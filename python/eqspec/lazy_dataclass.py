"""`dataclass` of the standard library, whose methods are made when a class is first used, not when it is defined.

The standard decorator writes and compiles the source of half a dozen methods, which takes longer than to import an
average module. A command defines some hundred classes of which it uses a third, so this was a fifth of a short check.

Here methods that stand in are put into the class at first. The first object has the fields looked at; it and the next
ones are filled field by field, and `__init__` is made where a class has many objects, or where arguments do not fit.
The first comparison, hash or `repr` has the methods made that do these. Most classes need none of them. Each time the
standard decorator is given a double, with the attributes of the class and the fields that it inherits, and what it adds
to the double takes the place of what stands in, one assignment each, so that other threads never see a class that lacks
a method. Then nothing is left of what stood in. `fields`, `replace`, `inspect.signature` and dataclasses that inherit
from the class find what they ask for, because what they look up stands in as well; and objects that pickle or copy make
without `__init__` are compared, hashed and shown like all others.

What can be seen of it: a mistake in a definition, such as a field without a default behind one with, is reported at
first use. A class with other options, such as slots, or with an `__init__` or an `__eq__` of its own is made at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

__all__ = ["dataclass"]

Defined = TypeVar("Defined", bound=type)

_HERE = sys.modules[__name__]
_LOCK = RLock()
"""Of all classes, since one that inherits from another makes that one first."""
_LATER = {"frozen", "eq", "repr", "kw_only"}
"""The options of classes that are made when they are used."""
_FEW = 40
"""So many objects are filled field by field; to write and compile a method takes as long as a hundred of them."""
_LOOKED_UP = {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__replace__"}
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
    first, then = dict[str, object](), dict[str, object]()
    constructor = dict[str, object]()
    module = sys.modules.get(cls.__module__)
    modules = [] if module is None else [module]

    def make() -> None:
        with _LOCK, _listed(modules):
            if first:  # else another thread was before this one
                made = _with_fields(cls, options, first.keys() | then.keys() | constructor.keys())
                _replace(cls, first, made)
                first.clear()
                if "__init__" in made:
                    _replace(cls, constructor, {})
                    constructor.clear()
                else:
                    cls.__init__ = _filling(cls, make_constructor, frozen=bool(options.get("frozen")))

    def make_constructor() -> None:
        with _LOCK, _listed(modules):
            make()
            if constructor:
                _replace(cls, constructor, {"__init__": _constructing(cls, options)})
                constructor.clear()

    def make_all() -> None:
        with _LOCK, _listed(modules):
            make()
            if then:
                _replace(cls, then, _comparing(cls, options, then))
                then.clear()

    def init(self: Any, /, *values: Any, **named: Any) -> None:
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

    constructor["__init__"] = init
    constructor.update({name: _MakesClass(name, make_constructor) for name in {"__signature__"} - own})
    first.update({name: _MakesClass(name, make) for name in _LOOKED_UP - own})
    if options.get("eq", True):
        then |= {"__eq__": equal} if "__hash__" in own else {"__eq__": equal, "__hash__": hashed}
    if options.get("repr", True) and "__repr__" not in own:
        then["__repr__"] = shown
    for name, value in (first | then | constructor).items():
        setattr(cls, name, value)


@contextmanager
def _listed(modules: list[ModuleType]) -> Iterator[None]:
    """Have these modules, and this one, in `sys.modules`, where the standard decorator looks for the one of a class.

    What runs tests of plugins, such as pytester, takes modules out of it whose classes are still used.
    """
    missing = [module for module in (*modules, _HERE) if module.__name__ not in sys.modules]
    sys.modules.update({module.__name__: module for module in missing})
    try:
        yield
    finally:
        for module in missing:
            sys.modules.pop(module.__name__, None)


def _with_fields(cls: type, options: dict[str, bool], standing: Set[str]) -> dict[str, object]:
    """What the standard decorator adds to the class but for the methods that compare, hash and show; `__init__` only
    where the class has no words of its own, as its signature takes their place.
    """
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
    worded = bool(own.get("__doc__"))
    made_now = {"init": not worded, "eq": False, "repr": False, "frozen": not worded and bool(options.get("frozen"))}
    double = vars(_standard(type(cls.__name__, (), given), options | made_now))
    _as_wanted(double["__dataclass_params__"], options)
    for name in own.keys() - double.keys():
        delattr(cls, name)  # the default of a field is a new object each time
    kept = {*_OF_THE_CLASS, *inherited}
    return {name: v for name, v in double.items() if name not in kept and v is not given.get(name, given)}


def _as_wanted(parameters: Any, options: Mapping[str, bool]) -> None:
    """Say of a class what it was asked for, not what its double was made with."""
    parameters.init, parameters.frozen = True, bool(options.get("frozen"))


def _filling(cls: Any, make_constructor: Callable[[], None], *, frozen: bool) -> Callable[..., None]:
    """An `__init__` that goes through the fields, for arguments that fit and the first few objects."""
    from dataclasses import MISSING, fields

    every = [(f.name, f.init, f.default, f.default_factory) for f in fields(cls)]
    placed = [f.name for f in fields(cls) if f.init and not f.kw_only]
    known = frozenset(name for name, taken, _, _ in every if taken)
    needed = frozenset(name for name, taken, *otherwise in every if taken and otherwise == [MISSING, MISSING])
    assign = object.__setattr__ if frozen else setattr
    finish, left = hasattr(cls, "__post_init__"), _FEW

    def init(self: Any, /, *values: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        given = dict(zip(placed, values, strict=False)) | named
        fit = len(given) == len(values) + len(named) and needed <= given.keys() <= known
        if left < 0 or not fit:
            make_constructor()
            cls.__init__(self, *values, **named)
            return
        for name, taken, default, factory in every:
            if name in given:
                assign(self, name, given[name])
            elif factory is not MISSING:
                assign(self, name, factory())
            elif taken:
                assign(self, name, default)
        if finish:
            self.__post_init__()

    return init


def _constructing(cls: Any, options: dict[str, bool]) -> object:
    """The `__init__` of the standard decorator."""
    every = _again(cls)
    given: dict[str, Any] = {name: again for name, (_, again) in every.items()}
    given["__annotations__"] = {name: type_ for name, (type_, _) in every.items()}
    given |= {"__qualname__": cls.__qualname__, "__module__": cls.__module__, "__doc__": cls.__doc__}
    if hasattr(cls, "__post_init__"):
        given["__post_init__"] = None
    wanted = {"eq": False, "repr": False, "frozen": bool(options.get("frozen"))}
    return vars(_standard(type(cls.__name__, (), given), wanted))["__init__"]


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
        if vars(cls).get(name) is standing[name]:
            delattr(cls, name)
