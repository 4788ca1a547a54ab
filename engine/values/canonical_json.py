"""One text for one JSON value, so that equal values have equal digests.

Sorted keys, no spaces, characters as themselves, no floats. Nothing is hashed or parsed here.
"""

from __future__ import annotations

import json

from engine.errors import ContractError


def canonical_json(value: object) -> str:
    """The canonical text of a value made of None, bool, int, str, lists or tuples, and mappings with text keys.

    Raises: ContractError: a float (its text depends on the printer), a key that is not text, or any other type.
    """
    _check(value, "$")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _check(value: object, path: str) -> None:
    if value is None or isinstance(value, (str, int)):
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ContractError(f"{key!r} is not text", where=path, why="JSON keys are text")
            _check(item, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
    else:
        raise ContractError(
            f"{type(value).__name__} has no canonical JSON", where=path, remedy="use int, str, bool, None, list or dict"
        )
