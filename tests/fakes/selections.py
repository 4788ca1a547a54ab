"""Label and field selectors, as far as anybody here uses them."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.refusals import bad_request

_SET = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")
_FIELDS = {"metadata.name", "metadata.namespace", "spec.nodeName", "type", "reason", "involvedObject.name"}


def matches(body: dict[str, Any], labels: str, fields: str) -> bool:
    """The object is selected. Raises: RefusalError: a selector is not understood."""
    own = body["metadata"].get("labels") or {}
    return all(_label(own, term) for term in _terms(labels)) and all(_field(body, term) for term in _terms(fields))


def _terms(text: str) -> list[str]:
    return [term.strip() for term in re.split(r",(?![^(]*\))", text) if term.strip()]


def _label(labels: dict[str, str], term: str) -> bool:
    found = _SET.match(term)
    if found:
        key, how, values = found.groups()
        is_in = labels.get(key) in [value.strip() for value in values.split(",")]
        return is_in if how == "in" else not is_in
    if "!=" in term:
        key, value = term.split("!=", 1)
        return labels.get(key) != value
    if "=" in term:
        key, value = term.replace("==", "=").split("=", 1)
        return labels.get(key) == value
    return term[1:] not in labels if term.startswith("!") else term in labels


def _field(body: dict[str, Any], term: str) -> bool:
    key, _, value = term.replace("==", "=").partition("=")
    is_negative = key.endswith("!")
    key = key.rstrip("!")
    if key not in _FIELDS:
        raise bad_request(f"field label not supported: {key}")
    found: Any = body
    for name in key.split("."):
        found = found.get(name, "") if isinstance(found, dict) else ""
    return (found == value) is not is_negative
