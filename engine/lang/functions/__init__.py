"""The functions of the rule language, one module a group.

`FUNCTIONS` is what compiling, checking and folding look names up in.
"""

from engine.lang.functions.registry import FUNCTIONS, Function

__all__ = ["FUNCTIONS", "Function"]
