"""The second opinion: the `jmespath` package parses the same text, and the two trees must be equal.

The only module that knows the package. It is imported when asked for, never at run time of a compiled program.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

from engine.errors import ContractError
from engine.lang import ast

_COMPARATORS: Final = {"==": "eq", "!=": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}

Tree = dict[str, Any]


def matches_oracle(text: str, node: ast.Node) -> str | None:
    """None when the package reads `text` as `node`; otherwise what differs, in one line."""
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        with warnings.catch_warnings():
            # The package warns of bare words in backticks; the checker refuses them with a place.
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            theirs = jmespath.compile(text).parsed
    except (JMESPathError, ValueError, RecursionError) as error:
        return f"the jmespath package refuses it: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    ours = to_jmespath(node)
    # Equal to the letter is the rule, and told in no time; which of two other trees are alike is asked of them.
    return None if repr(ours) == repr(theirs) else _difference(ours, theirs, "")


def to_jmespath(node: ast.Node) -> Tree:  # noqa: C901 - one case a node kind
    """The package's own tree for `node`; an implied current value is its `identity`.

    Shape: chains of subexpressions and of indices are one node with many children there, nested pairs here.
    """
    match node:
        case ast.Current():
            return _tree("current" if node.end > node.start else "identity")
        case ast.Field():
            return _tree("field", value=node.name)
        case ast.Literal():
            return _tree("literal", value=node.value)
        case ast.Subexpression():
            return _chain("subexpression", node)
        case ast.Index():
            return _tree("index", value=node.value)
        case ast.Slice():
            return _tree("slice", node.first, node.last, node.step)
        case ast.IndexExpression():
            return _chain("index_expression", node)
        case ast.Projection():
            return _tree("projection", to_jmespath(node.left), to_jmespath(node.right))
        case ast.ValueProjection():
            return _tree("value_projection", to_jmespath(node.left), to_jmespath(node.right))
        case ast.FilterProjection():
            parts = (to_jmespath(part) for part in (node.left, node.right, node.condition))
            return _tree("filter_projection", *parts)
        case ast.Flatten():
            return _tree("flatten", to_jmespath(node.left))
        case ast.Pipe():
            return _tree("pipe", to_jmespath(node.left), to_jmespath(node.right))
        case ast.Or():
            return _tree("or_expression", to_jmespath(node.left), to_jmespath(node.right))
        case ast.And():
            return _tree("and_expression", to_jmespath(node.left), to_jmespath(node.right))
        case ast.Not():
            return _tree("not_expression", to_jmespath(node.operand))
        case ast.Comparator():
            return _tree("comparator", to_jmespath(node.left), to_jmespath(node.right), value=_COMPARATORS[node.op])
        case ast.MultiSelectList():
            return _tree("multi_select_list", *(to_jmespath(item) for item in node.items))
        case ast.MultiSelectHash():
            pairs = (_tree("key_val_pair", to_jmespath(value), value=key) for key, value in node.pairs)
            return _tree("multi_select_dict", *pairs)
        case ast.Call():
            return _tree("function_expression", *(to_jmespath(arg) for arg in node.args), value=node.name)
        case ast.ExprRef():
            return _tree("expref", to_jmespath(node.body))
        case _:
            raise ContractError(f"no expression node: {type(node).__name__}")


_NO_VALUE: Final = object()


def _tree(kind: str, *children: Any, value: Any = _NO_VALUE) -> Tree:
    tree: Tree = {"type": kind, "children": list(children)}
    if value is not _NO_VALUE:
        tree["value"] = value
    return tree


def _chain(kind: str, node: ast.Subexpression | ast.IndexExpression) -> Tree:
    left = to_jmespath(node.left)
    right = to_jmespath(node.right)
    if left["type"] == kind:
        left["children"].append(right)
        return left
    return _tree(kind, left, right)


def _difference(ours: Any, theirs: Any, path: str) -> str | None:
    """The first place where two trees differ; numbers and booleans never count as equal, as Python's `==` would."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if _kind(ours) != _kind(theirs) or set(ours) != set(theirs):
            return f"{path or 'the root'}: {_kind(ours)} here, {_kind(theirs)} in the jmespath package"
        found = (_difference(ours[key], theirs[key], f"{path}/{key}") for key in sorted(ours) if key != "type")
        return next(filter(None, found), None)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        found = (
            _difference(mine, other, f"{path}/{at}") for at, (mine, other) in enumerate(zip(ours, theirs, strict=True))
        )
        return next(filter(None, found), None)
    if type(ours) is type(theirs) and ours == theirs:
        return None
    return f"{path or 'the root'}: {ours!r} here, {theirs!r} in the jmespath package"


def _kind(tree: Tree) -> Any:
    """The node kind, an implied and a written current value taken as one; None for a constant's own object."""
    kind = tree.get("type")
    return "current" if kind == "identity" else kind
