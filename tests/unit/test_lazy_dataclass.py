"""Whatever can be asked of a class and of its objects, the answer is that of the standard decorator."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields, is_dataclass, replace
from functools import cached_property
from threading import Barrier
from types import ModuleType
from typing import Any, ClassVar

import pytest

from eqspec.lazy_dataclass import _FEW, dataclass


def defined(decorator: Any) -> tuple[type, ...]:
    """The same classes, made by either decorator."""

    @decorator
    class Plain:
        """Words."""

        x: int
        y: list[int] = field(default_factory=list)
        shared: ClassVar[int] = 3

    @decorator(frozen=True)
    class Frozen:
        """Words."""

        a: float
        b: str = "b"
        c: int = field(default=7, compare=False, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "seen", self.a)

        @cached_property
        def twice(self) -> float:
            return 2 * self.a

    @decorator(frozen=True, kw_only=True)
    class Place:
        """Words."""

        at: int = field(compare=False)

    @decorator(frozen=True)
    class Node(Place):
        name: str

    @decorator(frozen=True)
    class Leaf(Node):
        """Words."""

        name: str = "leaf"
        weight: float = 1.0

    @decorator(frozen=True, eq=False)
    class ByIdentity:
        x: int

    @decorator(frozen=True, repr=False)
    class OwnWords:
        x: int

        def __repr__(self) -> str:
            return f"<{self.x}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.x % 2 == other.x % 2

        def __hash__(self) -> int:
            return hash(self.x % 2)

    @decorator(frozen=True, slots=True)
    class Slotted:
        x: int

    return Plain, Frozen, Place, Node, Leaf, ByIdentity, OwnWords, Slotted


STANDARD = defined(dataclasses.dataclass)
PLAIN, FROZEN, PLACE, NODE, LEAF, BY_IDENTITY, OWN_WORDS, SLOTTED = range(8)
MADE: dict[str, tuple[int, Callable[[type], Any]]] = {
    "plain": (PLAIN, lambda c: c(1)),
    "plain, by name": (PLAIN, lambda c: c(y=[1], x=2)),
    "frozen": (FROZEN, lambda c: c(1.5)),
    "frozen, all": (FROZEN, lambda c: c(1.5, "c", 9)),
    "keywords alone": (PLACE, lambda c: c(at=4)),
    "inherits": (NODE, lambda c: c("n", at=4)),
    "inherits twice": (LEAF, lambda c: c(at=4, weight=2.0)),
    "own methods": (OWN_WORDS, lambda c: c(3)),
    "slots": (SLOTTED, lambda c: c(3)),
}
ASKED: dict[str, Callable[[type, Callable[[type], Any]], Any]] = {
    "repr": lambda c, make: repr(make(c)),
    "equal": lambda c, make: (make(c) == make(c), make(c) == 1, make(c) != make(c)),
    "hash": lambda c, make: hash(make(c)) == hash(make(c)),
    "signature": lambda c, make: str(inspect.signature(c)),
    "fields": lambda c, make: [(f.name, f.type, f.default, f.kw_only, f.compare) for f in fields(c)],
    "fields of an object": lambda c, make: [(f.name, getattr(make(c), f.name)) for f in fields(make(c))],
    "is one": lambda c, make: is_dataclass(c) and is_dataclass(make(c)),
    "replaced": lambda c, make: repr(replace(make(c), **{fields(c)[0].name: 5})),
    "as a dictionary": lambda c, make: dataclasses.asdict(make(c)),
    "matched": lambda c, make: (make(c), vars(c)["__match_args__"])[1],
    "attributes": lambda c, make: (make(c), sorted(set(vars(c)) - {"__dict__", "__weakref__", "__signature__"}))[1],
    "annotations": lambda c, make: (make(c), c.__annotations__)[1],
    "doc": lambda c, make: (make(c), c.__doc__)[1],
    "assigned": lambda c, make: setattr(make(c), fields(c)[0].name, 8),
    "another assigned": lambda c, make: setattr(make(c), "new", 8),
    "deleted": lambda c, make: delattr(make(c), fields(c)[0].name),
    "many": lambda c, make: [repr(make(c)) for _ in range(_FEW + 3)],
    "signature between objects": lambda c, make: (repr(make(c)), str(inspect.signature(c)), repr(make(c))),
    "not its arguments": lambda c, make: (make(c), c(nothing=1)),
    "given twice": lambda c, make: (make(c), c(1, **{fields(c)[0].name: 1}))[0] is None,
    "too few": lambda c, make: c(),
    "too few, then some": lambda c, make: [answer_of(one, c) for one in (make, type.__call__, make)],
    "too many": lambda c, make: c(1, 2, 3, 4, 5),
    "copied without __init__": lambda c, make: (copy.copy(bare(c)) == bare(c), repr(bare(c)) == repr(make(c))),
    "matched without __init__": lambda c, make: matched(bare(c)),
    "hashed without __init__": lambda c, make: hash(bare(c)) == hash(bare(c)),
}


def answer_of(make: Callable[[type], Any], cls: type) -> object:
    try:
        return repr(make(cls))
    except TypeError as error:
        return str(error)


def bare(cls: type) -> Any:
    """An object as pickle makes it, without `__init__`."""
    made: Any = object.__new__(cls)
    for name in ("x", "a", "b", "at", "name", "weight"):
        if name in cls.__annotations__ or any(name in getattr(base, "__annotations__", ()) for base in cls.__mro__):
            object.__setattr__(made, name, {"x": 3, "a": 1.5, "b": "b", "at": 4, "name": "n", "weight": 2.0}[name])
    return made


def matched(value: Any) -> object:
    cls: Any = type(value)
    match value:
        case cls(first):
            return first
    return None


def answer(what: str, cls: type, make: Callable[[type], Any]) -> object:
    try:
        return ASKED[what](cls, make)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("what", ASKED)
def test_it_is_as_the_standard_decorator_has_it(what: str) -> None:
    for which, (index, make) in MADE.items():
        assert answer(what, defined(dataclass)[index], make) == answer(what, STANDARD[index], make), which


def test_what_is_compared_by_identity_stays_so() -> None:
    cls = defined(dataclass)[BY_IDENTITY]
    one = cls(1)
    assert one == one
    assert one != cls(1)
    assert len({one, cls(1)}) == 2


def test_nothing_is_left_of_what_stood_in() -> None:
    node = defined(dataclass)[NODE]
    before = dict(vars(node))
    assert node("n", at=1) in {node("n", at=2)}
    assert "name='n'" in repr(node("n", at=1))
    for name in ("__init__", "__eq__", "__hash__", "__repr__"):
        assert vars(node)[name] is not before[name]
    assert "__signature__" not in vars(node)
    assert type(vars(node)["__dataclass_fields__"]) is dict


def test_a_class_that_is_not_used_is_not_made() -> None:
    leaf = defined(dataclass)[LEAF]
    assert type(vars(leaf)["__dataclass_fields__"]) is not dict


@dataclass(frozen=True)
class Pickled:
    x: int


def test_a_pickled_object_equals_one_that_was_made() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)


def test_threads_may_use_a_class_for_the_first_time_at_once() -> None:
    threads, interval = 8, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            for _ in range(5):
                cls, together = defined(dataclass)[LEAF], Barrier(threads)

                def use(at: int, cls: Any = cls, together: Barrier = together) -> Any:
                    together.wait()
                    return cls(at=at), hash(cls("n", at=at)), cls(at=at) == cls(at=at)

                assert all(equal for _, _, equal in pool.map(use, range(threads)))
    finally:
        sys.setswitchinterval(interval)


_SOURCE = """
from __future__ import annotations

from typing import ClassVar

from eqspec.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
"""


def test_a_class_is_made_after_its_module_was_taken_out_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pytest's pytester does with what was imported meanwhile; objects of such classes may still be about."""
    module = ModuleType("taken_out")
    monkeypatch.setitem(sys.modules, "taken_out", module)
    exec(_SOURCE, vars(module))
    monkeypatch.delitem(sys.modules, "taken_out")
    made = [module.Point(1) for _ in range(100)]
    assert made[0] == made[-1] == module.Point(x=1, y=0) != module.Point(2)
    assert len({*made}) == 1
    assert repr(made[0]) == "Point(x=1, y=0)"
    assert "taken_out" not in sys.modules
