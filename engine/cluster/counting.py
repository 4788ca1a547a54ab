"""What requests are counted by: verb, kind and code. Reads no body.

Counts are per kind and never per object, so that there are a few hundred at most. Who counts is `caller`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.cluster.transport import Request

UNANSWERED: Final = "none"
"""The code of a request that got no answer: refused, cut, too slow."""
_VERBS: Final = {"POST": "create", "PUT": "update", "DELETE": "delete"}


class Call(NamedTuple):
    """What is counted. Shape: `resource` as in `nodes/status` or `leases.coordination.k8s.io`, empty for other paths."""

    verb: str
    resource: str
    code: str


def call_of(request: Request, code: str) -> Call:
    """Verb and kind of a request. Verbs are named as in an audit log, an apply apart from other patches."""
    resource, is_named = _resource(request.path)
    match request.method:
        case "GET" if "watch" in request.query:
            verb = "watch"
        case "GET":
            verb = "get" if is_named else "list"
        case "PATCH":
            verb = "apply" if "apply" in request.headers.get("Content-Type", "") else "patch"
        case method:
            verb = _VERBS.get(method, method.lower())
    return Call(verb, resource, code)


def _resource(path: str) -> tuple[str, bool]:
    """The kind that a path is about, and whether it names an object."""
    match path.strip("/").split("/"):
        case ["api", _, *rest]:
            group = ""
        case ["apis", group, _, *rest]:
            pass
        case _:
            return "", True
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        rest = rest[2:]
    if not rest:
        return "", True
    plural, name, subresource = (*rest, "", "")[:3]
    if subresource:
        plural = f"{plural}/{subresource}"
    return f"{plural}.{group}" if group else plural, bool(name)
