"""Results of every kind for property tests: what may come out of a task, sensible or not."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from eqspec.tasks.bracket import Bracket, Probe
from eqspec.tasks.question import Question, Range
from eqspec.tasks.result import Result
from eqspec.tasks.search_statistics import Moment, OpenBox, Sampled, Undecided
from eqspec.tasks.verdict import Reason, Verdict
from eqspec.tasks.witness import Witness

names = st.text("abcdefgh<&'\"é ", min_size=1, max_size=5)
anything = st.floats(allow_nan=True, allow_infinity=True)
counts = st.integers(0, 10**9)


@st.composite
def witnesses(draw: st.DrawFn) -> Witness:
    size, outputs = draw(st.integers(1, 3)), draw(st.lists(names, min_size=1, max_size=3, unique=True))
    fractions = st.tuples(*[st.fractions(max_denominator=10**12)] * size)
    return Witness(
        normalised=draw(fractions),
        raw=draw(fractions),
        features=tuple(draw(st.lists(names, min_size=size, max_size=size, unique=True))),
        units=tuple(draw(st.lists(st.none() | names, min_size=size, max_size=size))),
        outputs=tuple(outputs),
        reference=draw(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * len(outputs))),
        candidate=draw(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * len(outputs))),
        confidence=draw(st.none() | st.floats(0, 1)),
        statement=draw(st.text()),
        onnxruntime_confirms=draw(st.none() | st.booleans()),
        onnxruntime_reason=draw(st.none() | st.text()),
        onnxruntime_default_confirms=draw(st.none() | st.booleans()),
    )


@st.composite
def brackets(draw: st.DrawFn) -> Bracket:
    number, maybe = st.fractions(0, 10), st.none() | st.fractions(0, 10)
    probe = st.builds(Probe, number, st.sampled_from(Verdict).map(str), st.none() | names, st.floats(0, 9), counts)
    return Bracket(
        variable=draw(names),
        direction=draw(st.sampled_from(["smallest", "largest"])),
        low=draw(number),
        high=draw(number),
        width=draw(maybe),
        proved=draw(maybe),
        refuted=draw(maybe),
        gap=draw(st.sampled_from(["closed", "budget"])),
        probes=tuple(draw(st.lists(probe, max_size=2))),
        witness=draw(st.none() | witnesses()),
    )


moments = st.builds(Moment, st.integers(0, 999), st.floats(0, 1), counts, counts)
shares = st.floats(0, 1)
edges = st.tuples(shares, shares).map(lambda edge: (min(edge), max(edge)))


@st.composite
def undecided(draw: st.DrawFn) -> Undecided:
    size = draw(st.integers(1, 4))
    boxes = st.builds(OpenBox, shares, st.dictionaries(st.integers(0, size - 1), edges, max_size=3))
    return Undecided(
        share=draw(shares),
        features=tuple(draw(st.lists(names, min_size=size, max_size=size))),
        units=tuple(draw(st.lists(st.none() | names, min_size=size, max_size=size))),
        lower=(0.0,) * size,
        upper=tuple(draw(st.lists(shares, min_size=size, max_size=size))),
        sample=tuple(draw(st.lists(boxes, max_size=3))),
    )


sampled = st.builds(
    Sampled,
    st.integers(1, 99),
    st.dictionaries(names, shares),
    st.lists(counts, min_size=1, max_size=3).map(tuple),
    st.none() | shares,
    counts,
)


floats = st.none() | st.floats(allow_nan=False, allow_infinity=False)
questions = st.builds(
    Question,
    words=names,
    ranges=st.lists(st.builds(Range, names, st.none() | names, *[floats] * 6), max_size=1).map(tuple),
    left_out=counts,
    constraints=st.lists(st.text(), max_size=2).map(tuple),
    points=st.text(),
    row=st.none() | counts,
    normalised=st.booleans(),
    arithmetic=st.sampled_from(["real", "float32"]),
    written=st.text(),
)


@st.composite
def efforts(draw: st.DrawFn) -> dict[str, Any]:
    seconds = draw(st.dictionaries(names, st.floats(0, 1e6), max_size=2))
    return {"seconds": seconds} | {name: draw(counts) for name in ("flops", "obligations", "asked", "depth")}


@st.composite
def worst_boxes(draw: st.DrawFn) -> dict[str, Any]:
    corners = {end: draw(st.lists(st.floats(-9, 9), max_size=2)) for end in ("lower", "upper")}
    bound = draw(st.floats(0, 9) | st.just(math.inf))
    return {"bound": bound, "depth": draw(counts), **corners, "obligations": draw(st.lists(counts, max_size=2))}


@st.composite
def results(draw: st.DrawFn) -> Result:
    verdict = draw(st.sampled_from(Verdict))
    network = {"name": draw(names), "path": draw(st.text()), "sha256": "0" * 64}
    return Result(
        id=draw(names),
        check=draw(names),
        parameters=draw(st.dictionaries(names, st.fractions(), max_size=3)),
        verdict=verdict,
        reason=draw(st.sampled_from(Reason)) if verdict is Verdict.UNKNOWN else None,
        message=draw(st.none() | st.text()),
        vacuous=draw(st.booleans()) and verdict is Verdict.EQUIVALENT,
        expected=draw(st.sampled_from(["equivalent", "different", "unknown", "vacuous", None])),
        seconds=draw(st.floats(0, 1e6)),
        boxes=draw(counts),
        splits=draw(counts),
        lps=draw(counts),
        initial_bound=draw(st.none() | anything),
        certified_fraction=draw(st.floats(0, 1)),
        open_boxes=draw(counts),
        stages=draw(st.dictionaries(names, counts, max_size=2)),
        effort=draw(efforts()),
        worst_open=draw(st.none() | worst_boxes()),
        witness=draw(witnesses()) if verdict is Verdict.DIFFERENT else None,
        find=draw(st.none() | brackets()),
        claim=draw(st.text()),
        tags=tuple(draw(st.lists(names, max_size=2))),
        settings={"timeout": draw(st.none() | anything)},
        networks={"reference": network, "candidate": network},
        engine_version="0.1.0",
        source=draw(st.none() | st.text()),
        history=tuple(draw(st.lists(moments, max_size=3))),
        undecided=draw(st.none() | undecided()),
        sampled=draw(st.none() | sampled),
        certificate=draw(st.none() | names),
        uncertified=draw(st.none() | names),
        question=draw(st.none() | questions),
    )
