"""Lists inside expressions: positions, slices, projections, filters, pipes.

Names and values are `check_infer`'s. What a projection leaves out is noted here and warned about where it matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.check_match import values_of
from engine.lang.check_scope import Context, narrowings, path_of
from engine.lang.types import ANY, Kind, Type, list_of

if TYPE_CHECKING:
    from engine.lang.check_infer import Inference


def check_index(inference: Inference, node: ast.IndexExpression, context: Context) -> Type:
    left = inference.infer(node.left, context)
    if isinstance(node.right, ast.Index):
        inference.warn_dropped(node.left, "this position")
    return check_position(inference, node.right, left, node)


def check_position(inference: Inference, right: Node, left: Type, node: Node | None = None) -> Type:
    """`[n]` and `[a:b]`. A position is taken as promised to be there: past the end the rule could not tell."""
    if left.kind in (Kind.ANY, Kind.NULL):
        return ANY
    if left.kind is not Kind.LIST:
        inference.error("RP415", f"a position is taken of a list, and this is {left}", node or right, "name a list")
        return ANY
    if isinstance(right, ast.Slice):
        if right.step == 0:
            inference.error("RP415", "a slice with a step of zero", right, "give a step other than 0")
        return left
    made = left.element or ANY
    return made.or_null() if left.nullable else made


def check_pipe(inference: Inference, node: ast.Pipe, context: Context) -> Type:
    left = inference.infer(node.left, context)
    first = node.right
    while isinstance(first, ast.Subexpression | ast.IndexExpression):
        first = first.left if not isinstance(first.left, ast.Current) else first.right
    if isinstance(first, ast.Index):
        inference.warn_dropped(node.left, "this position")
    if inference.drops_null(node.left) and isinstance(node.right, ast.Current):
        inference.note_dropping(node)
    return inference.infer(node.right, context.of_element(left))


def check_flatten(inference: Inference, node: ast.Flatten, context: Context) -> Type:
    left = _listed(inference, node.left, context, "[]")
    element = left.element or ANY
    if element.kind is not Kind.LIST:
        return left
    made = list_of(element.element or ANY)
    return made.or_null() if left.nullable else made


def check_projection(
    inference: Inference, node: ast.Projection | ast.ValueProjection | ast.FilterProjection, context: Context
) -> Type:
    if isinstance(node, ast.ValueProjection):
        left = _valued(inference, node.left, context)
    elif isinstance(node.left, ast.Flatten):
        left = inference.infer(node.left, context)
    else:
        left = _listed(inference, node.left, context, "[?…]" if isinstance(node, ast.FilterProjection) else "[*]")
    element = left.element or ANY
    inner = context.of_element(element)
    if isinstance(node, ast.FilterProjection):
        inference.condition(node.condition, inner, "a filter")
        inner = inner.knowing(narrowings(node.condition))
    made = inference.infer(node.right, Context(inner.scope, element, member=True, present=frozenset()))
    made = _filtered(node, made, inner)
    if made.nullable and made.kind is not Kind.ANY:
        inference.note_dropping(node)
        made = made.required()
    listed = list_of(made)
    return listed.or_null() if left.nullable and left.kind is not Kind.ANY else listed


def _filtered(node: Node, made: Type, inner: Context) -> Type:
    """What a filter has proved of the path to its right: `cards[?has(minor)].minor` drops nothing."""
    if isinstance(node, ast.FilterProjection) and path_of(node.right) in inner.present and made.kind is not Kind.ANY:
        return made.required()
    return made


def _listed(inference: Inference, node: Node, context: Context, sign: str) -> Type:
    left = inference.infer(node, context)
    if left.kind in (Kind.LIST, Kind.ANY, Kind.NULL):
        return left
    inference.error("RP415", f"`{sign}` takes a list, and this is {left}", node, "name a list")
    return ANY


def _valued(inference: Inference, node: Node, context: Context) -> Type:
    left = inference.infer(node, context)
    match left.kind:
        case Kind.OBJECT:
            made = list_of(values_of(left))
        case Kind.MAP:
            made = list_of(left.element or ANY)
        case Kind.ANY | Kind.NULL:
            return ANY
        case _:
            inference.error("RP415", f"`*` takes an object, and this is {left}", node, "name an object or a map")
            return ANY
    return made.or_null() if left.nullable else made
