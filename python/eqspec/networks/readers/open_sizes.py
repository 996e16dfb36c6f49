"""Sizes that a file leaves open: what is given for them, and which stay open.

One axis may stay open without anything being said, that of the samples, which becomes 1 (`batches`). Of all others a
size is given: by the shape of one sample, as a space has it, `(3, 32, 32)` for `[batch, 3, height, width]`; by how many
numbers a sample has, where one open size is all that is missing; or by the shapes of inputs by name, batch included.
Axes of one name have one size. A size that is given is never guessed from values: it must agree with every size that
the file fixes, and where two assignments are possible the file is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from operator import index
from typing import Any, TypeAlias, TypeGuard

from eqspec.errors import NetworkError, OpenSizesError
from eqspec.networks.matrices import MAX_VALUE

Declared: TypeAlias = tuple[int | str, ...]
"""The sizes of an input, with names for open ones, "?" without one."""
Fixed: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""The shapes of inputs by name, as a network holds them."""
Axes: TypeAlias = set[tuple[int | str, int]]
"""Axes of an input, by size and place."""
InputShape: TypeAlias = Sequence[int] | Mapping[str, Sequence[int]] | Fixed
"""The shape of one sample without the batch, or of inputs by name with it."""


def with_sizes(
    path: str, declared: Mapping[str, Declared | None], given: InputShape | None, unread: Collection[str] = ()
) -> dict[str, Declared]:
    """The shapes of all inputs (None: of any rank) with the sizes that are given for open ones.

    Inputs that are `unread` may be given sizes, too; a file has them, and its output does not need them.

    At most the axis of the samples stays open. NetworkError where what is given does not fit the file.
    """
    if given is None:
        return {name: () if shape is None else shape for name, shape in declared.items()}
    said: Any = given
    try:
        if isinstance(said, Mapping) or any(isinstance(one, tuple) for one in said):
            named = {str(name): tuple(map(index, sizes)) for name, sizes in dict(said).items() if name not in unread}
            return _by_name(path, declared, named)
        sample = tuple(map(index, said))
    except (TypeError, ValueError) as error:
        raise NetworkError(path, f"input_shape = {given!r} is no shape ({error})", fix="give whole numbers") from error
    _check_positive(path, sample)
    shapes = {name: sample if shape is None else shape for name, shape in declared.items()}
    if len(shapes) == 1:
        ((name, shape),) = shapes.items()
        if (found := _of_sample(shape, sample)) is not None:
            return {name: found}
    if len(sample) == 1:
        return _of_count(path, shapes, sample[0])
    listed = ", ".join(f"{name!r} [{_listed(shape)}]" for name, shape in shapes.items())
    raise OpenSizesError(path, f"a sample of shape [{_listed(sample)}] does not fit its input {listed}", fix=FIX)


def by_name(declared: Mapping[str, Declared | None], shapes: Mapping[str, Declared]) -> dict[int | str, int]:
    """The open sizes of a file that are given, by their names."""
    pairs = [pair for name, shape in declared.items() for pair in zip(shape or (), shapes[name], strict=False)]
    return {named: size for named, size in pairs if _is_named(named) and isinstance(size, int)}


FIX = "give sizes that agree with those of the file, which 'eqspec inspect' shows"


def _by_name(
    path: str, declared: Mapping[str, Declared | None], given: Mapping[str, tuple[int, ...]]
) -> dict[str, Declared]:
    unknown = [name for name in given if name not in declared]
    if unknown:
        fix = f"it takes {', '.join(map(repr, declared))}"
        raise NetworkError(path, f"it has no input {unknown[0]!r} that its output needs", fix=fix)
    sizes = dict[str, int]()
    for name, shape in given.items():
        _check_positive(path, shape)
        known = declared[name]
        expected: Declared = shape if known is None else known
        fits = len(shape) == len(expected)
        for size, open_or_fixed in zip(shape, expected, strict=False):
            fits &= size == (sizes.setdefault(open_or_fixed, size) if _is_named(open_or_fixed) else size)
            fits &= isinstance(open_or_fixed, str) or open_or_fixed == size
        if not fits:
            message = f"shape [{_listed(shape)}] does not fit its input {name!r} [{_listed(expected)}]"
            raise OpenSizesError(path, message, fix=f"{FIX}; the batch is one of them")
    return {
        name: given.get(name) or tuple(sizes.get(size, size) if isinstance(size, str) else size for size in shape or ())
        for name, shape in declared.items()
    }


def _of_sample(shape: Declared, sample: tuple[int, ...]) -> Declared | None:
    """A shape with the sizes of a sample around the axis of the samples, or in place of all; None if it has others.

    That axis is the one that is called so, as torch has it behind the steps of a sequence; else it is the first.
    """
    at = next((axis for axis, size in enumerate(shape) if names_batch(size)), 0)
    is_batch = len(sample) > 1 or (shape != () and (isinstance(shape[at], str) or shape[at] == 1))
    for whole in (sample[:at] + shape[at : at + 1] + sample[at:], sample) if is_batch else (sample,):
        if len(whole) != len(shape) or not all(_fits(size, one) for size, one in zip(whole, shape, strict=True)):
            continue
        sizes = dict[str, int | str]()
        # Where one name stands for two axes, as of a square, both have one size.
        if all(size == sizes.setdefault(one, size) for size, one in zip(whole, shape, strict=True) if _is_named(one)):
            return whole
    return None


def _fits(size: int | str, declared: int | str) -> bool:
    return isinstance(declared, str) or isinstance(size, str) or size == declared


def _of_count(path: str, shapes: Mapping[str, Declared], count: int) -> dict[str, Declared]:
    """The shapes of inputs that take so many numbers together, where one open size beside the batch is missing."""
    batch = _batch(shapes)
    rest = _without(shapes, batch)
    if not any(isinstance(size, str) for shape in rest.values() for size in shape) and _total(rest, 1) != count:
        batch, rest = {name: set() for name in shapes}, dict(shapes)  # the one open size is not that of samples
    missing = [size for shape in rest.values() for size in shape if isinstance(size, str)]
    if not missing and _total(rest, 1) == count:
        return dict(shapes)
    if len({size for size in missing if size != "?"}) + missing.count("?") > 1:
        raise OpenSizesError(path, f"several of its sizes are open: {_all_listed(shapes)}", fix=how(shapes))
    # What is missing stands in one factor or several, so more of it never makes fewer numbers.
    low, high = 1, count + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _total(rest, middle) < count else (low, middle)
    if _total(rest, low) != count:
        message = f"{count} numbers do not fit what it takes, {_all_listed(shapes)}, whatever its open sizes are"
        raise OpenSizesError(path, message, fix=FIX)
    return {
        name: tuple(
            low if isinstance(size, str) and (size, axis) not in batch[name] else size
            for axis, size in enumerate(shape)
        )
        for name, shape in shapes.items()
    }


def _without(shapes: Mapping[str, Declared], batch: Mapping[str, Axes]) -> dict[str, Declared]:
    """The shapes of one sample."""
    return {
        name: tuple(1 if (size, axis) in batch[name] else size for axis, size in enumerate(shape))
        for name, shape in shapes.items()
    }


def _total(shapes: Mapping[str, Declared], missing: int) -> int:
    return sum(prod(missing if isinstance(size, str) else size for size in shape) for shape in shapes.values())


def _batch(shapes: Mapping[str, Declared]) -> dict[str, Axes]:
    """The axis of the samples of each input, as its name and place: the one called so, or an open one in front."""
    found = dict[str, Axes]()
    leading = {shape[0] for shape in shapes.values() if len(shape) > 1 and isinstance(shape[0], str)} - {"?"}
    for name, shape in shapes.items():
        axes: list[tuple[int | str, int]] = [(size, axis) for axis, size in enumerate(shape)]
        called = [(size, axis) for size, axis in axes if names_batch(size)]
        first = isinstance(shape[0], str) and (len(shape) > 1 or shape[0] in leading) if shape else False
        found[name] = {*(called or axes)[:1]} if called or first else set()
    elsewhere = {
        size for name, shape in shapes.items() for axis, size in enumerate(shape) if (size, axis) not in found[name]
    } - {"?"}
    # Of one name on two axes, as of a square, neither is that of the samples.
    return {name: {one for one in axes if one[0] not in elsewhere} for name, axes in found.items()}


def how(shapes: Mapping[str, Declared], *, batch: bool = True) -> str:
    """How to give the sizes that are open, with letters for those of one's choice; without `batch` none is 1."""
    letters = dict[str, str]()
    shown = dict[str, list[str]]()
    for name, shape in (_without(shapes, _batch(shapes)) if batch else shapes).items():
        keys = [size if _is_named(size) else f"{name} {axis}" for axis, size in enumerate(shape)]
        for key, size in zip(keys, shape, strict=True):
            if isinstance(size, str):
                letters.setdefault(key, "NMKL"[len(letters)] if len(letters) < 4 else f"N{len(letters)}")
        shown[name] = [
            letters[key] if isinstance(size, str) else str(size) for key, size in zip(keys, shape, strict=True)
        ]
    said = f"say how large they are, with numbers for {', '.join(dict.fromkeys(letters.values()))}: "
    if len(shown) == 1:
        ((name, sizes),) = shown.items()
        sample = sizes[1:] if len(sizes) > 1 and sizes[0] == "1" else sizes
        typed, python = "x".join(sample), f"({', '.join(sample)}{',' * (len(sample) == 1)})"
        said += f"'shape [{', '.join(sample)}]' in the space of a spec, --input-shape {typed} on the command line, "
        return f"{said}input_shape={python} in Python"
    typed = " ".join(f"--input-shape '{name}={'x'.join(sizes)}'" for name, sizes in shown.items())
    python = ", ".join(f'"{name}": ({", ".join(sizes)}{"," * (len(sizes) == 1)})' for name, sizes in shown.items())
    return f"{said}{typed} on the command line, input_shape={{{python}}} in Python"


def concrete(shape: Declared) -> tuple[int, ...]:
    """The shape of one sample, of which the axis of the samples may be open."""
    return tuple(1 if isinstance(size, str) else size for size in shape)


def _check_positive(path: str, shape: Sequence[int]) -> None:
    if not shape or any(size < 1 for size in shape) or prod(shape) > MAX_VALUE:
        message = f"shape [{_listed(shape)}] holds no numbers, or more than {MAX_VALUE}"
        raise NetworkError(path, message, fix="give whole numbers above 0")


def names_batch(size: int | str) -> bool:
    """Whether an open axis is called after a batch."""
    return isinstance(size, str) and "batch" in size.lower()


def _is_named(size: int | str) -> TypeGuard[str]:
    return isinstance(size, str) and size != "?"


def _listed(shape: Sequence[int | str]) -> str:
    return ", ".join(map(str, shape))


def _all_listed(shapes: Mapping[str, Declared]) -> str:
    return " and ".join(f"[{_listed(shape)}]" for shape in shapes.values())
