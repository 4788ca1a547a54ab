"""The shipped packs' own expressions: our closures against the `jmespath` package's compiled search.

Both sides get the same trees (templates cut, constants folded), the same functions and the same data: every value an
expression saw while the packs' in-pack tests ran. The memo takes no part.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import jmespath
from jmespath.functions import Functions
from jmespath.parser import ParsedResult

from engine.errors import EvaluationError
from engine.lang import emit, evaluate, program
from engine.lang.ast import Field, Node
from engine.lang.compile import compile_node
from engine.lang.functions import FUNCTIONS
from engine.lang.linking import link
from engine.lang.oracle import to_jmespath
from engine.lang.packtest import run_tests
from engine.lang.walk import walk
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT

WANTED_RATIO = 4.0
RUNS = 7
LAZY = ("if", "default", "has", "required")

Sample = tuple[Node, dict[str, Any], Any]


def samples() -> list[Sample]:
    """Each distinct pair of expression and data met while the in-pack tests ran, with the value it gave."""
    met: dict[tuple[int, str], Sample] = {}

    def recording(node: Node, functions: Mapping[str, Any], names: Any = None, propagate_null: bool = False) -> Any:
        closure = compile_node(node, functions, names=names, propagate_null=propagate_null)
        used = [n.name for n in walk(node) if isinstance(n, Field) and names and n.name in names]

        def run(scope: dict[str, Any]) -> Any:
            value = closure(scope)
            try:
                data = {**scope, **{name: names[name](scope) for name in used}}
            except EvaluationError:
                return value  # a let this branch never looks at: the package would look
            met.setdefault((id(node), repr(data)), (node, data, value))
            return value

        return run

    modules: list[Any] = [emit, evaluate, program]
    for module in modules:
        module.compile_node = recording
    linked = link(shipped_packs(), CATALOGUE)
    if linked.program is None:
        raise SystemExit("the shipped packs do not link; run `engine validate`")
    run_tests(linked.program, CATALOGUE, JOINT)
    for module in modules:
        module.compile_node = compile_node
    return list(met.values())


class _Ours(Functions):
    """Our functions, registered as the package wants them."""


def _register() -> None:
    for function in FUNCTIONS.values():
        name = function.name
        if f"_func_{name}" in Functions.__dict__ and name not in LAZY:
            continue

        def method(_self: Any, *args: Any, _function: Any = function) -> Any:
            made = [_callable(arg) for arg in args]
            if _function.lazy:
                made = [lambda arg=arg: arg for arg in made]
            elif _function.strict and any(a is None and n not in _function.null_ok for n, a in enumerate(args)):
                return None
            return _function.implementation(*made)

        method.signature = ({"types": [], "variadic": True},)  # type: ignore[attr-defined]
        setattr(_Ours, f"_func_{name}", method)
        _Ours.FUNCTION_TABLE = {**_Ours.FUNCTION_TABLE, name: {"function": method, "signature": method.signature}}  # type: ignore[attr-defined]


def _callable(argument: Any) -> Any:
    visit = getattr(argument, "visit", None)
    return argument if visit is None else lambda value: visit(argument.expression, value)


def comparable(found: list[Sample]) -> list[tuple[Callable[[], Any], Callable[[], Any]]]:
    """Pairs of calls, ours and the package's, that give equal values."""
    _register()
    options = jmespath.Options(custom_functions=_Ours())
    pairs = []
    for node, data, value in found:
        theirs: Any = ParsedResult("", cast("Any", to_jmespath(node)))
        ours = compile_node(node, FUNCTIONS)
        try:
            if theirs.search(data, options) != value or ours(data) != value:
                continue
        except Exception:
            continue
        pairs.append((_bound(ours, data), _bound_search(theirs, data, options)))
    return pairs


def _bound(closure: Callable[[Any], Any], data: Any) -> Callable[[], Any]:
    return lambda: closure(data)


def _bound_search(parsed: Any, data: Any, options: Any) -> Callable[[], Any]:
    return lambda: parsed.search(data, options)


def _seconds(calls: list[Callable[[], Any]]) -> float:
    start = time.process_time()
    for call in calls:
        call()
    return time.process_time() - start


def main() -> None:
    """Print the comparison."""
    found = samples()
    pairs = comparable(found)
    # Turn about, in processor time: what else the machine does falls on both sides.
    runs = [(_seconds([mine for mine, _ in pairs]), _seconds([other for _, other in pairs])) for _ in range(RUNS)]
    ours, theirs = (statistics.median(side) for side in zip(*runs, strict=True))
    print("EXPRESSIONS OF THE SHIPPED PACKS (memo off)")
    print(f"  evaluations met in in-pack tests      {len(found)}")
    print(f"  of them comparable with the package   {len(pairs)}   (the rest fail there in branches never taken here)")
    print(f"  ours                                  {ours / len(pairs) * 1e6:8.2f} µs an expression")
    print(f"  jmespath, compiled search             {theirs / len(pairs) * 1e6:8.2f} µs an expression")
    print(f"  ratio                                 {theirs / ours:8.1f}x  (wanted: at least {WANTED_RATIO:.0f}x)")


if __name__ == "__main__":
    main()
