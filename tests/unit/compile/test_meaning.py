"""What a spec means, clause by clause, as exact numbers in the compiled task."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import Compiled
from eqspec.compile.boxes import BoxBuilder
from eqspec.compile.scalers import Scaler
from eqspec.errors import SpecError
from eqspec.property import Confidence, Epsilon, Linear, Margin, Top1
from eqspec.span import Source, Span
from eqspec.spec import ast
from eqspec.spec.findings import Fault
from eqspec.spec.program import Module
from eqspec.spec.region_terms import BallAround, RowsOf, Terms
from eqspec.spec.spaces import SpaceFacts
from eqspec.tasks.task import LinearConstraint, Task

Compile = Callable[..., Compiled]
F = Fraction
JET = (
    "space s { features a [ft], b normalise zscore mean [10, -1/3] std [3, 0.1] outputs y, z }\n"
    'network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s\n'
)
PLAIN = 'space s { features a, b outputs y, z } network f = "2x2.onnx" in s network g = "2x2-b.onnx" in s\n'


def region(compiled: Compile, terms: str, head: str = JET) -> Task:
    (task,) = compiled(f"{head} region r in s = {terms} check c {{ prove g keeps top1 of f on r }}").tasks
    return task


def claim(compiled: Compile, sentence: str, head: str = JET) -> Task:
    text = f"{head} region r in s = box {{ all: 0 .. 1 }} check c {{ prove {sentence} on r }}"
    (task,) = compiled(text).tasks
    return task


def box(task: Task) -> list[tuple[F, F]]:
    return list(zip(task.lower_exact, task.upper_exact, strict=True))


class TestNormalisation:
    def test_a_sigma_box_is_the_same_number_in_every_input(self, compiled: Compile) -> None:
        task = region(compiled, "box { all within 0.1 sigma }")
        assert box(task) == [(F(-1, 10), F(1, 10))] * 2

    def test_sigma_around_another_centre(self, compiled: Compile) -> None:
        task = region(compiled, "box { all within 1 sigma a within 2 sigma of 13 }")
        assert box(task)[0] == (F(13 - 10, 3) - 2, F(13 - 10, 3) + 2)

    def test_raw_bounds_go_through_zscore(self, compiled: Compile) -> None:
        task = region(compiled, "box { a: 1 [ft] .. 2  b = 0.1 }")
        assert box(task) == [(F(1 - 10, 3), F(2 - 10, 3)), (F("0.1") * 10 + F(10, 3),) * 2]

    def test_raw_bounds_go_through_minmax(self, compiled: Compile) -> None:
        head = PLAIN.replace("outputs", "normalise minmax low [0, 10] high 255 outputs")
        task = region(compiled, "box { a: 51 .. 255 b: 10 .. 11 }", head)
        assert box(task) == [(F(1, 5), F(1)), (F(0), F(1, 245))]
        assert (task.space.centre, task.space.scale) == ((F(0), F(10)), (F(255), F(245)))

    def test_without_normalisation_raw_is_what_the_network_takes(self, compiled: Compile) -> None:
        assert box(region(compiled, "box { a: 1 .. 2 b: 3 .. 4 }", PLAIN)) == [(F(1), F(2)), (F(3), F(4))]

    def test_raw_is_centre_plus_scale_times_x(self, compiled: Compile) -> None:
        task = region(compiled, "box { a: 1 .. 2 b: 3 .. 4 }")
        raw = [c + s * x for c, s, x in zip(task.space.centre, task.space.scale, task.lower_exact, strict=True)]
        assert raw == [1, 3]

    def test_a_network_that_takes_raw_gets_the_normalisation_in_front(self, compiled: Compile) -> None:
        head = JET.replace('"2x2-b.onnx" in s', '"2x2-b.onnx" in s takes raw')
        task = region(compiled, "box { all within 1 sigma }", head)
        assert (task.reference_takes_raw, task.candidate_takes_raw) == (False, True)
        x = [F(1, 7), F(-2, 3)]
        raw = [c + s * v for c, s, v in zip(task.space.centre, task.space.scale, x, strict=True)]
        found, wanted = task.candidate.evaluate_exact(x), task.reference.evaluate_exact(raw)
        for (low, high), (exact, _) in zip(found, wanted, strict=True):
            assert low <= exact <= high
            assert high - low < F(1, 10**12)


class TestRounding:
    def test_floats_enclose_the_exact_box_as_tightly_as_floats_can(self, compiled: Compile) -> None:
        task = region(compiled, "box { a: 1/3 .. 2/3 b: 0.1 .. 0.1 }", PLAIN)
        for i in range(2):
            low, high = float(task.lower[i]), float(task.upper[i])
            assert F(low) <= task.lower_exact[i] <= task.upper_exact[i] <= F(high)
            assert F(np.nextafter(low, np.inf)) > task.lower_exact[i]
            assert F(np.nextafter(high, -np.inf)) < task.upper_exact[i]
        assert task.lower[1] < task.upper[1]

    def test_a_point_that_a_float_holds_stays_a_point(self, compiled: Compile) -> None:
        task = region(compiled, "box { a = 0.5 b: -0.25 .. -0.25 }", PLAIN)
        assert task.lower.tolist() == task.upper.tolist() == [0.5, -0.25]

    def test_decimals_are_decimals_and_not_floats(self, compiled: Compile) -> None:
        assert box(region(compiled, "box { all: 0.1 .. 0.1 + 0.2 }", PLAIN))[0] == (F(1, 10), F(3, 10))

    def test_numbers_beyond_floats_are_refused(self, compiled: Compile) -> None:
        with pytest.raises(SpecError, match="beyond the range of floats"):
            region(compiled, "box { all: 0 .. 10^310 }", PLAIN)


class TestRegions:
    def test_terms_intersect(self, compiled: Compile) -> None:
        task = region(
            compiled, "box { all: 0 .. 5 } and box { a: -1 .. 3 b: 2 .. 9 } and ball linf 2 around point [4, 4]", PLAIN
        )
        assert box(task) == [(F(2), F(3)), (F(2), F(5))]

    def test_the_domain_is_part_of_every_region_and_bounds_what_is_left_out(self, compiled: Compile) -> None:
        head = PLAIN.replace("outputs", "domain 0 .. 10 outputs")
        assert box(region(compiled, "box { a: -5 .. 5 }", head)) == [(F(0), F(5)), (F(0), F(10))]

    def test_named_bounds_win_over_all(self, compiled: Compile) -> None:
        first = region(compiled, "box { all: 0 .. 1 a: 0 .. 2 }", PLAIN)
        second = region(compiled, "box { a: 0 .. 2 all: 0 .. 1 }", PLAIN)
        assert box(first) == box(second) == [(F(0), F(2)), (F(0), F(1))]

    def test_balls(self, compiled: Compile) -> None:
        assert box(region(compiled, "ball linf 6 around mean")) == [(F(-2), F(2)), (F(-60), F(60))]
        assert box(region(compiled, "ball linf 2 sigma around mean")) == [(F(-2), F(2))] * 2
        point = region(compiled, "ball linf 3 around point [10, 0]")
        assert box(point) == [(F(-1), F(1)), (F(10, 3) - 30, F(10, 3) + 30)]
        half = region(compiled, "ball linf 1/2 sigma around point [13, 0]")
        assert box(half)[0] == (F(1, 2), F(3, 2))

    def test_formal_parameters(self, compiled: Compile) -> None:
        text = JET + (
            "region wide(k, w) in s = box { all within k sigma } and box { a: 10 - w .. 10 + w b: -9 .. 9 }"
            " region r in s = wide(2, 1.5) check c { prove g keeps top1 of f on r }"
        )
        assert box(compiled(text).tasks[0]) == [(F(-1, 2), F(1, 2)), (F(-2), F(2))]

    def test_constraints_become_network_units(self, compiled: Compile) -> None:
        task = region(compiled, "box { all within 1 sigma } and where { 2*a - b <= 21, a + b >= 9 }")
        assert task.constraints == (
            LinearConstraint((F(6), F(-1, 10)), 21 - 20 - F(1, 3)),
            LinearConstraint((F(-3), F(-1, 10)), -9 + 10 - F(1, 3)),
        )

    def test_a_constraint_holds_raw_exactly_where_it_holds_in_network_units(self, compiled: Compile) -> None:
        task = region(compiled, "box { all within 1 sigma } and where { 2*a - b <= 21 }")
        (constraint,) = task.constraints
        for x in ([F(1), F(1, 3)], [F(1, 9), F(0)], [F(1, 10), F(-2, 3)]):
            raw = [c + s * v for c, s, v in zip(task.space.centre, task.space.scale, x, strict=True)]
            inside = sum(c * v for c, v in zip(constraint.coefficients, x, strict=True)) <= constraint.bound
            assert inside == (2 * raw[0] - raw[1] <= 21)

    def test_an_equation_is_two_inequalities(self, compiled: Compile) -> None:
        task = region(compiled, "box { all: 0 .. 1 } and where { a == b }", PLAIN)
        assert task.constraints == (LinearConstraint((F(1), F(-1)), F(0)), LinearConstraint((F(-1), F(1)), F(0)))

    def test_constraints_on_one_input_are_bounds(self, compiled: Compile) -> None:
        task = region(compiled, "where { a >= 1, 2*a <= 8, b == 1/3, 3 <= a + 0*b }", PLAIN)
        assert task.constraints == ()
        assert box(task) == [(F(3), F(4)), (F(1, 3), F(1, 3))]

    def test_an_empty_region_may_be_expected(self, compiled: Compile) -> None:
        text = PLAIN + (
            "region r in s = box { all: 0 .. 1 } and where { a + b >= 3 }"
            " check c { prove g keeps top1 of f on r expect vacuous }"
        )
        assert compiled(text).tasks[0].expected == "vacuous"

    def test_a_region_that_only_touches_is_not_empty(self, compiled: Compile) -> None:
        task = region(compiled, "box { all: 0 .. 1 } and where { a + b >= 2, a - b == 0 }", PLAIN)
        assert len(task.constraints) == 3


class TestClaims:
    def test_distances(self, compiled: Compile) -> None:
        assert claim(compiled, "g stays within 0.05 of f").property == Epsilon(F(1, 20), "linf", None)
        assert claim(compiled, "g stays within 1 of f in l1").property == Epsilon(F(1), "l1", None)
        assert claim(compiled, "g stays within 2/3 of f in l2 comparing [z]").property == Epsilon(F(2, 3), "l2", (1,))
        assert claim(compiled, "g stays within 1 of f comparing [1, y]").property == Epsilon(F(1), "linf", (1, 0))

    def test_decisions(self, compiled: Compile) -> None:
        assert claim(compiled, "g keeps top1 of f").property == Top1()
        assert claim(compiled, "g keeps top1 of f when margin >= 1/3").property == Margin(F(1, 3))
        assert claim(compiled, "g keeps top1 of f when confidence >= 1 - 1e-7").property == Confidence(1 - F(1, 10**7))

    def test_a_confidence_of_at_most_one_class_in_n_is_plain_top1(self, compiled: Compile) -> None:
        assert claim(compiled, "g keeps top1 of f when confidence >= 0.5").property == Top1()
        assert claim(compiled, "g keeps top1 of f when confidence >= 0.51").property == Confidence(F(51, 100))

    def test_the_sides_are_not_interchangeable(self, compiled: Compile) -> None:
        task = claim(compiled, "g keeps top1 of f")
        assert (task.candidate_name, task.reference_name) == ("g", "f")
        assert task.candidate.source.endswith("2x2-b.onnx")

    @pytest.mark.parametrize(
        ("sentence", "candidate", "reference", "bound", "strict"),
        [
            ("g[y] - f[y] <= 0.02", (1, 0), (-1, 0), F(1, 50), False),
            ("g[y] - f[y] < 0.02", (1, 0), (-1, 0), F(1, 50), True),
            ("2*g[z] + 1 >= f[0]/3", (0, -2), (F(1, 3), 0), F(1), False),
            ("3 > g[y]", (1, 0), (0, 0), F(3), True),
            ("-(g[y] - 2) <= f[z] - (f[z] - 4)", (-1, 0), (0, 0), F(2), False),
        ],
    )
    def test_inequalities(
        self,
        compiled: Compile,
        sentence: str,
        candidate: tuple[F, ...],
        reference: tuple[F, ...],
        bound: F,
        strict: bool,
    ) -> None:
        assert claim(compiled, f"g satisfies {sentence}").property == Linear(candidate, reference, bound, strict)

    def test_the_smallest_score_may_decide(self, compiled: Compile) -> None:
        assert (
            claim(compiled, "g keeps top1 of f", PLAIN.replace("outputs", "decide min outputs")).space.decide == "min"
        )

    def test_softmax_is_read_off(self, compiled: Compile) -> None:
        head = PLAIN.replace('"2x2.onnx" in s', '"2x2-softmax.onnx" in s')
        assert claim(compiled, "g keeps top1 of f", head).reference.stripped == "softmax"
        probabilities = head.replace('softmax.onnx" in s', 'softmax.onnx" in s gives probabilities')
        assert claim(compiled, "g keeps top1 of f when confidence >= 0.9", probabilities).property == Confidence(
            F(9, 10)
        )


class TestGrid:
    def test_tasks_come_in_the_order_of_the_sweeps(self, compiled: Compile) -> None:
        text = JET + (
            "region core(k) in s = box { all within k sigma } check c { prove g keeps top1 of f when confidence >= d"
            " on core(k) for k in [0.1, 8/255] for d in [1 - 1e-1, 1 - 1e-7] }"
        )
        tasks = compiled(text).tasks
        assert [t.id for t in tasks] == [
            "c[k=0.1,d=0.9]",
            "c[k=0.1,d=0.9999999]",
            "c[k=8/255,d=0.9]",
            "c[k=8/255,d=0.9999999]",
        ]
        assert list(tasks[2].parameters.items()) == [("k", F(8, 255)), ("d", F(9, 10))]
        assert tasks[2].upper_exact == (F(8, 255),) * 2

    def test_expectations_follow_their_conditions(self, compiled: Compile) -> None:
        text = PLAIN + (
            "region r in s = box { all: 0 .. 1 } check c { prove g stays within e of f on r for e in [1, 2, 3, 4]"
            " expect different if e < 2 expect equivalent if e >= 3 expect equivalent if e == 4 }"
        )
        assert [t.expected for t in compiled(text).tasks] == ["different", None, "equivalent", "equivalent"]

    def test_budgets_come_from_the_file_and_from_the_check(self, compiled: Compile) -> None:
        text = (
            'include "b.eqspec" as b\n'
            + PLAIN
            + (
                "budget { timeout 1min threads 2 } region r in s = box { all: 0 .. 1 }"
                " check c { prove g keeps top1 of f on r budget { timeout 250ms memory 1.5GB } tags slow, lhc }"
                " check d { prove g keeps top1 of f on r }"
            )
        )
        first, second = compiled(text, b__eqspec="eqspec 1 budget { jobs 3 threads 8 }").tasks
        assert (first.budget.timeout, first.budget.memory, first.budget.threads, first.budget.jobs) == (
            0.25,
            1_500_000_000,
            2,
            3,
        )
        assert (second.budget.timeout, second.budget.memory) == (60.0, None)
        assert first.tags == ("slow", "lhc")

    def test_rows_make_one_task_each(self, compiled: Compile) -> None:
        text = PLAIN.replace("outputs", "domain 0 .. 255 normalise minmax low 0 high 255 outputs") + (
            'region near(r) in s = ball linf r around rows 0..1, 3 of "rows.csv" columns 1..2'
            " check c { prove g keeps top1 of f on near(radius) for radius in [3, 2/255] }"
        )
        tasks = compiled(text, rows__csv="label,p,q\n7,0,255\n8,10,20.5\n9,0,0\n1,100,254\n").tasks
        assert [t.id for t in tasks[:4]] == [
            "c[radius=3,row=0]",
            "c[radius=3,row=1]",
            "c[radius=3,row=3]",
            "c[radius=2/255,row=0]",
        ]
        assert box(tasks[0]) == [(F(0), F(3, 255)), (F(252, 255), F(1))]
        assert box(tasks[1]) == [(F(7, 255), F(13, 255)), (F("17.5") / 255, F("23.5") / 255)]
        assert box(tasks[2])[1] == (F(251, 255), F(1))

    def test_only_some_checks_read_only_their_networks(self, compiled: Compile, reader: object) -> None:
        text = PLAIN + (
            'network h = "2x2-softmax.onnx" in s region r in s = box { all: 0 .. 1 }'
            " check near { prove g keeps top1 of f on r } check far { prove h keeps top1 of f on r }"
        )
        assert [t.check for t in compiled(text, only=["n*"]).tasks] == ["near"]
        assert sorted(reader.read) == ["2x2-b.onnx", "2x2.onnx"]  # type: ignore[attr-defined]
        with pytest.raises(SpecError, match="no check named 'nearr'"):
            compiled(text, only=["nearr"])

    def test_a_file_is_read_once_and_shared(self, compiled: Compile, reader: object) -> None:
        text = PLAIN + (
            'network again = "2x2.onnx" in s region r in s = box { all: 0 .. 1 }'
            " check c { prove g stays within e of again on r for e in [1, 2] }"
        )
        tasks = compiled(text).tasks
        assert reader.read.count("2x2.onnx") == 1  # type: ignore[attr-defined]
        assert tasks[0].reference is tasks[1].reference

    def test_a_file_without_checks_has_no_tasks(self, compiled: Compile) -> None:
        found = compiled("")
        assert (found.tasks, found.finds, found.diagnostics) == ((), (), ())


@given(
    row=st.lists(st.fractions(-5, 260, max_denominator=50), min_size=2, max_size=2),
    radius=st.fractions(0, 300, max_denominator=20),
    scale=st.fractions(F(1, 9), 300, max_denominator=9),
    centre=st.fractions(-9, 9, max_denominator=9),
)
def test_boxes_around_rows_are_the_ball_cut_by_the_domain(row: list[F], radius: F, scale: F, centre: F) -> None:
    """The shared results of inputs that are alike, against the definition for each input alone."""
    span = Span(Source("x", ""), 0, 0)
    module = Module(span.source, None, ast.File(ast.Number("1"), ()))  # type: ignore[arg-type]
    rows = RowsOf((0,), "", None, module, ast.Rows((), ast.Text("")))
    features = (("a", None), ("b", None))
    space = SpaceFacts(None, features, features, "none", None, (F(0), F(255)), "max")  # type: ignore[arg-type]
    builder = BoxBuilder(
        "r", span, Terms(balls=[BallAround(radius, False, rows, span)]), space, Scaler((centre,) * 2, (scale,) * 2)
    )
    wanted = [(max(x - radius, F(0)), min(x + radius, F(255))) for x in row]
    if any(low > high for low, high in wanted):
        with pytest.raises(Fault):
            list(builder.build([(0, tuple(row))]))
        return
    (found,) = builder.build([(0, tuple(row))])
    raw = [
        (centre + scale * low, centre + scale * high)
        for low, high in zip(found.lower_exact, found.upper_exact, strict=True)
    ]
    assert raw == wanted
