"""Expression trees to closures: all of JMESPath, one Python call deep per node and fewer where nodes fuse.

Checks nothing: the strict profile is `engine.lang.check`'s. A closure follows JMESPath's own truth and types, and fails
only with an `EvaluationError`, whatever the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.errors import ContractError
from engine.lang import ast, calls, closures, projections
from engine.lang.calls import CompiledFunction
from engine.lang.closures import Closure
from engine.lang.limits import MAX_TREE_DEPTH
from engine.lang.walk import walk_with_depth

__all__ = ["Closure", "CompiledFunction", "compile_node"]


def compile_node(
    node: ast.Node,
    functions: Mapping[str, CompiledFunction],
    names: Mapping[str, Closure] | None = None,
    propagate_null: bool = False,  # noqa: FBT001, FBT002 - always given by name
) -> Closure:
    """A callable from the current value to the expression's value.

    `names` are looked up before the scope's own fields wherever the current value is still the scope itself. With
    `propagate_null` a strict function that is given null returns null instead of failing.
    Raises: ContractError: the tree is deeper than the parser lets through, or no tree.
    """
    if any(depth > MAX_TREE_DEPTH for _, depth in walk_with_depth(node)):
        raise ContractError(f"an expression tree deeper than {MAX_TREE_DEPTH} cannot be compiled")
    return _Compiler(functions, names or {}, propagate_null=propagate_null).compile(node, root=True)


_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Compiler:
    """One expression. `root` says whether the current value is still the scope the closure is called with."""

    def __init__(
        self, functions: Mapping[str, CompiledFunction], names: Mapping[str, Closure], *, propagate_null: bool
    ) -> None:
        self._functions = functions
        self._names = names
        self._propagate_null = propagate_null

    def compile(self, node: ast.Node, *, root: bool) -> Closure:  # noqa: C901 - one case a node kind
        match node:
            case ast.Field() | ast.Subexpression():
                return self._path(node, root=root)
            case ast.Literal():
                return closures.constant(node.value)
            case ast.Comparator():
                return self._comparator(node, root=root)
            case ast.Call():
                return self._call(node, root=root)
            case ast.And():
                parts = _operands(node, ast.And)
                return closures.all_of([self.compile(part, root=root) for part in parts], plain=_is_plain(node))
            case ast.Or():
                parts = _operands(node, ast.Or)
                return closures.first_of([self.compile(part, root=root) for part in parts], plain=_is_plain(node))
            case ast.Not():
                return closures.negation(self.compile(node.operand, root=root), plain=_is_plain(node.operand))
            case ast.Current():
                return closures.current
            case ast.Index():
                return projections.index(node.value)
            case ast.Slice():
                return projections.slice_of(node.first, node.last, node.step)
            case ast.IndexExpression() | ast.Pipe():
                return self._then(node.left, node.right, root=root)
            case ast.Projection():
                keys, right = self._projected(node.right)
                return projections.projection(self.compile(node.left, root=root), keys, right)
            case ast.ValueProjection():
                _, right = self._projected(node.right)
                return projections.value_projection(self.compile(node.left, root=root), right)
            case ast.FilterProjection():
                _, right = self._projected(node.right)
                return projections.filter_projection(
                    self.compile(node.left, root=root), self._condition(node.condition), right
                )
            case ast.Flatten():
                return projections.flatten(self.compile(node.left, root=root))
            case ast.MultiSelectList():
                return closures.multi_select_list([self.compile(item, root=root) for item in node.items])
            case ast.MultiSelectHash():
                return closures.multi_select_hash([(key, self.compile(value, root=root)) for key, value in node.pairs])
            case ast.ExprRef():
                return closures.constant(self.compile(node.body, root=False))
            case _:  # pragma: no cover - walking the tree has refused it
                raise ContractError(f"no expression node: {type(node).__name__}")

    def _then(self, left: ast.Node, right: ast.Node, *, root: bool) -> Closure:
        if isinstance(left, ast.Current):
            return self.compile(right, root=False)
        return closures.then(self.compile(left, root=root), self.compile(right, root=False))

    def _projected(self, right: ast.Node) -> tuple[tuple[str, ...], Closure | None]:
        """A projection's right side: its path where it is only names, and its closure; None for the element itself."""
        if isinstance(right, ast.Current):
            return (), None
        return _pure_path(right), self.compile(right, root=False)

    def _condition(self, condition: ast.Node) -> Closure:
        made = self.compile(condition, root=False)
        return made if _is_plain(condition) else closures.truth(made)

    def _path(self, node: ast.Field | ast.Subexpression, *, root: bool) -> Closure:
        """Names after names become one closure."""
        base, keys = _split_path(node)
        if isinstance(base, ast.Subexpression) and not keys:
            return closures.then(self.compile(base.left, root=root), self.compile(base.right, root=False))
        if base is not None:
            return closures.path_from(self.compile(base, root=root), keys)
        if root and keys[0] in self._names:
            start = closures.named(self._names[keys[0]])
            return closures.path_from(start, keys[1:]) if len(keys) > 1 else start
        return closures.path(keys)

    def _comparator(self, node: ast.Comparator, *, root: bool) -> Closure:
        left, right, op = node.left, node.right, node.op
        if isinstance(left, ast.Literal) and not isinstance(right, ast.Literal):
            left, right, op = right, left, _FLIPPED.get(op, op)
        made = self.compile(left, root=root)
        if op in {"==", "!="}:
            if not isinstance(right, ast.Literal):
                return closures.equality(made, self.compile(right, root=root), negated=op == "!=")
            keys = _pure_path(left)
            keys = () if root and keys and keys[0] in self._names else keys
            return closures.equals_constant(made, keys, right.value, negated=op == "!=")
        if isinstance(right, ast.Literal) and type(right.value) is int:
            return closures.ordering_constant(op, made, right.value)
        return closures.ordering(op, made, self.compile(right, root=root))

    def _call(self, node: ast.Call, *, root: bool) -> Closure:
        function = self._functions.get(node.name)
        if function is None:
            return calls.unknown_function(node.name)
        args = [self.compile(arg, root=root) for arg in node.args]
        never_null = [at for at, arg in enumerate(node.args) if _is_never_null(arg)]
        return calls.call(function, args, never_null, propagate=self._propagate_null)


def _is_never_null(node: ast.Node) -> bool:
    return isinstance(node, ast.ExprRef) or (isinstance(node, ast.Literal) and node.value is not None)


def _is_plain(node: ast.Node) -> bool:
    """Whether the value is always true, false or null, so that Python's truth is JMESPath's."""
    match node:
        case ast.Comparator() | ast.Not():
            return True
        case ast.And() | ast.Or():
            return _is_plain(node.left) and _is_plain(node.right)
        case _:
            return False


def _operands(node: ast.And | ast.Or, kind: type[ast.And | ast.Or]) -> list[ast.Node]:
    """All operands of a chain of one operator, in order: grouping changes nothing."""
    found: list[ast.Node] = []
    waiting: list[ast.Node] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            waiting += (part.right, part.left)
        else:
            found.append(part)
    return found


def _split_path(node: ast.Node) -> tuple[ast.Node | None, tuple[str, ...]]:
    """The names at the end of a path, and what stands before them; None when nothing does."""
    keys: list[str] = []
    while isinstance(node, ast.Subexpression) and isinstance(node.right, ast.Field):
        keys.append(node.right.name)
        node = node.left
    base: ast.Node | None = node
    if isinstance(node, ast.Field):
        keys.append(node.name)
        base = None
    return base, tuple(reversed(keys))


def _pure_path(node: ast.Node) -> tuple[str, ...]:
    """The names of a path that is nothing but names."""
    base, keys = _split_path(node)
    return keys if base is None else ()
