"""What a function of the rule language is, and the check that none is declared half.

The functions themselves are in the group modules; who may call them is the checker's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from engine.errors import ContractError
from engine.lang.functions.guard import guarded
from engine.lang.functions.signature import Parameter, Pattern, Signature, parse_signature
from engine.lang.types import Type

Implementation = Callable[..., Any]
Typing = Callable[[Sequence[Type]], "Type | str"]
"""A result type that a signature cannot say: from the arguments' types to the result's, or what is wrong with them."""

FIRST_VERSION: Final = "0.1.0"


class Function(Struct, frozen=True):
    """A function of the language.

    Shape: `signature` is what people read and what the checker uses. `strict`: a null argument at a position outside
    `null_ok` fails (or gives null where a `key?:` lets it); the implementation never sees it. `lazy`: arguments arrive as
    callables without arguments. An `&expression` arrives as a callable from value to value. `in_profile`: packs may call
    it; the others exist because JMESPath has them. `cost` is in static units a call, `cost_per_item` for each element of
    its list arguments. `example` is an expression and its value, executed by a test.
    """

    name: str
    group: str
    signature: str
    typed: Signature
    implementation: Implementation
    help: str
    example: tuple[str, Any]
    strict: bool
    null_ok: frozenset[int]
    lazy: bool
    min_args: int
    max_args: int | None
    in_profile: bool
    cost: int
    cost_per_item: int
    since: str
    typing: Typing | None = None
    instead: str = ""

    @property
    def params(self) -> tuple[Parameter, ...]:
        """The parameters, typed."""
        return self.typed.parameters

    @property
    def returns(self) -> Pattern:
        """The result's pattern."""
        return self.typed.returns


def function(
    group: str,
    signature: str,
    implementation: Implementation,
    *,
    help: str,  # noqa: A002 - the field's name, read by people
    example: tuple[str, Any] | None,
    cost: int,
    cost_per_item: int = 0,
    lazy: bool = False,
    in_profile: bool = True,
    since: str = FIRST_VERSION,
    typing: Typing | None = None,
    instead: str = "",
    guard: bool = True,
) -> Function:
    """Declare a function; name, argument counts, null rules and the run-time guard come from the signature.

    Raises: ContractError: help, example or cost is missing, or the signature cannot be read.
    """
    typed = parse_signature(signature)
    if not help or "\n" in help:
        raise ContractError(f"function {typed.name} has no one-line help")
    if example is None or not example[0]:
        raise ContractError(f"function {typed.name} has no example")
    if cost < 1 or cost_per_item < 0:
        raise ContractError(f"function {typed.name} has no cost")
    takes_null = [parameter.pattern.takes_null for parameter in typed.parameters]
    return Function(
        name=typed.name,
        group=group,
        signature=signature,
        typed=typed,
        implementation=guarded(typed, implementation) if guard and not lazy else implementation,
        help=help,
        example=example,
        strict=guard and not lazy and not all(takes_null),
        null_ok=frozenset(position for position, takes in enumerate(takes_null) if takes),
        lazy=lazy,
        min_args=typed.min_args,
        max_args=typed.max_args,
        in_profile=in_profile,
        cost=cost,
        cost_per_item=cost_per_item,
        since=since,
        typing=typing,
        instead=instead,
    )
