"""Dataclasses as JSON: every field says once, in its metadata, how it is written, read and described in the schema.

A field is declared as `seconds: float = field(metadata=as_json(Form({"type": "number"})))`. From these forms come
`to_json`, `from_json` and the JSON Schema (2020-12), so that none of them can forget a field. An exact number is
written twice: as a float for readers, and under NAME_exact as text such as "1/10", which is what is read back. JSON
has no NaN and no infinity: they are null. Fields are only ever added, so what is not known is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

from eqspec.lazy_dataclass import dataclass

Schema: TypeAlias = Mapping[str, Any]
Change: TypeAlias = Callable[[Any], Any]
_KEY = "json"
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": Mapping,
    "null": type(None),
}


def unchanged(value: Any) -> Any:
    """The value itself."""
    return value


def finite(value: Any) -> Any:
    """The value as JSON can say it: a float that is not finite becomes null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Form:
    """The schema of a field, and how it is written and read. `exact` is the form of NAME_exact, which is read instead.

    A field that is not `required` may be missing in what an earlier version wrote; it then has its default.
    """

    schema: Schema
    write: Change = unchanged
    read: Change = unchanged
    required: bool = True
    exact: Form | None = None


class JsonObject:
    """A dataclass whose fields carry a `Form`. `DERIVED` are properties that are written, but not read."""

    DERIVED: ClassVar[Mapping[str, Form]] = {}

    def to_json(self) -> dict[str, Any]:
        """One object of the schema, of plain JSON types."""
        written: dict[str, Any] = {}
        for name, form in {**forms(type(self)), **self.DERIVED}.items():
            value = getattr(self, name)
            written[name] = form.write(value)
            if form.exact is not None:
                written[f"{name}_exact"] = form.exact.write(value)
        return written

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What `to_json` wrote; fields of later versions are passed over.

        KeyError where a required one is missing, ValueError where one is not of the type that its schema names.
        """
        found: dict[str, Any] = {}
        for name, form in forms(cls).items():
            key, stored = (name, form) if form.exact is None else (f"{name}_exact", form.exact)
            if form.required or key in data:
                _check(key, data[key], stored.schema)
                found[name] = stored.read(data[key])
        return cls(**found)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of one object."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        for name, form in {**forms(cls), **cls.DERIVED}.items():
            both = {name: form} if form.exact is None else {name: form, f"{name}_exact": form.exact}
            properties |= {key: dict(one.schema) for key, one in both.items()}
            required += both if form.required else ()
        return {"type": "object", "required": required, "properties": properties}


def _check(key: str, value: Any, schema: Schema) -> None:
    """ValueError unless a value has the type, and at least the minimum, of its schema. What it holds is not checked."""
    named = schema.get("type")
    if named is None:
        return
    kinds = [named] if isinstance(named, str) else named
    least = schema.get("minimum", -math.inf)
    if isinstance(value, int | float) and not (math.isfinite(value) and value >= least):
        raise ValueError(f"{key} = {value!r}, which is out of range")
    is_truth = isinstance(value, bool)  # which Python takes for an integer
    if not any(isinstance(value, _TYPES[kind]) and is_truth == (kind == "boolean") for kind in kinds):
        raise ValueError(f"{key} = {value!r}, which is not of the type {' or '.join(kinds)}")


def as_json(form: Form) -> dict[str, Form]:
    """A form as the metadata of a field."""
    return {_KEY: form}


def forms(cls: type[JsonObject]) -> dict[str, Form]:
    """The form of every field of a dataclass, in their order."""
    return {one.name: one.metadata[_KEY] for one in fields(cls)}  # type: ignore[arg-type]  # subclasses are dataclasses


def text(description: str = "") -> Form:
    """A string."""
    return Form(_described({"type": "string"}, description))


def optional_text(description: str = "", *, required: bool = True) -> Form:
    """A string or null."""
    return Form(_described({"type": ["string", "null"]}, description), required=required)


def flag(description: str, *, required: bool = True) -> Form:
    """True or false."""
    return Form({"type": "boolean", "description": description}, required=required)


def count(description: str = "", *, minimum: int = 0, required: bool = True) -> Form:
    """A whole number."""
    return Form(_described({"type": "integer", "minimum": minimum}, description), required=required)


def number(description: str = "", **limits: float) -> Form:
    """A finite number."""
    return Form(_described({"type": "number", **limits}, description))


def one_of(*words: str | None, description: str = "") -> Form:
    """One of some words."""
    return Form(_described({"enum": list(words)}, description))


def texts(*, optional: bool = False) -> Form:
    """A list of strings, or of strings and nulls, kept as a tuple."""
    return Form({"type": "array", "items": {"type": ["string", "null"] if optional else "string"}}, list, tuple)


def listed(item: Schema, description: str = "", write: Change = unchanged, read: Change = unchanged) -> Form:
    """A list, kept as a tuple."""
    schema = _described({"type": "array", "items": dict(item)}, description)
    return Form(schema, lambda values: [write(value) for value in values], lambda values: tuple(map(read, values)))


def table(item: Schema, description: str = "", write: Change = unchanged) -> Form:
    """An object from names to values."""
    schema = _described({"type": "object", "additionalProperties": dict(item)}, description)
    return Form(schema, lambda values: {name: write(value) for name, value in values.items()})


def reference(
    cls: type[JsonObject], name: str, description: str = "", *, required: bool = True, optional: bool = True
) -> Form:
    """Another object, or null where it is `optional`, described in the schema's definitions under a name."""
    there = {"$ref": f"#/$defs/{name}"}
    schema = {"oneOf": [{"type": "null"}, there]} if optional else there
    return Form(
        _described(schema, description),
        lambda value: None if value is None else value.to_json(),
        lambda data: cls.from_json(data) if data else None,
        required=required,
    )


EXACT: Schema = {"type": "string", "pattern": "^-?[0-9]+(/[1-9][0-9]*)?$", "description": "A rational number."}


def exact_number(description: str = "") -> Form:
    """A rational number."""
    return Form(
        _described({"type": "number"}, description), float, exact=Form({"$ref": "#/$defs/exact"}, str, Fraction)
    )


def optional_exact_number(description: str = "") -> Form:
    """A rational number or null."""
    return Form(
        _described({"type": ["number", "null"]}, description),
        lambda value: None if value is None else float(value),
        exact=Form(
            {"$ref": "#/$defs/exact_or_none"},
            lambda value: None if value is None else str(value),
            lambda data: None if data is None else Fraction(data),
        ),
    )


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description} if description else schema
