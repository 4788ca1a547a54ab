"""The expression parser: trees, exact positions, and what each refusal says."""

from __future__ import annotations

import pytest

from engine.errors import ContractError, EngineError, InputError
from engine.lang import ast
from engine.lang.astjson import from_json, to_json
from engine.lang.lexer import tokenize
from engine.lang.limits import MAX_TREE_DEPTH
from engine.lang.oracle import matches_oracle, to_jmespath
from engine.lang.parser import ExpressionSyntaxError, parse
from engine.lang.walk import children, walk, walk_with_depth

A, B, C = ast.Field("a"), ast.Field("b"), ast.Field("c")
AT = ast.Current()

EVERY_KIND = [
    "@",
    "a",
    "'t'",
    "a.b",
    "a.b.c",
    "a[0]",
    "a[0:2]",
    "a[*].b",
    "a.*.b",
    "a[?b == c].c",
    "a[]",
    "a | b",
    "a || b",
    "a && b",
    "!a",
    "a <= b",
    "[a, b]",
    "{k: a, l: b}",
    "f(a, b)",
    "map(&a, b)",
]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.b.c", ast.Subexpression(ast.Subexpression(A, B), C)),
        ("a || b && c", ast.Or(A, ast.And(B, C))),
        ("a && b == c", ast.And(A, ast.Comparator("==", B, C))),
        ("!a.b", ast.Subexpression(ast.Not(A), B)),
        ("!a[0]", ast.Not(ast.IndexExpression(A, ast.Index(0)))),
        ("a | b || c", ast.Pipe(A, ast.Or(B, C))),
        ("a[*].b.c", ast.Projection(A, ast.Subexpression(B, C))),
        ("a[].b", ast.Projection(ast.Flatten(A), B)),
        ("a[][0]", ast.Projection(ast.Flatten(A), ast.IndexExpression(AT, ast.Index(0)))),
        ("a[?b][]", ast.Projection(ast.Flatten(ast.FilterProjection(A, AT, B)), AT)),
        ("*.a", ast.ValueProjection(AT, A)),
        ("a.*", ast.ValueProjection(A, AT)),
        ("[*]", ast.Projection(AT, AT)),
        ("[?a]", ast.FilterProjection(AT, AT, A)),
        ("[]", ast.Projection(ast.Flatten(AT), AT)),
        ("[-1]", ast.IndexExpression(AT, ast.Index(-1))),
        ("a[::2]", ast.Projection(ast.IndexExpression(A, ast.Slice(None, None, 2)), AT)),
        ("a[0][1:2].b", ast.Subexpression(
            ast.IndexExpression(ast.IndexExpression(A, ast.Index(0)), ast.Slice(1, 2, None)), B)),
        ("f(&a | b)", ast.Call("f", (ast.ExprRef(ast.Pipe(A, B)),))),
        ("f()", ast.Call("f", ())),
        ('{a: b, "c d": @}', ast.MultiSelectHash((("a", B), ("c d", AT)))),
    ],
)  # fmt: skip
def test_precedence_and_projections_are_jmespaths(text: str, tree: ast.Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        (r"'it\'s'", "it's", "raw"),
        (r"'\d+'", r"\d+", "raw"),
        (r"'a\\b'", r"a\\b", "raw"),
        ("'a\nb'", "a\nb", "raw"),
        ("`1`", 1, "json"),
        (r'`"a\`b"`', "a`b", "json"),
        ("` null `", None, "json"),
        ("`wat`", "wat", "bareword"),
    ],
)
def test_a_constant_keeps_its_value_and_how_it_was_written(text: str, value: object, form: str) -> None:
    node = parse(text)
    assert isinstance(node, ast.Literal)
    assert (node.value, type(node.value), node.form) == (value, type(value), form)
    assert (node.start, node.end) == (0, len(text))


def test_a_quoted_name_is_a_field_and_says_so() -> None:
    node = parse(r'"b \u00e9"')
    assert isinstance(node, ast.Field)
    assert (node.name, node.quoted) == ("b é", True)


def spans(text: str) -> list[str]:
    """Kind and text of every node, in walking order."""
    return [f"{type(node).__name__} {text[node.start : node.end]}".rstrip() for node in walk(parse(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a || b) && c", ["And (a || b) && c", "Or a || b", "Field a", "Field b", "Field c"]),
        ("a [0] . b", ["Subexpression a [0] . b", "IndexExpression a [0]", "Field a", "Index [0]", "Field b"]),
        ("x[?a=='é'].b", [
            "FilterProjection x[?a=='é'].b", "Field x", "Comparator a=='é'", "Field a", "Literal 'é'", "Field b"]),
        ("f( &a , !b )", ["Call f( &a , !b )", "ExprRef &a", "Field a", "Not !b", "Field b"]),
        ("a[].{k: @}", ["Projection a[].{k: @}", "Flatten a[]", "Field a", "MultiSelectHash {k: @}", "Current @"]),
        ("[*]", ["Projection [*]", "Current", "Current"]),
        ("a[1:]", ["Projection a[1:]", "IndexExpression a[1:]", "Field a", "Slice [1:]", "Current"]),
    ],
)  # fmt: skip
def test_every_node_points_at_exactly_its_text(text: str, expected: list[str]) -> None:
    assert spans(text) == expected


def test_an_implied_current_value_is_zero_characters_wide() -> None:
    node = parse("a[*]")
    assert isinstance(node, ast.Projection)
    assert (node.right.start, node.right.end) == (4, 4)


REFUSALS = [
    ("", "the expression is empty", ""),
    ("  ", "the expression is empty", ""),
    ("a.", "the expression ends too early", ""),
    ("f(a b)", "found b", "put a comma or an operator between the two"),
    ("f(a,)", "found ), expected an argument", "leave the last comma out"),
    ("f(,a)", "found ,", ""),
    ("f('it''s')", "found 's'", "write \\' for a quote inside text"),
    ("f('a' 'b')", "found 'b'", "put a comma or an operator between the two"),
    ("{a: b c: d}", "found c, expected `,` or `}`", ""),
    ("{a b}", "expected `:` after the key", ""),
    ("{'a': b}", "found 'a', expected a key", 'write a key as name or "name"'),
    ("{}", "found }, expected a key", ""),
    ("[a,]", "found ], expected an expression", ""),
    ("a = 'b'", "'=' means nothing", "write == to compare"),
    ("a =~ 'b'", "'=' means nothing", "re_match"),
    ("a and b", "found and", "write && instead of and"),
    ("a or b", "found or", "write || instead of or"),
    ("not a", "found a", "write not(a)"),
    ("a == 1", "found 1", "`1`"),
    ("a.0", "found 0", "[0]"),
    ("a.'b'", "found 'b'", "double quotes"),
    ("a['b']", "found 'b'", "double quotes"),
    ("a[b]", "found b", "an index is a number"),
    ("a.(b)", "found (", ""),
    ('a "b"', 'found "b"', "write text in single quotes"),
    ('"f"(a)', 'a function name in double quotes: "f"', "without quotes"),
    ("(f)(a)", "found (", "only a function's name"),
    ("a[0](b)", "found (", "only a function's name"),
    ("a *", "found *", ""),
    ("[*]a", "found a", ""),
    ("a[*]!b", "found !", ""),
    ("[1:2 3]", "found 3, expected a number, `:` or `]`", ""),
    ("[:::]", "found :, expected `]`", ""),
    ("(a", "`(` is never closed", "close it with `)`"),
    ("a[?b", "`[?` is never closed", "close it with `]`"),
    ("f(a", "`(` is never closed", "close it with `)`"),
    ("'abc", "a text that is never closed", "close it with '"),
    ('"abc', "a quoted name that is never closed", ""),
    ("`abc", "a constant that is never closed", ""),
    ("$(a)", "'$' means nothing", "without $( )"),
    ("a + b", "'+' means nothing", "use add(a, b)"),
    ("a - b", "'-' means nothing", "use sub(a, b)"),
    ("é", "'é' means nothing", "double quotes"),
    ("a ; b", "';' means nothing", ""),
    ('"\\x"', "a quoted name with a bad escape", ""),
    ('"\\ud800"', "half of a character", ""),
    ('`"\\ud800"`', "half of a character", ""),
    ('`{"\\ud800": [1]}`', "half of a character", ""),
    ('`a"`', "a constant that is no JSON", "single quotes"),
    ("`NaN`", "a constant with NaN", ""),
    ("`1e999`", "a number too large", ""),
    ("[1234567890]", "a number of more than 9 digits", ""),
    ("`" + "[" * 101 + "]" * 101 + "`", "a constant nested deeper", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "help_"), REFUSALS)
def test_a_refusal_says_what_was_found_and_the_way_out(text: str, message: str, help_: str) -> None:
    with pytest.raises(ExpressionSyntaxError) as caught:
        parse(text)
    assert message in caught.value.message
    assert help_ in caught.value.help
    assert 0 <= caught.value.start <= caught.value.end <= len(text)


def test_a_refusal_points_at_the_characters_that_do_not_fit() -> None:
    with pytest.raises(ExpressionSyntaxError) as caught:
        parse("a == 12")
    assert (caught.value.start, caught.value.end) == (5, 7)
    assert str(caught.value) == "character 6: found 12, expected an expression; write a number in backticks: `12`"
    assert isinstance(caught.value, EngineError)


@pytest.mark.parametrize(
    "text", ["(" * 5000, "[" * 5000, "!" * 5000, "f(" * 5000, "[*]" * 5000, "`" + "[" * 50_000 + "`"]
)
def test_no_nesting_exhausts_the_interpreter(text: str) -> None:
    with pytest.raises(ExpressionSyntaxError, match="nested deeper"):
        parse(text)


@pytest.mark.parametrize("step", ["[0]", ".b", " || b"])
def test_a_long_chain_is_as_deep_as_a_nested_expression(step: str) -> None:
    assert parse("a" + step * (MAX_TREE_DEPTH - 1))
    with pytest.raises(ExpressionSyntaxError, match="nested deeper"):
        parse("a" + step * MAX_TREE_DEPTH)


def test_tokens_cover_the_text_between_blanks() -> None:
    text = "a [? b<=`1`] .\t*"
    assert [text[token.start : token.end] for token in tokenize(text)] == [
        *["a", "[?", "b", "<=", "`1`", "]", ".", "*"],
        "",
    ]


@pytest.mark.parametrize("text", EVERY_KIND)
def test_every_kind_of_node_is_walked_compared_and_stored(text: str) -> None:
    node = parse(text)
    assert matches_oracle(text, node) is None
    assert from_json(to_json(node)) == node
    assert max(depth for _, depth in walk_with_depth(node)) <= 4
    assert all(isinstance(child, ast.Node) for child in children(node))


@pytest.mark.parametrize(
    ("text", "node", "difference"),
    [
        ("a.b", parse("a.c"), "/children/1/value: 'c' here, 'b' in the jmespath package"),
        ("a || b", parse("a && b"), "the root: and_expression here, or_expression in the jmespath package"),
        ("`1`", ast.Literal(value=True), "/value: True here, 1 in the jmespath package"),
        ('`{"k": 1}`', ast.Literal({"k": 2}), "/value/k: 2 here, 1 in the jmespath package"),
        ("f(a)", parse("f(a, b)"), "/children: "),
        ("a..b", parse("a"), "the jmespath package refuses it: "),
        ("", parse("a"), "the jmespath package refuses it: Invalid JMESPath expression"),
    ],
)  # fmt: skip
def test_the_oracle_names_the_first_difference(text: str, node: ast.Node, difference: str) -> None:
    found = matches_oracle(text, node)
    assert found is not None
    assert found.startswith(difference)


def test_the_oracle_takes_an_implied_current_value_and_a_written_one_as_one() -> None:
    """A tree read back from JSON has no positions, and means the same."""
    assert matches_oracle("@", ast.Current()) is None
    assert to_jmespath(ast.Current()) == {"type": "identity", "children": []}


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        [1],
        ["current", 1],
        ["field"],
        ["field", 1],
        ["literal"],
        ["index", True],
        ["slice", 1, 2],
        ["slice", "1", None, None],
        ["sub", ["current"]],
        ["not"],
        ["filter", ["current"]],
        ["compare", "=", ["current"], ["current"]],
        ["list"],
        ["hash"],
        ["hash", ["k"]],
        ["call"],
        ["call", "f", "x" * 100],
        ["field", "x" * 100, 1],
    ],
)
def test_json_that_is_no_tree_is_refused(document: object) -> None:
    with pytest.raises(InputError, match="no expression tree"):
        from_json(document)


def test_an_unknown_kind_and_a_tree_too_deep_are_refused() -> None:
    with pytest.raises(InputError, match="unknown kind 'nonesuch'"):
        from_json(["nonesuch"])
    document: list[object] = ["current"]
    for _ in range(MAX_TREE_DEPTH):
        document = ["not", document]
    with pytest.raises(InputError, match="nested deeper"):
        from_json(document)


@pytest.mark.parametrize("use", [children, to_json, to_jmespath])
def test_what_is_no_node_breaks_the_contract(use: object) -> None:
    assert callable(use)
    with pytest.raises(ContractError):
        use(ast.Node())
