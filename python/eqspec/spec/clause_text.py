"""Each node of the syntax tree as text with newlines where a line may be broken; as spaces they make one line of it.

Parentheses are added where a tree built in memory needs them to mean what it says.
"""

from __future__ import annotations

from eqspec.spec import ast

_KEYWORDS: dict[type[ast.Node], str] = {
    ast.Features: "features",
    ast.FeaturesFrom: "features",
    ast.Shape: "shape",
    ast.Normalise: "normalise",
    ast.NormaliseFrom: "normalise",
    ast.Domain: "domain",
    ast.Outputs: "outputs",
    ast.Decide: "decide",
    ast.StaysWithin: "prove",
    ast.Equals: "prove",
    ast.KeepsTop1: "prove",
    ast.Satisfies: "prove",
    ast.Never: "prove",
    ast.On: "on",
    ast.For: "for",
    ast.Find: "find",
    ast.Expect: "expect",
    ast.Arithmetic: "arithmetic",
    ast.Tags: "tags",
    ast.Budget: "budget",
}


def keyword(node: ast.Node) -> str:
    """The word a clause starts with."""
    return _KEYWORDS[type(node)]


def clause(node: ast.Node) -> str:
    """The text of any node below a declaration."""
    match node:
        case ast.Features(features):
            return f"features {_features(features)}"
        case ast.FeaturesFrom(path, columns):
            return f"features from {expression(path)}" + (f"\ncolumns {_counted(columns)}" if columns else "")
        case ast.Shape(sizes):
            return f"shape {expression(sizes)}"
        case ast.Normalise(kind, settings):
            return "\n".join([f"normalise {kind}", *map(clause, settings)])
        case ast.NormaliseFrom(kind, path):
            return f"normalise {kind} from {expression(path)}"
        case ast.Domain(of):
            return f"domain {range_(of)}"
        case ast.Outputs(outputs, count):
            return f"outputs {_features(outputs) if count is None else expression(count)}"
        case ast.Decide(word):
            return f"decide {word}"
        case ast.Budget(settings):
            inner = " ".join(map(clause, settings))
            return f"budget {{ {inner} }}" if inner else "budget { }"
        case ast.Setting(key, value):
            return f"{key} {expression(value)}"
        case ast.StaysWithin() | ast.Equals() | ast.KeepsTop1() | ast.Satisfies() | ast.Never():
            return f"prove {_claim(node)}"
        case ast.Guard(word, operator, threshold):
            return f"when {word} {operator} {expression(threshold)}"
        case ast.On(used):
            return f"on {term(used)}"
        case ast.For(variable, values):
            return f"for {variable} in {expression(values)}"
        case ast.Find(direction, variable, of, width):
            return f"find {direction} {variable}\nin {range_(of)}" + (f"\nto {expression(width)}" if width else "")
        case ast.Expect():
            return f"expect {expect(node)}"
        case ast.Arithmetic(word):
            return f"arithmetic {word}"
        case ast.Tags(tags):
            return "tags " + ",\n".join(t.text for t in tags)
        case ast.Within() | ast.Ranged() | ast.Fixed():
            return _bound(node)
        case ast.Spacing():
            return _spacing(node)
        case ast.Comparison():
            return comparison(node)
        case ast.Range():
            return range_(node)
        case ast.Feature(name, unit):
            return f"{name}" + (f" [{unit}]" if unit is not None else "")
        case ast.QuantisedTo() | ast.HeldAs():
            return _precision(node)
        case ast.Dequantised():
            return _dequantised(node)
        case ast.IntegerEnd():
            return _integer_end(node)
        case ast.NumberType():
            return number_type(node)
        case ast.TypeOf(key, held):
            return f"{key} {number_type(held)}"
        case ast.Applied():
            return subject(node)
        case ast.Name(text) | ast.Comment(text):
            return text
        case ast.QualifiedName(parts):
            return ".".join(parts)
        case ast.Box() | ast.Ball() | ast.Where() | ast.Grid() | ast.Data() | ast.Use():
            return term(node)
        case ast.Mean() | ast.Point() | ast.Rows():
            return _centre(node)
        case _:
            return expression(node)  # type: ignore[arg-type]


def declaration(node: ast.Include | ast.Let | ast.Param) -> str:
    """A declaration without a block."""
    match node:
        case ast.Include(path, alias):
            return f"include {expression(path)}" + (f" as {alias}" if alias else "")
        case ast.Let(name, value):
            return f"let {name} = {expression(value)}"
        case ast.Param(name, value):
            return f"param {name} = {expression(value)}"


def network(node: ast.Network | ast.DerivedNetwork, name: int = 0, path: int = 0) -> str:
    """A network, its name and the path of its file padded to so many columns."""
    head = f"network {network_head(node).ljust(name)} = "
    if isinstance(node, ast.DerivedNetwork):
        return f"{head}{node.reference} {_precision(node.precision)}" + (f"\nin {node.space}" if node.space else "")
    soft = f"{head}{expression(node.path).ljust(path)} in {node.space}"
    soft += f" output {expression(node.output)}" if node.output else ""
    soft += f" takes {node.takes}" if node.takes else ""
    soft += f" gives {node.gives}" if node.gives else ""
    return soft if node.dequantised is None else f"{soft} {_dequantised(node.dequantised)}"


def _dequantised(node: ast.Dequantised) -> str:
    ends = ",\n".join(map(_integer_end, node.ends))
    return f"dequantised {{ {ends} }}" if ends else "dequantised"


def _integer_end(node: ast.IntegerEnd) -> str:
    soft = node.end.text + (f" {expression(node.called)}" if node.called is not None else "")
    soft += f" scale {expression(node.scale)}"
    return soft + (f" zero {expression(node.zero)}" if node.zero is not None else "")


def network_head(node: ast.Network | ast.DerivedNetwork) -> str:
    """The name of a network with its formal parameters, as in its declaration."""
    return f"{node.name}{_formals(node.formals)}" if isinstance(node, ast.DerivedNetwork) else node.name.text


def region_head(node: ast.Region) -> str:
    """A region up to its first term."""
    return f"region {node.name}{_formals(node.formals)} in {node.space} = "


def _formals(names: tuple[ast.Name, ...]) -> str:
    return f"({', '.join(name.text for name in names)})" if names else ""


def block_word(node: ast.Box | ast.Where | ast.Grid) -> str:
    """The word before the brace."""
    match node:
        case ast.Box():
            return "box"
        case ast.Where():
            return "where"
        case ast.Grid():
            return "grid"


def term(node: ast.Term) -> str:
    """One of the terms of a region."""
    match node:
        case ast.Box(bounds):
            inner = "  ".join(map(_bound, bounds))
            return f"box {{ {inner} }}" if bounds else "box { }"
        case ast.Where(constraints):
            return f"where {{ {', '.join(map(comparison, constraints))} }}"
        case ast.Ball(norm, radius, sigma, centre):
            unit = " sigma" if sigma else ""
            return f"ball {norm} {expression(radius)}{unit}\naround {_centre(centre)}"
        case ast.Grid(spacings):
            inner = "  ".join(map(_spacing, spacings))
            return f"grid {{ {inner} }}" if spacings else "grid { }"
        case ast.Data(path, share, columns, components):
            soft = f"data {expression(path)}" + (f"\ncolumns {_counted(columns)}" if columns else "")
            soft += f"\nkeeping {expression(share)}"
            return soft + (f"\nwith {expression(components)} components" if components is not None else "")
        case ast.Use(used, arguments):
            return str(used) + (f"({_comma(arguments)})" if arguments else "")


def expect(node: ast.Expect, verdict: int = 0) -> str:
    """An expectation without its keyword, the verdict padded if a condition follows."""
    if node.condition is None:
        return node.verdict.text
    return f"{node.verdict.text.ljust(verdict)}\nif {comparison(node.condition)}"


def comparison(node: ast.Comparison) -> str:
    """left <= right."""
    return f"{expression(node.left)} {node.operator} {expression(node.right)}"


def range_(node: ast.Range) -> str:
    """lower .. upper."""
    return expression(node.lower) + (f" .. {expression(node.upper)}" if node.upper is not None else "")


def _counted(node: ast.Range) -> str:
    """A range of rows or columns: 0..99."""
    ends = (node.lower, node.upper)
    plain = all(isinstance(end, ast.Number) and end.unit is None for end in ends)
    return f"{expression(node.lower)}..{expression(node.upper)}" if plain and node.upper else range_(node)


def expression(node: ast.Expression) -> str:
    """An expression: sums spaced, products and powers tight."""
    match node:
        case ast.Number(text, unit):
            return text if unit is None else f"{text} [{unit}]"
        case ast.Quantity(text):
            return text
        case ast.Text(value):
            return f'"{value}"'
        case ast.ListOf(items):
            return f"[{_comma(items)}]"
        case ast.Group(inner):
            return f"({expression(inner)})"
        case ast.Reference(name, index):
            return str(name) + ("" if index is None else f"[{index.text}]")
        case ast.Call(function, arguments):
            return f"{function}({_comma(arguments)})"
        case ast.Negation(operand):
            return f"-{_held(operand, ast.Sum, ast.Product)}"
        case ast.Power(base, exponent):
            held = _held(base, ast.Sum, ast.Product, ast.Negation, ast.Power)
            return f"{held}^{_held(exponent, ast.Sum, ast.Product)}"
        case ast.Sum(first, rest):
            parts = (f"\n{sign} {_held(part, ast.Sum)}" for sign, part in rest)
            return _held(first, ast.Sum) + "".join(parts)
        case ast.Product(first, rest):
            parts = (f"{sign}{_held(part, ast.Sum, ast.Product)}" for sign, part in rest)
            return _held(first, ast.Sum, ast.Product) + "".join(parts)


def _held(node: ast.Expression, *loose: type[ast.Node]) -> str:
    """An operand, in parentheses where precedence requires them."""
    written = expression(node)
    return f"({written})" if isinstance(node, loose) else written


def _comma(items: tuple[ast.Expression, ...]) -> str:
    return ",\n".join(map(expression, items))


def _features(features: tuple[ast.Feature, ...]) -> str:
    return ",\n".join(map(clause, features))


def subject(node: ast.Subject) -> str:
    """A network that a claim is about."""
    return f"{node.network}({_comma(node.arguments)})" if isinstance(node, ast.Applied) else str(node)


def number_type(node: ast.NumberType) -> str:
    """int8, fixed<16, 6>."""
    return f"{node.word}<{', '.join(map(expression, node.arguments))}>" if node.arguments else node.word.text


def _precision(node: ast.Precision) -> str:
    match node:
        case ast.QuantisedTo(held, per, table, columns):
            soft = f"quantised to {number_type(held)}"
            soft += f" per {per}" if per else ""
            soft += f"\ncalibrated on {expression(table)}" if table else ""
            return soft + (f"\ncolumns {_counted(columns)}" if table and columns else "")
        case ast.HeldAs(held, others):
            inner = ",\n".join(map(clause, others))
            return f"as {number_type(held)}" + (f" {{ {inner} }}" if others else "")


def _claim(node: ast.Claim) -> str:
    match node:
        case ast.StaysWithin(candidate, eps, reference, norm, comparing, guard):
            soft = f"{subject(candidate)} stays within {expression(eps)}\nof {subject(reference)}"
            soft += f" in {norm}" if norm else ""
            soft += f"\ncomparing {expression(comparing)}" if comparing else ""
        case ast.Equals(candidate, reference, guard):
            soft = f"{subject(candidate)} equals {subject(reference)}"
        case ast.KeepsTop1(candidate, reference, guard):
            soft = f"{subject(candidate)} keeps top1 of {subject(reference)}"
        case ast.Satisfies(candidate, compared, guard):
            soft = f"{subject(candidate)} satisfies\n{comparison(compared)}"
        case ast.Never(candidate, word, guard):
            soft = f"{subject(candidate)} never {word}"
    return soft + (f"\n{clause(guard)}" if guard else "")


def _bound(node: ast.Bound) -> str:
    subject = node.feature.text if node.feature else "all"
    match node:
        case ast.Within(_, amount, sigma, centre):
            unit = " sigma" if sigma else ""
            return f"{subject} within {expression(amount)}{unit}" + (f" of {expression(centre)}" if centre else "")
        case ast.Ranged(_, of):
            return f"{subject}: {range_(of)}"
        case ast.Fixed(_, value):
            return f"{subject} = {range_(value)}"


def _spacing(node: ast.Spacing) -> str:
    subject = node.feature.text if node.feature else "all"
    unit = " sigma" if node.sigma else ""
    return f"{subject} step {expression(node.step)}{unit}" + (f" from {expression(node.origin)}" if node.origin else "")


def _centre(node: ast.Mean | ast.Point | ast.Rows) -> str:
    match node:
        case ast.Mean():
            return "mean"
        case ast.Point(values):
            return f"point {expression(values)}"
        case ast.Rows(rows, path, columns, sample, seed):
            listed = ",\n".join(map(_counted, rows))
            soft = f"rows {listed}\nof {expression(path)}" if rows else f"rows of {expression(path)}"
            soft += f"\ncolumns {_counted(columns)}" if columns else ""
            if sample is not None:
                soft += f"\nsample {expression(sample)}" + (f" seed {expression(seed)}" if seed is not None else "")
            return soft
