"""Hypothesis strategies: expressions by JMESPath's grammar, as text, and data they have a chance to find something in."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "_d1", '"a"', '"b c"', '"\\u00e9"'])
KEYS = st.sampled_from(["a", "b", "c", "_d1", "b c", "é"])
INTEGERS = st.integers(-3, 4)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    INTEGERS,
    st.sampled_from([0.5, 1.0, -2.5]),
    st.sampled_from(["", "a", "b", "ab", "12", "é"]),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=14,
)
DOCUMENTS = st.dictionaries(KEYS, DATA, min_size=1, max_size=5)

# Names, and the words their arguments stand for: e any expression, x an &expression.
FUNCTIONS = {
    "abs": "e", "avg": "e", "ceil": "e", "contains": "ee", "ends_with": "ee", "floor": "e", "join": "ee", "keys": "e",
    "length": "e", "map": "xe", "max": "e", "max_by": "ex", "merge": "e", "min": "e", "min_by": "ex", "not_null": "ee",
    "reverse": "e", "sort": "e", "sort_by": "ex", "starts_with": "ee", "sum": "e", "to_array": "e", "to_number": "e",
    "to_string": "e", "type": "e", "values": "e", "nonesuch": "e",
}  # fmt: skip
COMPARATORS = ["==", "!=", "<", "<=", ">", ">="]


def literal_text(value: Any) -> str:
    if isinstance(value, str) and "\\" not in value:
        return "'" + value.replace("'", "\\'") + "'"
    return "`" + json.dumps(value).replace("`", "\\`") + "`"


LITERALS = SCALARS.map(literal_text) | DATA.map(lambda value: "`" + json.dumps(value).replace("`", "\\`") + "`")
SLICES = st.tuples(*[st.none() | INTEGERS] * 3).map(
    lambda parts: "[" + ":".join("" if p is None else str(p) for p in parts) + "]"
)
BRACKETS = st.one_of(INTEGERS.map(lambda at: f"[{at}]"), SLICES, st.sampled_from(["[*]", "[]"]))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """One expression; parentheses only where the grammar needs none, so that precedence is tested too."""
    if depth == 0:
        return draw(st.one_of(NAMES, LITERALS, st.just("@")))
    deeper = expressions(depth - 1)
    kind = draw(st.sampled_from(_KINDS))
    space = draw(st.sampled_from(["", " "]))
    match kind:
        case "name":
            return draw(NAMES)
        case "dot":
            return draw(deeper) + "." + draw(st.one_of(NAMES, st.just("*"), _multi_select(deeper), _call(deeper)))
        case "bracket":
            return draw(st.just("") | deeper) + draw(BRACKETS)
        case "filter":
            return (
                draw(st.just("") | deeper) + f"[?{draw(deeper)}]" + draw(st.sampled_from(["", ".a", "[0]", " | [0]"]))
            )
        case "compare":
            return f"{draw(deeper)} {draw(st.sampled_from(COMPARATORS))}{space} {draw(deeper)}"
        case "logic":
            return f"{draw(deeper)}{space}{draw(st.sampled_from(['&&', '||', '|']))}{space}{draw(deeper)}"
        case "not":
            return "!" + space + draw(deeper)
        case "paren":
            return f"({space}{draw(deeper)}{space})"
        case "star":
            return "*" + draw(st.sampled_from(["", ".a", "[0]"]))
        case "call":
            return draw(_call(deeper))
        case "literal":
            return draw(LITERALS)
        case _:
            return draw(_multi_select(deeper))


_KINDS = [
    "name",
    "dot",
    "dot",
    "bracket",
    "bracket",
    "filter",
    "compare",
    "logic",
    "not",
    "paren",
    "star",
    "call",
    "call",
    "literal",
    "multi",
]


@st.composite
def _call(draw: st.DrawFn, deeper: st.SearchStrategy[str]) -> str:
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    words = FUNCTIONS[name]
    if draw(st.integers(0, 30)) == 0:
        words += "e"
    args = ["&" + draw(deeper) if word == "x" else draw(deeper) for word in words]
    return f"{name}({', '.join(args)})"


@st.composite
def _multi_select(draw: st.DrawFn, deeper: st.SearchStrategy[str]) -> str:
    parts = draw(st.lists(deeper, min_size=1, max_size=3))
    if draw(st.booleans()):
        return "[" + ", ".join(parts) + "]"
    return "{" + ", ".join(f"{draw(NAMES)}: {part}" for part in parts) + "}"
