"""How the in-memory API server says no: a `v1.Status` with code, reason and the API's own wording."""

from __future__ import annotations

from typing import Any


class RefusalError(Exception):
    """Becomes the answer."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def status(self) -> dict[str, Any]:
        """The body of the answer."""
        made: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            made["details"] = self.details
        return made


def not_found(kind: str, name: str) -> RefusalError:
    return RefusalError(404, "NotFound", f'{kind} "{name}" not found', name=name, kind=kind)


def no_such_path(path: str) -> RefusalError:
    return RefusalError(404, "NotFound", f"the server could not find the requested resource: {path}")


def already_exists(kind: str, name: str) -> RefusalError:
    return RefusalError(409, "AlreadyExists", f'{kind} "{name}" already exists', name=name, kind=kind)


def conflict(kind: str, name: str, why: str = "") -> RefusalError:
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    return RefusalError(
        409, "Conflict", f'Operation cannot be fulfilled on {kind} "{name}": {why}', name=name, kind=kind
    )


def expired(message: str) -> RefusalError:
    return RefusalError(410, "Expired", message)


def invalid(kind: str, name: str, field: str, why: str) -> RefusalError:
    return RefusalError(
        422,
        "Invalid",
        f'{kind} "{name}" is invalid: {field}: {why}',
        name=name,
        kind=kind,
        causes=[{"reason": "FieldValueInvalid", "message": why, "field": field}],
    )


def bad_request(message: str) -> RefusalError:
    return RefusalError(400, "BadRequest", message)
