"""The type of every part of an expression, and the strict profile's objections on the way.

Function calls and comparisons have modules of their own; what a scope is, too. An expression with an objection still gets
a type, ANY where nothing better is known, so that one mistake is reported once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.errors import ContractError
from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.check_calls import check_call
from engine.lang.check_compare import check_comparator, contradictions
from engine.lang.check_lists import check_flatten, check_index, check_pipe, check_position, check_projection
from engine.lang.check_match import NOTHING, widened
from engine.lang.check_scope import Context, Scope, narrowings, path_of
from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.source import Place
from engine.lang.types import ANY, BOOL, Kind, Member, Type, list_of, type_of

Locator = Callable[[int, int], Place]

_HIDDEN_HELP: Final = "use forEach, or put it on the card with `derived`"


class Inference:
    """One walk over one expression. `optional` says that a null passes through strict functions (`key?:`)."""

    def __init__(self, scope: Scope, where: Locator, diagnostics: Diagnostics, *, optional: bool) -> None:
        self.scope = scope
        self.optional = optional
        self._where = where
        self._diagnostics = diagnostics
        self._dropping: set[int] = set()
        self._conjoined: set[int] = set()

    def error(self, code: str, message: str, node: Node, help: str = "") -> None:  # noqa: A002 - the diagnostic's word
        """Object to a part of the expression."""
        self._diagnostics.error(code, message, self._where(node.start, node.end), help=help)

    def warning(self, code: str, message: str, node: Node, help: str = "") -> None:  # noqa: A002
        """Warn about a part of the expression."""
        self._diagnostics.warning(code, message, self._where(node.start, node.end), help=help)

    def root(self) -> Context:
        """Where an expression begins."""
        return Context(self.scope, present=self.scope.present)

    def infer(self, node: Node, context: Context) -> Type:  # noqa: C901 - one case a node kind
        """The type of a part."""
        match node:
            case ast.Literal():
                return self._literal(node)
            case ast.Field():
                return self._proved(node, self._field(node, context), context)
            case ast.Current():
                return self._current(node, context)
            case ast.Subexpression():
                return self._proved(node, self._subexpression(node, context), context)
            case ast.IndexExpression():
                return self._proved(node, check_index(self, node, context), context)
            case ast.Index() | ast.Slice():
                return check_position(self, node, context.element or ANY)
            case ast.Pipe():
                return check_pipe(self, node, context)
            case ast.Projection() | ast.ValueProjection() | ast.FilterProjection():
                return check_projection(self, node, context)
            case ast.Flatten():
                return check_flatten(self, node, context)
            case ast.And() | ast.Or():
                return self._logic(node, context)
            case ast.Not():
                self.condition(node.operand, context.absolute(), "`!`")
                return BOOL
            case ast.Comparator():
                return check_comparator(self, node, context.absolute())
            case ast.MultiSelectList():
                return self._list(node, context.absolute())
            case ast.MultiSelectHash():
                inner = context.absolute()
                made = [(key, self.infer(value, inner)) for key, value in node.pairs]
                return Type(Kind.OBJECT, members=tuple((key, Member(t, optional=t.nullable)) for key, t in made))
            case ast.Call():
                return check_call(self, node, context.absolute())
            case ast.ExprRef():
                self.error("RP415", "an `&expression` stands only as an argument of a function", node)
                return ANY
            case _:
                raise ContractError(f"no expression node: {type(node).__name__}")

    def condition(self, node: Node, context: Context, whose: str) -> None:
        """A part that has to be a boolean."""
        self.require_bool(node, self.infer(node, context), whose)

    def require_bool(self, node: Node, given: Type, whose: str) -> None:
        """Object to a type that is no boolean; nothing else is true or false here."""
        if given.kind is Kind.ANY:
            return
        if given.kind is not Kind.BOOL:
            self.error(
                "RP411",
                f"{whose} takes a boolean, and this is {given}",
                node,
                "compare it, or use has(), default() or if()",
            )
        elif given.nullable:
            self.error(
                "RP413",
                f"{whose} takes a boolean, and this one may be null",
                node,
                "write default(x, `false`) or has(x)",
            )

    def note_dropping(self, node: Node) -> None:
        """Note a projection that may leave nulls out."""
        self._dropping.add(id(node))

    def drops_null(self, node: Node) -> bool:
        """Whether a part is a projection that may have left nulls out."""
        return id(node) in self._dropping or (isinstance(node, ast.Subexpression) and self.drops_null(node.right))

    def warn_dropped(self, node: Node, what: str) -> None:
        """Warn where a position or a length is taken of such a projection."""
        if self.drops_null(node):
            self.warning(
                "RP412",
                f"the projection leaves nulls out, so {what} is not the list's",
                node,
                "write map(&expression, list) to keep them, or filter first",
            )

    # names

    def _field(self, node: ast.Field, context: Context) -> Type:
        if context.element is None:
            known = context.scope.names.get(node.name) or context.scope.constants.get(node.name)
            if known is not None:
                return known
            return self._unknown(node, (*context.scope.names, *context.scope.constants), "name")
        if not context.member and node.name in context.scope.constants:
            return context.scope.constants[node.name]
        return self._member(node, context.element, context)

    def _member(self, node: ast.Field, of: Type, context: Context) -> Type:
        hidden = not context.member and node.name in context.scope.names
        match of.kind:
            case Kind.OBJECT:
                member = of.member(node.name)
                if member is not None:
                    made = member.type.or_null() if member.optional else member.type
                    return made.or_null() if of.nullable else made
            case Kind.MAP if not hidden:
                return (of.element or ANY).or_null()
            case Kind.ANY if not hidden:
                return ANY
            case Kind.NULL:
                return of
        if hidden:
            self.error("RP414", f"`{node.name}` is not visible inside a projection", node, _HIDDEN_HELP)
            return ANY
        if of.kind is not Kind.OBJECT:
            self.error("RP401", f"{of.required()} has no field `{node.name}`", node, "only objects have fields")
            return ANY
        return self._unknown(node, of.names, "field")

    def _unknown(self, node: ast.Field, known: tuple[str, ...], what: str) -> Type:
        if node.quoted:
            self.error(
                "RP312", f"there is no {what} `{node.name}`", node, f"double quotes name a field; use '{node.name}'"
            )
            return ANY
        meant = nearest(node.name, known)
        listed = f"known: {', '.join(sorted(known))}" if known else "nothing is known here"
        self.error(
            "RP401", f"there is no {what} `{node.name}`", node, f"did you mean `{meant}`? {listed}" if meant else listed
        )
        return ANY

    def _proved(self, node: Node, made: Type, context: Context) -> Type:
        if not made.nullable or context.member or not context.present:
            return made
        return made.required() if path_of(node) in context.present and made.kind is not Kind.ANY else made

    def _current(self, node: Node, context: Context) -> Type:
        if context.element is None:
            self.error(
                "RP401",
                "`@` stands for no value here",
                node,
                "name what you mean; `@` is for projections and &expressions",
            )
            return ANY
        return context.element

    def _subexpression(self, node: ast.Subexpression, context: Context) -> Type:
        if isinstance(node.left, ast.Not):
            self.infer(node.left.operand, context)
            meant = ".".join((*(path_of(node.left.operand) or ("a",)), *(path_of(node.right) or ("b",))))
            self.error("RP313", f"`!{meant}` negates what is left of the last dot", node, f"write not({meant})")
            return ANY
        left = self.infer(node.left, context)
        # What was proved of a path reaches its members through the whole path, in `_proved`.
        made = self.infer(node.right, context.of_element(left, member=True))
        return made.or_null() if left.nullable and left.kind is not Kind.ANY else made

    # values

    def _literal(self, node: ast.Literal) -> Type:
        if node.form == "bareword":
            self.error("RP311", f"`{node.value}` in backticks is no JSON", node, f"write '{node.value}' for a text")
        if isinstance(node.value, str):
            return Type(Kind.STR, choices=(node.value,))
        if node.value == [] and isinstance(node.value, list):
            return list_of(NOTHING)
        try:
            return type_of(node.value)
        except ContractError as error:
            self.error("RP415", error.what, node, error.why)
            return ANY

    def _list(self, node: ast.MultiSelectList, context: Context) -> Type:
        made = NOTHING
        mixed = False
        for item in node.items:
            joined = widened(made, self.infer(item, context))
            mixed = mixed or joined is None
            made = joined or ANY
        return list_of(ANY if mixed else made)

    def _logic(self, node: ast.And | ast.Or, context: Context) -> Type:
        context = context.absolute()
        sign = "`&&`" if isinstance(node, ast.And) else "`||`"
        if isinstance(node, ast.And):
            # A conjunction inside one is judged with it.
            self._conjoined |= {id(part) for part in (node.left, node.right) if isinstance(part, ast.And)}
        self.condition(node.left, context, sign)
        known = narrowings(node.left) if isinstance(node, ast.And) else frozenset()
        self.condition(node.right, context.knowing(known), sign)
        if isinstance(node, ast.And) and id(node) not in self._conjoined:
            for clash in contradictions(node):
                self.error("RP516", clash.message, clash.node, "one value cannot equal two; use || or drop one of them")
        return BOOL
