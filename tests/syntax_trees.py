"""Syntax trees of every kind, built in memory: what hypothesis prints and reads back."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import strategies as st

from eqspec.spec import ast
from eqspec.spec.keywords import KEYWORDS

_LETTERS = "abcdefgxyzABZ_éß"
NAMES = st.builds(
    lambda first, rest: first + rest, st.sampled_from(_LETTERS), st.text(_LETTERS + "0123456789", max_size=5)
).filter(lambda word: word not in KEYWORDS)
DIGITS = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)
UNITS = st.from_regex(r"[a-zA-Z%/][a-zA-Z0-9 /^*]{0,5}[a-z0-9]", fullmatch=True)
TEXTS = st.text(st.characters(exclude_characters='"\n\r', exclude_categories=["Cs", "Cc"]), max_size=8)

name = st.builds(ast.Name, NAMES)
qualified = st.builds(ast.QualifiedName, st.lists(NAMES, min_size=1, max_size=2).map(tuple))
plain_number = st.builds(ast.Number, DIGITS)
number = st.builds(ast.Number, DIGITS, st.none() | UNITS)
quantity = st.builds(ast.Quantity, st.tuples(DIGITS, st.sampled_from(["s", "GB", "ms", "h"])).map("".join))
text = st.builds(ast.Text, TEXTS)
reference = st.builds(ast.Reference, qualified, st.none() | name | plain_number)
ATOMS = number | quantity | text | reference


Expressions: TypeAlias = st.SearchStrategy[ast.Expression]


def _pairs(signs: str, part: Expressions) -> st.SearchStrategy[tuple[tuple[str, ast.Expression], ...]]:
    return st.lists(st.tuples(st.sampled_from(signs), part), min_size=1, max_size=3).map(tuple)


def _larger(inner: Expressions) -> Expressions:
    """Expressions one level deeper, in parentheses wherever the grammar asks for them."""
    several = st.lists(inner, max_size=3).map(tuple)
    group = st.builds(ast.Group, inner)
    atom = ATOMS | group | st.builds(ast.ListOf, several) | st.builds(ast.Call, name, several)
    power = st.builds(ast.Power, atom, atom)
    factor = atom | power | st.builds(ast.Negation, atom | power)
    product = st.builds(ast.Product, factor, _pairs("*/", factor))
    return factor | product | st.builds(ast.Sum, factor | product, _pairs("+-", factor | product))


expression = st.recursive(ATOMS, _larger, max_leaves=6)
list_of = st.builds(ast.ListOf, st.lists(expression, max_size=3).map(tuple))
range_ = st.builds(ast.Range, expression, st.none() | expression)
comparison = st.builds(ast.Comparison, expression, st.sampled_from(["<=", ">=", "==", "<", ">"]), expression)
setting = st.builds(ast.Setting, name, expression)
settings = st.lists(setting, max_size=3).map(tuple)
doc = st.none() | st.lists(TEXTS.map(str.strip), min_size=1, max_size=2).map("\n".join).filter(bool)

feature = st.builds(ast.Feature, name, st.none() | UNITS)
features = st.lists(feature, min_size=1, max_size=4).map(tuple)
space_clause = st.one_of(
    st.builds(ast.Features, features),
    st.builds(ast.FeaturesFrom, expression, st.none() | range_),
    st.builds(ast.Shape, list_of),
    st.builds(ast.Normalise, name, settings),
    st.builds(ast.NormaliseFrom, name, expression),
    st.builds(ast.Domain, range_),
    st.builds(ast.Outputs, features) | st.builds(ast.Outputs, st.just(()), plain_number),
    st.builds(ast.Decide, name),
)
subject = st.none() | name
bound = st.one_of(
    st.builds(ast.Within, subject, expression, st.booleans(), st.none() | expression),
    st.builds(ast.Ranged, subject, range_),
    st.builds(ast.Fixed, subject, range_),
)
spacing = st.builds(ast.Spacing, subject, expression, st.booleans(), st.none() | expression)
rows = st.builds(
    lambda listed, path, columns, drawn: ast.Rows(listed, path, columns, *(drawn or (None, None))),
    st.lists(range_, max_size=2).map(tuple),
    expression,
    st.none() | range_,
    st.none() | st.tuples(expression, st.none() | expression),
)
centre = st.one_of(st.builds(ast.Mean), st.builds(ast.Point, expression), rows)
use = st.builds(ast.Use, qualified, st.lists(expression, max_size=2).map(tuple))
term = st.one_of(
    st.builds(ast.Box, st.lists(bound, max_size=4).map(tuple)),
    st.builds(ast.Ball, name, expression, st.booleans(), centre),
    st.builds(ast.Where, st.lists(comparison, min_size=1, max_size=3).map(tuple)),
    st.builds(ast.Grid, st.lists(spacing, max_size=3).map(tuple)),
    st.builds(ast.Data, text, expression, st.none() | range_, st.none() | expression),
    use,
)
guard = st.none() | st.builds(ast.Guard, name, st.sampled_from(["<=", ">=", ">"]), expression)
compared = qualified | st.builds(ast.Applied, qualified, st.lists(expression, min_size=1, max_size=2).map(tuple))
claim = st.one_of(
    st.builds(ast.StaysWithin, compared, expression, compared, st.none() | name, st.none() | list_of, guard),
    st.builds(ast.Equals, compared, compared, guard),
    st.builds(ast.KeepsTop1, compared, compared, guard),
    st.builds(ast.Satisfies, compared, comparison, guard),
    st.builds(ast.Never, compared, name, guard),
)
number_type = st.builds(ast.NumberType, name, st.lists(expression, max_size=3).map(tuple))
type_of = st.builds(ast.TypeOf, name, number_type)
calibration = st.none() | st.tuples(expression, st.none() | range_)
precision = st.one_of(
    st.builds(
        lambda held, per, table: ast.QuantisedTo(held, per, *(table or (None, None))),
        number_type,
        st.none() | name,
        calibration,
    ),
    st.builds(ast.HeldAs, number_type, st.lists(type_of, max_size=3).map(tuple)),
)
integer_end = st.builds(ast.IntegerEnd, name, expression, st.none() | expression, st.none() | text)
dequantised = st.none() | st.builds(ast.Dequantised, st.lists(integer_end, max_size=2).map(tuple))
budget = st.builds(ast.Budget, settings)
check_clause = st.one_of(
    claim,
    st.builds(ast.On, use),
    st.builds(ast.For, name, expression),
    st.builds(ast.Find, name, name, range_, st.none() | expression),
    st.builds(ast.Expect, name, st.none() | comparison),
    st.builds(ast.Arithmetic, name),
    st.builds(ast.Tags, st.lists(name, min_size=1, max_size=3).map(tuple)),
    budget,
)
declaration = st.one_of(
    st.builds(ast.Include, text, st.none() | name, doc),
    st.builds(ast.Let, name, expression, doc),
    st.builds(ast.Param, name, expression, doc),
    st.builds(ast.Space, name, st.lists(space_clause, max_size=4).map(tuple), doc),
    st.builds(
        ast.Network,
        name,
        expression,
        qualified,
        st.none() | name,
        st.none() | name,
        st.none() | expression,
        dequantised,
        doc,
    ),
    st.builds(
        ast.DerivedNetwork,
        name,
        st.lists(name, max_size=2).map(tuple),
        qualified,
        precision,
        st.none() | qualified,
        doc,
    ),
    st.builds(
        ast.Region,
        name,
        st.lists(name, max_size=2).map(tuple),
        qualified,
        st.lists(term, min_size=1, max_size=3).map(tuple),
        doc,
    ),
    st.builds(ast.Check, name, st.lists(check_clause, max_size=4).map(tuple), doc),
    st.builds(ast.Budget, settings, doc),
)


def files() -> st.SearchStrategy[ast.File]:
    """Whole files."""
    return st.builds(ast.File, st.just(ast.Number("1")), st.lists(declaration, max_size=5).map(tuple))
