"""The expression parser: JMESPath's grammar to the tree of `engine.lang.ast`, with exact positions.

Knows no profile, no types and no functions: `engine.lang.check` does. It refuses a few texts the published parser lets
through by accident: a missing comma, a comma before a closing parenthesis, two numbers in one slice part, `(f)(x)`.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from engine.lang import ast
from engine.lang.lexer import ExpressionSyntaxError, Token, TokenKind, tokenize
from engine.lang.limits import MAX_TREE_DEPTH
from engine.lang.walk import walk_with_depth

__all__ = ["ExpressionSyntaxError", "parse"]

T = TokenKind

# How tightly a token holds what stands left of it; absent means 0. The numbers are the published grammar's.
_POWER: Final = {
    T.PIPE: 1,
    T.OR: 2,
    T.AND: 3,
    T.EQUAL: 5,
    T.NOT_EQUAL: 5,
    T.LESS: 5,
    T.LESS_EQUAL: 5,
    T.GREATER: 5,
    T.GREATER_EQUAL: 5,
    T.FLATTEN: 9,
    T.STAR: 20,
    T.FILTER: 21,
    T.DOT: 40,
    T.NOT: 45,
    T.LEFT_BRACE: 50,
    T.LEFT_BRACKET: 55,
    T.LEFT_PAREN: 60,
}
_COMPARATORS: Final = frozenset({T.EQUAL, T.NOT_EQUAL, T.LESS, T.LESS_EQUAL, T.GREATER, T.GREATER_EQUAL})
# A token weaker than this ends a projection's right side.
_ENDS_PROJECTION: Final = 10
_NOT_POWER: Final = 45

_LITERAL_FORMS: Final = {T.RAW: "raw", T.JSON: "json", T.BAREWORD: "bareword"}
_WORD_OPERATORS: Final = {"and": "&&", "or": "||", "is": "==", "eq": "==", "ne": "!="}

_NUMBER_HELP: Final = "write a number in backticks: `{}`"
_QUOTE_HELP: Final = "write \\' for a quote inside text"
_DOUBLE_QUOTE_HELP: Final = "double quotes name a field; write text in single quotes"


def parse(text: str) -> ast.Node:
    """The tree of one expression.

    Raises: ExpressionSyntaxError: with the offending characters' offsets.
    """
    parser = _Parser(text)
    node = parser.expression(0)
    parser.expect_end()
    for found, depth in walk_with_depth(node):
        if depth > MAX_TREE_DEPTH:
            _refuse_depth(found.start, found.end)
    return node


def _refuse_depth(start: int, end: int) -> NoReturn:
    message = f"an expression nested deeper than {MAX_TREE_DEPTH}"
    raise ExpressionSyntaxError(message, start, end, "name parts of it with `let`")


class _Parser:
    """Top-down operator precedence over a token list."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._at = 0
        self._nesting = 0

    # Entry points of `parse` ------------------------------------------------------------------------------------

    def expression(self, power: int) -> ast.Node:
        token = self._tokens[self._at]
        self._nesting += 1
        if self._nesting > MAX_TREE_DEPTH:
            _refuse_depth(token.start, token.end)
        left = self._first(token)
        while power < _POWER.get(self._kind, 0):
            left = self._next(left, token.start)
        self._nesting -= 1
        return left

    def expect_end(self) -> None:
        if self._kind is not T.END:
            raise self._unexpected("an operator or the end")

    # What an expression may begin with ---------------------------------------------------------------------------

    def _first(self, token: Token) -> ast.Node:  # noqa: C901 - one case a token
        start = token.start
        match token.kind:
            case T.NAME:
                self._at += 1
                return ast.Field(token.value, start=start, end=token.end)
            case T.QUOTED_NAME:
                self._at += 1
                if self._kind is T.LEFT_PAREN:
                    message = f"a function name in double quotes: {self._written(token)}"
                    raise ExpressionSyntaxError(message, start, token.end, "write the function's name without quotes")
                return ast.Field(token.value, quoted=True, start=start, end=token.end)
            case T.RAW | T.JSON | T.BAREWORD:
                self._at += 1
                return ast.Literal(token.value, _LITERAL_FORMS[token.kind], start=start, end=token.end)
            case T.CURRENT:
                self._at += 1
                return ast.Current(start=start, end=token.end)
            case T.STAR:
                self._at += 1
                right = self._projected(_POWER[T.STAR])
                return ast.ValueProjection(_implied(start), right, start=start, end=self._end)
            case T.FILTER:
                return self._filter(_implied(start), start)
            case T.FLATTEN:
                return self._flatten(_implied(start), start)
            case T.LEFT_BRACE:
                return self._multi_select_hash()
            case T.LEFT_PAREN:
                self._at += 1
                inner = self.expression(0)
                self._close(T.RIGHT_PAREN, token)
                return inner
            case T.NOT:
                self._at += 1
                operand = self.expression(_NOT_POWER)
                return ast.Not(operand, start=start, end=self._end)
            case T.EXPREF:
                self._at += 1
                body = self.expression(0)
                return ast.ExprRef(body, start=start, end=self._end)
            case T.LEFT_BRACKET:
                return self._first_bracket(start)
            case _:
                raise self._unexpected("an expression")

    def _first_bracket(self, start: int) -> ast.Node:
        following = self._peek(1)
        if following in {T.NUMBER, T.COLON}:
            return self._index(_implied(start), start)
        if following is T.STAR and self._peek(2) is T.RIGHT_BRACKET:
            return self._list_projection(_implied(start), start)
        return self._multi_select_list()

    # What may follow an expression -------------------------------------------------------------------------------

    def _next(self, left: ast.Node, start: int) -> ast.Node:
        token = self._tokens[self._at]
        kind = token.kind
        match kind:
            case T.DOT:
                return self._dot(left, start)
            case T.LEFT_BRACKET:
                return self._bracket(left, start)
            case T.LEFT_PAREN:
                return self._call(left, start)
            case T.FILTER:
                return self._filter(left, start)
            case T.FLATTEN:
                return self._flatten(left, start)
            case T.PIPE:
                return self._binary(ast.Pipe, left, start)
            case T.OR:
                return self._binary(ast.Or, left, start)
            case T.AND:
                return self._binary(ast.And, left, start)
            case _ if kind in _COMPARATORS:
                self._at += 1
                right = self.expression(_POWER[kind])
                return ast.Comparator(token.value, left, right, start=start, end=self._end)
            case _:
                raise self._unexpected("an operator or the end")

    def _binary(self, node: type[ast.Pipe | ast.Or | ast.And], left: ast.Node, start: int) -> ast.Node:
        power = _POWER[self._kind]
        self._at += 1
        right = self.expression(power)
        return node(left, right, start=start, end=self._end)

    def _dot(self, left: ast.Node, start: int) -> ast.Node:
        self._at += 1
        if self._kind is T.STAR:
            self._at += 1
            right = self._projected(_POWER[T.DOT])
            return ast.ValueProjection(left, right, start=start, end=self._end)
        right = self._after_dot(_POWER[T.DOT])
        return ast.Subexpression(left, right, start=start, end=self._end)

    def _after_dot(self, power: int) -> ast.Node:
        match self._kind:
            case T.NAME | T.QUOTED_NAME | T.STAR:
                return self.expression(power)
            case T.LEFT_BRACKET:
                return self._multi_select_list()
            case T.LEFT_BRACE:
                return self._multi_select_hash()
            case _:
                raise self._unexpected("a name, `*`, `[` or `{` after the dot")

    def _bracket(self, left: ast.Node, start: int) -> ast.Node:
        following = self._peek(1)
        if following in {T.NUMBER, T.COLON}:
            return self._index(left, start)
        if following is not T.STAR:
            self._at += 1
            raise self._unexpected("a number, `:`, `*`, `?` or `]`")
        return self._list_projection(left, start)

    def _index(self, left: ast.Node, start: int) -> ast.Node:
        opened = self._tokens[self._at]
        self._at += 1
        if self._kind is T.COLON or self._peek(1) is T.COLON:
            right = self._slice(opened)
        else:
            value = self._tokens[self._at].value
            self._at += 1
            self._close(T.RIGHT_BRACKET, opened)
            right = ast.Index(value, start=opened.start, end=self._end)
        node = ast.IndexExpression(left, right, start=start, end=self._end)
        # The published parser projects a slice only when no index stands directly before it; `a[0][1:2].b` shows it.
        if isinstance(right, ast.Index) or isinstance(left, ast.IndexExpression):
            return node
        projected = self._projected(_POWER[T.STAR])
        return ast.Projection(node, projected, start=start, end=self._end)

    def _slice(self, opened: Token) -> ast.Node:
        parts: list[int | None] = [None, None, None]
        at = 0
        while self._kind is not T.RIGHT_BRACKET:
            token = self._tokens[self._at]
            if token.kind is T.COLON and at < len(parts) - 1:
                at += 1
            elif token.kind is T.NUMBER and self._peek(-1) is not T.NUMBER:
                parts[at] = token.value
            else:
                raise self._unexpected("`]`" if at == len(parts) - 1 else "a number, `:` or `]`")
            self._at += 1
        self._at += 1
        return ast.Slice(parts[0], parts[1], parts[2], start=opened.start, end=self._end)

    def _list_projection(self, left: ast.Node, start: int) -> ast.Node:
        opened = self._tokens[self._at]
        self._at += 2
        self._close(T.RIGHT_BRACKET, opened)
        right = self._projected(_POWER[T.STAR])
        return ast.Projection(left, right, start=start, end=self._end)

    def _flatten(self, left: ast.Node, start: int) -> ast.Node:
        self._at += 1
        flattened = ast.Flatten(left, start=start, end=self._end)
        right = self._projected(_POWER[T.FLATTEN])
        return ast.Projection(flattened, right, start=start, end=self._end)

    def _filter(self, left: ast.Node, start: int) -> ast.Node:
        opened = self._tokens[self._at]
        self._at += 1
        condition = self.expression(0)
        self._close(T.RIGHT_BRACKET, opened)
        right = self._projected(_POWER[T.FILTER])
        return ast.FilterProjection(left, right, condition, start=start, end=self._end)

    def _projected(self, power: int) -> ast.Node:
        """The right side of a projection, evaluated for each element; nothing written means the element itself."""
        kind = self._kind
        if _POWER.get(kind, 0) < _ENDS_PROJECTION:
            return _implied(self._end)
        if kind in {T.LEFT_BRACKET, T.FILTER}:
            return self.expression(power)
        if kind is T.DOT:
            self._at += 1
            return self._after_dot(power)
        raise self._unexpected("an operator or the end")

    # Lists of things ---------------------------------------------------------------------------------------------

    def _call(self, left: ast.Node, start: int) -> ast.Node:
        opened = self._tokens[self._at]
        if not isinstance(left, ast.Field) or self._peek(-1) is not T.NAME:
            raise self._unexpected("an operator or the end", "only a function's name may stand before `(`")
        self._at += 1
        args: list[ast.Node] = []
        if self._kind is not T.RIGHT_PAREN:
            args.append(self.expression(0))
            while self._kind is T.COMMA:
                if self._peek(1) is T.RIGHT_PAREN:
                    self._at += 1
                    raise self._unexpected("an argument", "leave the last comma out")
                self._at += 1
                args.append(self.expression(0))
        self._close(T.RIGHT_PAREN, opened, "`,` or ")
        return ast.Call(left.name, tuple(args), start=start, end=self._end)

    def _multi_select_list(self) -> ast.Node:
        opened = self._tokens[self._at]
        self._at += 1
        items = [self.expression(0)]
        while self._kind is T.COMMA:
            self._at += 1
            items.append(self.expression(0))
        self._close(T.RIGHT_BRACKET, opened, "`,` or ")
        return ast.MultiSelectList(tuple(items), start=opened.start, end=self._end)

    def _multi_select_hash(self) -> ast.Node:
        opened = self._tokens[self._at]
        self._at += 1
        pairs = [self._pair()]
        while self._kind is T.COMMA:
            self._at += 1
            pairs.append(self._pair())
        self._close(T.RIGHT_BRACE, opened, "`,` or ")
        return ast.MultiSelectHash(tuple(pairs), start=opened.start, end=self._end)

    def _pair(self) -> tuple[str, ast.Node]:
        key = self._tokens[self._at]
        if key.kind not in {T.NAME, T.QUOTED_NAME}:
            raise self._unexpected("a key", 'write a key as name or "name"' if key.kind is T.RAW else "")
        self._at += 1
        if self._kind is not T.COLON:
            raise self._unexpected("`:` after the key")
        self._at += 1
        return key.value, self.expression(0)

    # Token access and errors -------------------------------------------------------------------------------------

    @property
    def _kind(self) -> TokenKind:
        return self._tokens[self._at].kind

    @property
    def _end(self) -> int:
        """Where the token read last ends."""
        return self._tokens[self._at - 1].end

    def _peek(self, distance: int) -> TokenKind:
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)].kind

    def _written(self, token: Token) -> str:
        return self._text[token.start : token.end]

    def _close(self, kind: TokenKind, opened: Token, alternatives: str = "") -> None:
        if self._kind is kind:
            self._at += 1
            return
        if self._kind is T.END:
            message = f"`{opened.value}` is never closed"
            raise ExpressionSyntaxError(message, opened.start, opened.end, f"close it with {kind.value}")
        raise self._unexpected(f"{alternatives}{kind.value}")

    def _unexpected(self, expected: str, help_: str = "") -> ExpressionSyntaxError:
        token = self._tokens[self._at]
        if token.kind is T.END:
            found = "the expression is empty" if len(self._tokens) == 1 else "the expression ends too early"
        else:
            found = f"found {self._written(token)}"
        message = f"{found}, expected {expected}"
        return ExpressionSyntaxError(message, token.start, token.end, help_ or self._hint(token))

    def _hint(self, token: Token) -> str:
        """The way out of a common slip, from the token that does not fit and the one before it."""
        before: Any = self._tokens[self._at - 1] if self._at else None
        after_dot = before is not None and before.kind is T.DOT
        in_bracket = before is not None and before.kind is T.LEFT_BRACKET
        match token.kind:
            case T.NUMBER if after_dot:
                return f"write an index in brackets: [{self._written(token)}]"
            case T.NUMBER:
                return _NUMBER_HELP.format(self._written(token))
            case T.RAW if after_dot or in_bracket:
                return 'a name with special characters goes in double quotes: ."…"'
            case T.RAW if before is not None and before.kind is T.RAW and before.end == token.start:
                return _QUOTE_HELP
            case T.NAME if token.value in _WORD_OPERATORS:
                return f"write {_WORD_OPERATORS[token.value]} instead of {token.value}"
            case T.NAME if before is not None and before.kind is T.NAME and before.value == "not":
                return f"write not({token.value})"
            case T.NAME if in_bracket:
                return "an index is a number; [?condition] chooses elements"
            case T.QUOTED_NAME:
                return _DOUBLE_QUOTE_HELP
            case T.RAW | T.JSON | T.NAME if before is not None and before.kind in _VALUES:
                return "put a comma or an operator between the two"
            case _:
                return ""


_VALUES: Final = frozenset({T.NAME, T.QUOTED_NAME, T.RAW, T.JSON, T.BAREWORD, T.RIGHT_PAREN, T.RIGHT_BRACKET})


def _implied(at: int) -> ast.Current:
    """The current value where none is written: zero characters wide."""
    return ast.Current(start=at, end=at)
