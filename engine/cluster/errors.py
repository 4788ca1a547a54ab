# ruff: noqa: N818 - named after what the API server says
"""What can go wrong at the door; every error of a library or an API server becomes one of these here.

The base is `EngineError`: what, where, why and the remedy.

ClusterError
├── SettingsError       no usable connection settings
├── Unreachable         no answer: refused, cut, too slow
├── BadObject           an answer that our structs cannot hold
├── NotLeader           a write was held back because the lease is, or may be, gone
└── ApiError            the API server said no; has status, reason and object
    ├── BadRequest 400 · Unauthorized 401 · Forbidden 403 · NotFound 404 · Invalid 422
    ├── Conflict 409    (AlreadyExists, ApplyConflict)
    ├── Gone 410        the resourceVersion or continue token is too old
    └── Busy            may be asked again later; has retry_after_seconds (TooManyRequests 429, ServerFault 5xx)
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from engine.errors import EngineError


class ClusterError(EngineError):
    """Base of the door's errors."""


class SettingsError(ClusterError):
    """There are no usable connection settings."""


class Unreachable(ClusterError):
    """The API server gave no answer, or not all of it."""


class BadObject(ClusterError):
    """An object does not fit the struct that reads it."""


class NotLeader(ClusterError):
    """A write was held back: this process does not hold the lease, or cannot be sure that it does."""


class ApiError(ClusterError):
    """The API server refused. `status` is the HTTP code, `reason` the server's word for it."""

    remedy_text: ClassVar[str] = ""

    def __init__(
        self, what: str, *, where: str = "", status: int, reason: str = "", retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(what, where=where, remedy=self.remedy_text)
        self.status = status
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class BadRequest(ApiError):
    """The request itself is malformed."""


class Unauthorized(ApiError):
    """The API server does not know who asks."""

    remedy_text = "check the token, client certificate or exec plugin of the connection"


class Forbidden(ApiError):
    """The API server knows who asks, and says no."""

    remedy_text = "grant the right to the account this process runs as"


class NotFound(ApiError):
    """No such object, or no such kind."""


class Conflict(ApiError):
    """Somebody else wrote first."""


class AlreadyExists(Conflict):
    """An object of that name is there."""


class ApplyConflict(Conflict):
    """Another field manager owns a field that was applied."""


class Gone(ApiError):
    """A resourceVersion or continue token is older than what the server keeps."""


class Invalid(ApiError):
    """The object is refused; `what` names the field."""


class Busy(ApiError):
    """The server cannot answer now; asking again later may help."""


class TooManyRequests(Busy):
    """429."""


class ServerFault(Busy):
    """5xx."""


class Status(msgspec.Struct, rename="camel"):
    """The parts of a `v1.Status` that are read."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: dict[str, Any] = {}


_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def api_error(code: int, body: bytes, where: str, retry_after_seconds: float | None = None) -> ApiError:
    """The error for an answer that is not a success. Cost: decodes the body, which may be anything."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        status = Status(message=body[:200].decode("utf-8", "replace"))
    return status_error(status, where, code=code, retry_after_seconds=retry_after_seconds)


def status_error(status: Status, where: str, *, code: int = 0, retry_after_seconds: float | None = None) -> ApiError:
    """The error for a `v1.Status`, which also comes inside a watch."""
    code = code or status.code or 500
    kind = _BY_CODE.get(code, ServerFault if code >= 500 else ApiError)
    if kind is Conflict and status.reason == "AlreadyExists":
        kind = AlreadyExists
    elif kind is Conflict and any(
        cause.get("reason") == "FieldManagerConflict" for cause in status.details.get("causes") or ()
    ):
        kind = ApplyConflict
    if retry_after_seconds is None and issubclass(kind, Busy) and "retryAfterSeconds" in status.details:
        retry_after_seconds = float(status.details["retryAfterSeconds"])
    return kind(
        status.message or status.reason or f"HTTP {code}",
        where=where,
        status=code,
        reason=status.reason,
        retry_after_seconds=retry_after_seconds,
    )
