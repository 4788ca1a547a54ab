"""The strict profile: the only gate for the expressions of packs.

Says what is wrong and where, and what type an expression has. It changes no expression; folding is `fold`'s. How parts are
typed is in `check_infer`, `check_calls` and `check_compare`.
"""

from __future__ import annotations

from engine.lang.ast import Node
from engine.lang.check_cost import cost
from engine.lang.check_infer import Inference, Locator
from engine.lang.check_scope import Path, Scope, narrowings
from engine.lang.diagnostics import Diagnostics
from engine.lang.limits import MAX_RULE_COST_UNITS
from engine.lang.types import Type

__all__ = ["Locator", "Path", "Scope", "check_condition", "check_expression", "cost", "narrowings"]


def check_expression(
    node: Node, scope: Scope, *, where: Locator, diagnostics: Diagnostics, optional_position: bool = False
) -> Type:
    """The type of an expression; ANY where it has an error, which is then among the diagnostics.

    `optional_position` is that of a `key?:`, where a null passes through strict functions and makes the whole null.
    """
    inference = Inference(scope, where, diagnostics, optional=optional_position)
    made = inference.infer(node, inference.root())
    _check_cost(node, where, diagnostics)
    return made


def check_condition(node: Node, scope: Scope, *, where: Locator, diagnostics: Diagnostics) -> None:
    """Check an expression that has to be a boolean: a `when`."""
    inference = Inference(scope, where, diagnostics, optional=False)
    inference.condition(node, inference.root(), "`when`")
    _check_cost(node, where, diagnostics)


def _check_cost(node: Node, where: Locator, diagnostics: Diagnostics) -> None:
    units = cost(node)
    if units > MAX_RULE_COST_UNITS:
        diagnostics.error(
            "RP810",
            f"the expression may cost {units} units; the limit is {MAX_RULE_COST_UNITS}",
            where(node.start, node.end),
            help="loop over one list only, or put the inner part on the element with `derived`",
        )
