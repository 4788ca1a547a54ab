"""Function calls: does the function exist, may packs call it, do its arguments fit.

What functions there are and what they take is the registry's; matching types is `check_match`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.check_match import Bindings, Fit
from engine.lang.check_scope import Context, narrowings
from engine.lang.diagnostics import nearest
from engine.lang.functions import FUNCTIONS, Function
from engine.lang.functions.signature import Parameter, Shape
from engine.lang.patterns import UnsafePatternError, replacement_parts, safe_pattern
from engine.lang.types import ANY, Kind, Type

if TYPE_CHECKING:
    from engine.lang.check_infer import Inference


def check_call(inference: Inference, node: ast.Call, context: Context) -> Type:
    """The type of a call; ANY where something is wrong with it."""
    function = FUNCTIONS.get(node.name)
    if function is None or not function.in_profile:
        _refuse(inference, node, function)
        for argument in node.args:
            inference.infer(
                argument.body if isinstance(argument, ast.ExprRef) else argument, _inside(argument, context)
            )
        return ANY
    if not _check_count(inference, node, function):
        return ANY
    bindings = Bindings()
    given: dict[int, Type] = {}
    fits, passes_null = True, False
    # An &expression's input type is what the other arguments say, wherever it stands.
    ordered = sorted(enumerate(node.args), key=lambda entry: isinstance(entry[1], ast.ExprRef))
    for position, argument in ordered:
        parameter = function.typed.parameter(position)
        if isinstance(argument, ast.ExprRef) and parameter.pattern.shape is Shape.EXPRESSION:
            fits = _check_expression(inference, argument, parameter, bindings, context) and fits
            continue
        given[position] = inference.infer(argument, _branch(node, position, context))
        fit = _check_argument(inference, node, argument, given[position], parameter, bindings)
        fits = fits and fit is not Fit.NO
        passes_null = passes_null or (fit is Fit.NULLABLE and function.strict)
    if node.name == "length":
        inference.warn_dropped(node.args[0], "this length")
    if function.group == "regex":
        _check_pattern(inference, node)
    if not fits:
        return ANY
    made = _result(inference, node, function, bindings, [given[at] for at in sorted(given)])
    return made.or_null() if passes_null and inference.optional else made


def _refuse(inference: Inference, node: ast.Call, function: Function | None) -> None:
    if function is not None:
        inference.error("RP331", f"{node.name}() is not for packs", node, function.instead)
        return
    meant = nearest(node.name, (name for name, known in FUNCTIONS.items() if known.in_profile))
    inference.error(
        "RP331",
        f"there is no function {node.name}()",
        node,
        f"did you mean {meant}()?" if meant else "`engine functions` lists them",
    )


def _inside(argument: Node, context: Context) -> Context:
    return context.of_element(ANY) if isinstance(argument, ast.ExprRef) else context


def _check_count(inference: Inference, node: ast.Call, function: Function) -> bool:
    count = len(node.args)
    if count >= function.min_args and (function.max_args is None or count <= function.max_args):
        return True
    if function.max_args is None:
        wanted = f"{function.min_args} or more"
    elif function.min_args == function.max_args:
        wanted = str(function.min_args)
    else:
        wanted = f"{function.min_args} to {function.max_args}"
    inference.error("RP332", f"{node.name}() takes {wanted} arguments, {count} given", node, function.signature)
    return False


def _branch(node: ast.Call, position: int, context: Context) -> Context:
    """`if(has(x), …)` proves x in the taken branch."""
    if node.name == "if" and position == 1:
        return context.knowing(narrowings(node.args[0]))
    return context


def _check_argument(
    inference: Inference, node: ast.Call, argument: Node, given: Type, parameter: Parameter, bindings: Bindings
) -> Fit:
    if isinstance(argument, ast.ExprRef):
        return Fit.NO  # inferring it has objected already
    pattern = parameter.pattern
    if pattern.shape is Shape.EXPRESSION:
        inference.error(
            "RP415",
            f"{node.name}() takes an &expression for `{parameter.name}`",
            argument,
            "write & before the expression",
        )
        return Fit.NO
    fit = bindings.match(given, pattern)
    if pattern.shape is Shape.BOOL and fit is not Fit.YES:
        inference.require_bool(argument, given, f"{node.name}()")
    elif fit is Fit.NO:
        inference.error(
            "RP415",
            f"{node.name}() takes {_wanted(parameter, bindings)} for `{parameter.name}`, and this is {given}",
            argument,
            FUNCTIONS[node.name].signature,
        )
    elif fit is Fit.NULLABLE and not inference.optional:
        inference.error(
            "RP413",
            f"{node.name}() takes no null for `{parameter.name}`, and this may be null",
            argument,
            "use default(x, y) or required(x, 'why'), or test it with has(x)",
        )
    return fit


def _wanted(parameter: Parameter, bindings: Bindings) -> str:
    """A pattern in words; a variable as what it stands for by now."""
    if parameter.pattern.shape is not Shape.VARIABLE:
        return str(parameter.pattern)
    known = bindings.resolve(parameter.pattern).required()
    if known.kind is Kind.ANY:
        return "text or integer"
    return "str (like the arguments before)" if known.kind is Kind.STR else f"{known} (like the arguments before)"


def _check_expression(
    inference: Inference, argument: ast.ExprRef, parameter: Parameter, bindings: Bindings, context: Context
) -> bool:
    taken, wanted = parameter.pattern.parts
    body = inference.infer(argument.body, context.of_element(bindings.resolve(taken)))
    if wanted.shape is Shape.BOOL:
        inference.require_bool(argument, body, f"`{parameter.name}`")
        return True
    fit = bindings.match(body, wanted)
    if fit is Fit.NO:
        inference.error("RP415", f"`{parameter.name}` has to be text or integer, and this is {body}", argument)
    elif fit is Fit.NULLABLE:
        inference.error(
            "RP413", f"`{parameter.name}` may be null for some element", argument, "use default(x, y), or filter first"
        )
    return fit is not Fit.NO


def _check_pattern(inference: Inference, node: ast.Call) -> None:
    pattern = node.args[0]
    if not (isinstance(pattern, ast.Literal) and isinstance(pattern.value, str)):
        inference.error(
            "RP330", "a regular expression has to be written out", pattern, "write it as a literal in single quotes"
        )
        return
    try:
        safe = safe_pattern(pattern.value)
    except UnsafePatternError as error:
        why = f": {error.why}" if error.why else ""
        inference.error("RP330", f"{error.what}{why}", pattern, error.remedy)
        return
    last = node.args[-1]
    if not isinstance(last, ast.Literal):
        return
    try:
        if node.name == "re_replace" and isinstance(last.value, str):
            replacement_parts(last.value, safe)
        elif node.name == "re_capture" and isinstance(last.value, int):
            safe.capture("", last.value)
    except EngineError as error:
        inference.error("RP330", error.what, last, error.remedy)


def _result(inference: Inference, node: ast.Call, function: Function, bindings: Bindings, given: list[Type]) -> Type:
    if function.typing is None:
        return bindings.resolve(function.returns)
    made = function.typing(given)
    if isinstance(made, str):
        inference.error("RP415", made, node, function.signature)
        return ANY
    return made
