"""Closures for function calls: argument counts, null arguments, lazy arguments, and errors that stay ours.

Knows no function by its meaning but the three whose laziness is the whole point: `if`, `default` and `has`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final, NoReturn, Protocol

from engine.errors import EvaluationError, NullArgumentError
from engine.lang.closures import Closure
from engine.lang.operators import PYTHON_ERRORS, ExpressionError


class CompiledFunction(Protocol):
    """What a call needs to know of a function.

    Shape: `implementation` takes the evaluated arguments, `&x` as a Python callable; where `lazy`, every argument comes
    as a callable without arguments. `strict` functions take no null except at the positions of `null_ok`.
    """

    @property
    def name(self) -> str: ...
    @property
    def lazy(self) -> bool: ...
    @property
    def min_args(self) -> int: ...
    @property
    def max_args(self) -> int | None: ...
    @property
    def strict(self) -> bool: ...
    @property
    def null_ok(self) -> Collection[int]: ...
    @property
    def implementation(self) -> Callable[..., Any]: ...


def unknown_function(name: str) -> Closure:
    """A call that fails when, and only when, it is reached."""

    def run(_value: Any) -> NoReturn:
        raise ExpressionError(f"there is no function {name}()", "unknown-function")

    return run


def call(
    function: CompiledFunction, args: Sequence[Closure], never_null: Collection[int], *, propagate: bool
) -> Closure:
    """A call of a known function.

    `never_null` are the positions whose argument cannot be null (constants, `&expressions`): not looked at again.
    With `propagate` a null where the function takes none makes the call null.
    """
    count = len(args)
    if count < function.min_args or (function.max_args is not None and count > function.max_args):
        return _wrong_count(function, count)
    if function.lazy:
        return _lazy_call(function, tuple(args))
    checked = frozenset(
        position
        for position in range(count)
        if function.strict and position not in never_null and not _takes_null(function, position)
    )
    if count == 1:
        return _one_argument(function, args[0], checked=bool(checked), propagate=propagate)
    if count == 2:
        return _two_arguments(function, args, checked, propagate=propagate)
    return _many_arguments(function, tuple(args), checked, propagate=propagate)


def _takes_null(function: CompiledFunction, position: int) -> bool:
    if function.max_args is None and position > function.min_args:
        # The last parameter stands for any number of arguments, and its position is the first of them.
        position = function.min_args
    return position in function.null_ok


def _wrong_count(function: CompiledFunction, count: int) -> Closure:
    if function.max_args is None:
        wanted = f"at least {function.min_args}"
    elif function.min_args == function.max_args:
        wanted = f"{function.min_args}"
    else:
        wanted = f"{function.min_args} to {function.max_args}"

    def run(_value: Any) -> NoReturn:
        raise ExpressionError(f"{function.name}() takes {wanted} arguments, {count} given", "invalid-arity")

    return run


def _one_argument(function: CompiledFunction, arg: Closure, *, checked: bool, propagate: bool) -> Closure:
    implementation = function.implementation
    if not checked:

        def run_unchecked(value: Any) -> Any:
            try:
                return implementation(arg(value))
            except PYTHON_ERRORS as error:
                raise _wrapped(function, error) from error

        return run_unchecked

    def run(value: Any) -> Any:
        given = arg(value)
        if given is None:
            return _null_argument(function, 0, propagate=propagate)
        try:
            return implementation(given)
        except PYTHON_ERRORS as error:
            raise _wrapped(function, error) from error

    return run


def _two_arguments(
    function: CompiledFunction, args: Sequence[Closure], checked: Collection[int], *, propagate: bool
) -> Closure:
    implementation = function.implementation
    first, second = args
    check_first, check_second = 0 in checked, 1 in checked

    def run(value: Any) -> Any:
        left = first(value)
        right = second(value)
        if check_first and left is None:
            return _null_argument(function, 0, propagate=propagate)
        if check_second and right is None:
            return _null_argument(function, 1, propagate=propagate)
        try:
            return implementation(left, right)
        except PYTHON_ERRORS as error:
            raise _wrapped(function, error) from error

    return run


def _many_arguments(
    function: CompiledFunction, args: tuple[Closure, ...], checked: Collection[int], *, propagate: bool
) -> Closure:
    implementation = function.implementation
    positions = tuple(sorted(checked))

    def run(value: Any) -> Any:
        given = [arg(value) for arg in args]
        for position in positions:
            if given[position] is None:
                return _null_argument(function, position, propagate=propagate)
        try:
            return implementation(*given)
        except PYTHON_ERRORS as error:
            raise _wrapped(function, error) from error

    return run


def _null_argument(function: CompiledFunction, position: int, *, propagate: bool) -> None:
    if propagate:
        return
    message = f"{function.name}() takes no null, and argument {position + 1} is null"
    raise NullArgumentError(message, remedy="use default(), required() or has()")


def _wrapped(function: CompiledFunction, error: Exception) -> EvaluationError:
    return ExpressionError(f"{function.name}() failed: {str(error) or type(error).__name__}", "invalid-value")


def _lazy_call(function: CompiledFunction, args: tuple[Closure, ...]) -> Closure:
    implementation = function.implementation

    def run(value: Any) -> Any:
        try:
            return implementation(*[partial(arg, value) for arg in args])
        except PYTHON_ERRORS as error:
            raise _wrapped(function, error) from error

    build = _IN_PLACE.get(function.name)
    return run if build is None or len(args) != build[0] else build[1](args, run)


def _has(args: tuple[Closure, ...], _general: Closure) -> Closure:
    arg = args[0]
    return lambda value: arg(value) is not None


def _default(args: tuple[Closure, ...], _general: Closure) -> Closure:
    first, second = args

    def run(value: Any) -> Any:
        found = first(value)
        return second(value) if found is None else found

    return run


def _if(args: tuple[Closure, ...], general: Closure) -> Closure:
    condition, taken, other = args

    def run(value: Any) -> Any:
        chosen = condition(value)
        if chosen is True:
            return taken(value)
        # What is no boolean is the function's own business: it has the words for it.
        return other(value) if chosen is False else general(value)

    return run


# How many arguments, and the closure that needs no thunks.
_IN_PLACE: Final[dict[str, tuple[int, Callable[[tuple[Closure, ...], Closure], Closure]]]] = {
    "has": (1, _has),
    "default": (2, _default),
    "if": (3, _if),
}
