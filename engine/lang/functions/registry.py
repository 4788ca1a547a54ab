"""All functions of the rule language, by name.

Declares none itself: each group has its module. Adding a function is a change to a group module and, because programs
carry function names, to the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from engine.errors import ContractError
from engine.lang.functions import integers, jmespath, lists, names, null, quantities, regex, tables, text
from engine.lang.functions.function import Function

__all__ = ["FUNCTIONS", "Function", "registered"]


def registered(*groups: Iterable[Function]) -> Mapping[str, Function]:
    """Groups put together. Raises ContractError when two functions have one name."""
    made: dict[str, Function] = {}
    for group in groups:
        for function in group:
            if function.name in made:
                raise ContractError(f"two functions are named {function.name}")
            made[function.name] = function
    return MappingProxyType(made)


FUNCTIONS: Final[Mapping[str, Function]] = registered(
    # JMESPath's `join` takes texts only; the language's own stands in its place.
    jmespath.GROUP,
    null.GROUP,
    text.GROUP,
    names.GROUP,
    integers.GROUP,
    quantities.GROUP,
    lists.GROUP,
    tables.GROUP,
    regex.GROUP,
)
