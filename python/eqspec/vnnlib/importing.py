"""Queries to specs: what a VNN-LIB file asks, as sentences about the same networks.

The file describes unsafe points and asks whether there are any, so its `unsat` is `equivalent` of all checks of the
spec together, and its `sat` is `different` of one of them. What no sentence says is refused with the assert that says
it (E601, E602, E611), never left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from eqspec.errors import Diagnostic, Label
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import read_network
from eqspec.property import Confidence, Epsilon, Linear, Margin, NeverSaturates, NeverWraps, Top1, exact
from eqspec.span import Span
from eqspec.spec import ast, printer
from eqspec.spec.findings import Fault, Findings, error
from eqspec.vnnlib import consistency, spec_terms
from eqspec.vnnlib.cases import Case
from eqspec.vnnlib.input_coupling import Coupled, couple, shares_input
from eqspec.vnnlib.input_regions import InputRegion, input_regions
from eqspec.vnnlib.joint_inputs import Joint, join
from eqspec.vnnlib.network_binding import Bound, Reader, Subject, bind
from eqspec.vnnlib.query import Comparison
from eqspec.vnnlib.reading import Read
from eqspec.vnnlib.sentences import Sentence, sentences
from eqspec.vnnlib.unique_warnings import UniqueWarnings

SPACE = "vnnlib"

MOST_CLAIMS = 10_000
"""The most claims about one area of inputs."""
MOST_SOLVED = 200
"""Alternatives of which each is put to the solver, to tell whether it is possible at all."""


@dataclass(frozen=True, eq=False)
class Imported:
    """A spec that says what a VNN-LIB file asks.

    `raw` is the network, if any, whose input is the raw input of the spec while the other takes it normalised. `empty`
    is the finding E602 where the asserts of an area cannot be met whatever the networks compute; it has no checks.
    `conjunctions` are cases that no check covers, with the number of their area. `joint` says how the spec's input is
    that of two networks which the file gives different ones.
    """

    file: ast.File
    subject: Subject
    warnings: tuple[Diagnostic, ...]
    raw: int | None
    empty: Diagnostic | None = None
    conjunctions: tuple[tuple[int, Case], ...] = ()
    joint: Joint | None = None

    @property
    def names(self) -> list[str]:
        """What the spec calls the networks."""
        return [d.name.text for d in self.file.declarations if isinstance(d, ast.Network)]

    @property
    def text(self) -> str:
        """The spec as a file, with a line that says where it comes from."""
        query = self.subject.query
        first, _, rest = printer.text(self.file).partition("\n")
        origin = Path(query.source.name).name
        about = f"# Imported from {origin} (VNN-LIB {query.version}), where 'unsat' means that all of this holds."
        return f"{first}\n{about}\n{rest}"


def import_query(
    read: Read,
    files: Mapping[str, Path] | None = None,
    folder: Path | None = None,
    *,
    network_reader: Reader = read_network,
    answering: bool = False,
    differences: bool = True,
) -> Imported:
    """The spec for a file that was read.

    `files` are the networks by the names they have in it, `folder` is where the spec will stand (None: paths are
    written absolute). SpecError with everything that is wrong. With `answering`, where the file is not to become a
    spec, E602 is handed on as `empty`, cases of several comparisons, or of none, as `conjunctions`, and two networks
    with different inputs become two over a `joint` input, for which there are no files: of entries or `differences`.
    """
    findings, notes = Findings(), UniqueWarnings()
    made: Imported | None = None
    joint: Joint | None = None
    with findings.collecting():
        subject = bind(read.query, files or {}, network_reader)
        for bound, declared in zip(subject.networks, subject.query.networks, strict=True):
            if bound.path is None:
                message = f"no file is given for network '{bound.name}': the spec says '{_placeholder(bound.name)}'"
                notes.add("W605", message, declared.span, f"--network {bound.name}=FILE")
        if answering and not shares_input(subject.query):
            joint = join(subject, differences=differences)
            subject = joint.subject
        made = _Importer(subject, notes, folder, answering=answering).run()
    findings.raise_errors()
    assert made is not None
    return replace(made, warnings=(*read.warnings, *notes.warnings), joint=joint)


def _placeholder(name: str) -> str:
    return f"{_identifier(name)}.onnx"


def _identifier(name: str) -> str:
    """A name that a spec can hold."""
    word = re.sub(r"\W", "_", name)
    return word if word[:1].isalpha() else f"n_{word}"


class _Importer:
    def __init__(self, subject: Subject, notes: UniqueWarnings, folder: Path | None, *, answering: bool) -> None:
        self._subject, self._notes, self._folder = subject, notes, folder
        self._answering = answering
        self._conjunctions: list[tuple[int, Case]] = []
        self._names = [_identifier(b.name) for b in subject.networks]
        if len(set(self._names)) < len(self._names):
            self._names = [f"{name}_{number}" for number, name in enumerate(self._names)]

    def run(self) -> Imported:
        subject = self._subject
        coupled = couple(subject.query)
        found = input_regions(subject.query, coupled.formulas, subject.inputs, self._notes)
        raw = None if coupled.same else _raw(coupled)
        empty: Diagnostic | None = None
        claims: list[list[Sentence]] = []
        silent = [area.unsafe == ((),) for area in found]
        if any(silent) and not all(silent) and not self._answering:  # checks of the others say too little
            span = subject.query.assertions[-1].span
            fix = "every input that meets it is an answer: see 'eqspec verify-vnnlib', or leave it out"
            raise Fault(error("E611", "an alternative says nothing about outputs", span, help=fix))
        for number, area in enumerate(found):
            try:
                claims.append(self._sentences(area, number))
            except Fault as fault:
                if not self._answering or fault.diagnostic is None or fault.diagnostic.code != "E602":
                    raise
                empty = fault.diagnostic
                claims.append([])
        decide = {s.decide for several in claims for s in several if not isinstance(s.claim, Epsilon | Linear)}
        if len(decide) > 1:
            span = subject.query.assertions[-1].span
            raise Fault(error("E611", "some asserts decide by the largest score and some by the smallest", span))
        declarations: list[ast.Declaration] = [self._space(coupled, raw, "min" in decide), *self._networks(raw)]
        declarations += self._regions(found, coupled, raw)
        declarations += self._checks(claims)
        return Imported(
            ast.File(ast.Number("1"), tuple(declarations)),
            subject,
            (),
            raw,
            empty,
            tuple(self._conjunctions),
        )

    def _sentences(self, area: InputRegion, number: int) -> list[Sentence]:
        """The claims of an area; none where the file says nothing about outputs."""
        subject = self._subject
        span = subject.query.assertions[-1].span
        if area.unsafe == ((),) and not self._answering:
            self._notes.add("W603", "nothing is asserted about outputs: the spec has no checks", span)
            return []
        found, rest = sentences(area.unsafe, len(subject.networks), subject.outputs)
        if len(found) + len(rest) > MOST_CLAIMS:
            message = f"the asserts come to {len(found) + len(rest)} claims; at most {MOST_CLAIMS} are decided"
            raise Fault(error("E612", message, span, help="split the file"))
        few = len(rest) <= MOST_SOLVED
        impossible = [case for case in rest if consistency.contradiction(case, solve=few)]
        if len(impossible) == len(area.unsafe):
            raise Fault(consistency.empty(impossible, span))
        for case in impossible:
            self._notes.add("W603", "an alternative that no outputs meet is left out", case[0].span)
        rest = [case for case in rest if case not in impossible] if impossible else rest
        if rest and self._answering and all(len(case) != 1 and all(c.linear for c in case) for case in rest):
            self._refuse_scores(rest)
            alike = consistency.agreement(area.unsafe)
            if alike is not None and alike.span is not None:
                self._notes.add(alike.code, alike.message, alike.span, alike.help)
            self._conjunctions += [(number, case) for case in rest]
        elif rest:
            raise Fault(consistency.agreement(area.unsafe) or _no_sentence(rest[0], area))
        for sentence in found:
            self._refuse_probabilities(sentence)
        return found

    def _refuse_scores(self, rest: Sequence[Case]) -> None:
        """E611 where a file ends in Softmax and a case depends on more than the order of its outputs."""
        networks = self._subject.networks
        for comparison in (c for case in rest for c in case):
            used = {e.network for e in comparison.elements}
            order = len(used) == 1 and not comparison.bound and [abs(c) for _, c in comparison.terms] == [1, 1]
            order = order and not sum(c for _, c in comparison.terms)
            softened = [networks[i] for i in used if (n := networks[i].network) is not None and n.stripped]
            if softened and not order:
                raise Fault(_about_probabilities(softened[0].name, comparison.span))

    def _refuse_probabilities(self, sentence: Sentence) -> None:
        """E611 where a file ends in Softmax and the asserts depend on more than the order of its outputs."""
        used = {sentence.reference, sentence.candidate}
        softened = [b for i, b in enumerate(self._subject.networks) if i in used and b.network and b.network.stripped]
        if not softened or _ordinal(sentence):
            return
        raise Fault(_about_probabilities(softened[0].name, self._subject.query.assertions[-1].span))

    def _space(self, coupled: Coupled, raw: int | None, smallest: bool) -> ast.Space:
        tensor = self._subject.query.networks[0].input
        assert tensor is not None
        shape = tensor.shape or (1,)
        clauses: list[ast.SpaceClause] = [ast.Shape(ast.ListOf(tuple(ast.Number(str(size)) for size in shape)))]
        if raw is None:
            clauses.append(ast.Normalise(ast.Name("none")))
        else:
            mean, std = _normalisation(coupled, raw)
            values = (("mean", mean), ("std", std))
            settings = [ast.Setting(ast.Name(k), ast.ListOf(tuple(map(spec_terms.number, v)))) for k, v in values]
            clauses.append(ast.Normalise(ast.Name("zscore"), tuple(settings)))
        clauses.append(ast.Outputs((), ast.Number(str(self._subject.outputs))))
        if smallest:
            clauses.append(ast.Decide(ast.Name("min")))
        return ast.Space(ast.Name(SPACE), tuple(clauses))

    def _networks(self, raw: int | None) -> list[ast.Network]:
        made = []
        for i, (name, bound) in enumerate(zip(self._names, self._subject.networks, strict=True)):
            takes = ast.Name("raw") if raw == i else None
            softened = bound.network is not None and bound.network.stripped is not None
            gives = ast.Name("logits") if softened else None  # only the order of its outputs is asked about
            made.append(ast.Network(ast.Name(name), ast.Text(self._path(bound)), spec_terms.name(SPACE), takes, gives))
        return made

    def _path(self, bound: Bound) -> str:
        if bound.path is None:
            return _placeholder(bound.name)
        absolute = bound.path.resolve()
        path = str(absolute) if self._folder is None else os.path.relpath(absolute, self._folder.resolve())
        path = Path(path).as_posix()
        if '"' in path or "\n" in path:
            span = self._subject.query.assertions[0].span
            raise Fault(error("E605", f"a spec cannot name the file {path!r}", span, help="rename it"))
        return path

    def _regions(self, found: Sequence[InputRegion], coupled: Coupled, raw: int | None) -> list[ast.Region]:
        scale, shift = coupled.scale, coupled.shift
        if raw != 1:  # the input of the first network is the raw one
            scale, shift = (Fraction(1),) * len(scale), (Fraction(0),) * len(shift)
        made = []
        for name, area in zip(_numbered("area", len(found)), found, strict=True):
            ends = zip(area.low, area.high, scale, shift, strict=True)
            bounds = [spec_terms.bound(f"x{i}", a * s + m, b * s + m) for i, (a, b, s, m) in enumerate(ends)]
            terms: list[ast.Term] = [ast.Box(tuple(bounds))]
            if area.joint:
                terms.append(ast.Where(tuple(_constraint(c, scale, shift) for c in area.joint)))
            made.append(ast.Region(ast.Name(name), (), spec_terms.name(SPACE), tuple(terms)))
        return made

    def _checks(self, claims: Sequence[Sequence[Sentence]]) -> list[ast.Check]:
        regions = _numbered("area", len(claims))
        stated = [(s, region) for several, region in zip(claims, regions, strict=True) for s in several]
        counts: dict[str, int] = {}
        for sentence, _ in stated:
            counts[_kind(sentence)] = counts.get(_kind(sentence), 0) + 1
        names = {kind: iter(_numbered(kind, count)) for kind, count in counts.items()}
        made = []
        for sentence, region in stated:
            clauses = (self._claim(sentence), ast.On(ast.Use(spec_terms.name(region))))
            made.append(ast.Check(ast.Name(next(names[_kind(sentence)])), clauses))
        return made

    def _claim(self, sentence: Sentence) -> ast.Claim:
        candidate, reference = self._names[sentence.candidate], self._names[sentence.reference]
        g, f = spec_terms.name(candidate), spec_terms.name(reference)
        match sentence.claim:
            case Epsilon(0, _, None):
                return ast.Equals(g, f)
            case Epsilon(eps, norm, outputs):
                listed = None if outputs is None else ast.ListOf(tuple(ast.Number(str(i)) for i in outputs))
                return ast.StaysWithin(g, spec_terms.number(exact(eps)), f, ast.Name(norm), listed)
            case Margin(margin):
                return ast.KeepsTop1(g, f, ast.Guard(ast.Name("margin"), ">=", spec_terms.number(exact(margin))))
            case Linear(ours, theirs, bound, strict):
                terms = [(exact(c), _output(candidate, i)) for i, c in enumerate(ours)]
                if candidate != reference:
                    terms += [(exact(c), _output(reference, i)) for i, c in enumerate(theirs)]
                operator = "<" if strict else "<="
                return ast.Satisfies(
                    g, ast.Comparison(spec_terms.linear(terms), operator, spec_terms.number(exact(bound)))
                )
            case Confidence(delta):
                return ast.KeepsTop1(g, f, ast.Guard(ast.Name("confidence"), ">=", spec_terms.number(exact(delta))))
            case Top1():
                return ast.KeepsTop1(g, f)
            case NeverWraps() | NeverSaturates():
                return ast.Never(g, ast.Name("wraps" if isinstance(sentence.claim, NeverWraps) else "saturates"))


def _raw(coupled: Coupled) -> int:
    """Which network's input to call raw: the one that leaves the shorter numbers for the normalisation."""

    def length(raw: int) -> int:
        return sum(len(str(n)) for numbers in _normalisation(coupled, raw) for n in numbers)

    return min((1, 0), key=length)


def _normalisation(coupled: Coupled, raw: int) -> tuple[list[Fraction], list[Fraction]]:
    """Mean and std with (raw - mean) / std as the other network's input."""
    if raw == 1:
        return list(coupled.shift), list(coupled.scale)
    pairs = list(zip(coupled.scale, coupled.shift, strict=True))
    return [-m / s for s, m in pairs], [1 / s for s, _ in pairs]


def _constraint(comparison: Comparison, scale: Sequence[Fraction], shift: Sequence[Fraction]) -> ast.Comparison:
    """A linear constraint on X_f, with X_f = (raw - shift) / scale."""
    bound, terms = comparison.bound, []
    for element, coefficient in comparison.coefficients.items():
        i = element.entry
        slope = coefficient / scale[i]
        bound += slope * shift[i]
        terms.append((slope, ast.Reference(spec_terms.name(f"x{i}"))))
    operator = "==" if comparison.relation == "==" else "<="
    return ast.Comparison(spec_terms.linear(terms), operator, spec_terms.number(bound))


def _output(network: str, index: int) -> ast.Reference:
    return ast.Reference(spec_terms.name(network), ast.Number(str(index)))


def _kind(sentence: Sentence) -> str:
    match sentence.claim:
        case Epsilon():
            return "close"
        case Linear():
            return "bound"
        case Top1() | Margin() | Confidence():
            return "alike"
        case NeverWraps() | NeverSaturates():
            return "contained"


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}_{number}" for number in range(1, count + 1)]


def _ordinal(sentence: Sentence) -> bool:
    """Whether only the order of one network's outputs counts, which a Softmax keeps."""
    match sentence.claim:
        case Top1():
            return True
        case Linear(ours, theirs, bound, _):
            used = [[exact(c) for c in row if exact(c)] for row in (ours, theirs)]
            pairs = [row for row in used if row]
            return exact(bound) == 0 and len(pairs) == 1 and len(pairs[0]) == 2 and not sum(pairs[0])
        case Epsilon() | Margin() | Confidence() | NeverWraps() | NeverSaturates():
            return False


def _about_probabilities(name: str, span: Span) -> Diagnostic:
    message = f"'{name}' ends in Softmax, and these asserts are about its probabilities, not its scores"
    return error("E611", message, span, help="only comparisons of its outputs with each other can be read")


def _no_sentence(case: Case, area: InputRegion) -> Diagnostic:
    """E611, at a case that no sentence covers."""
    if not case:
        return error("E611", "an alternative says nothing about outputs: everything would be unsafe", None)
    shown = " and ".join(f"'{' '.join(c.span.text.split())}'" for c in case[:3]) + (" ..." if len(case) > 3 else "")
    message = f"no sentence says that {shown} must not hold together"
    hint = "'satisfies' denies one comparison; 'keeps top1' needs a case for every pair of classes"
    both = len({e.network for c in case for e in c.elements}) == 2
    if both and len(area.unsafe) > 1 and all(c.relation == "<=" for c in case):
        hint += ", with a strict '>' for the second network, which may tie"
    labels = [Label(c.span, "and this") for c in case[1:3]]
    return error("E611", message, case[0].span, *labels, help=hint)
