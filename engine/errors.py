"""The error tree: every error Engine raises on purpose.

An error says what failed, where, why and what to do about it. Library exceptions are re-wrapped at the door where they
enter and never escape it. Nothing here knows packs, cards or Kubernetes.

EngineError
├── ContractError      a caller broke a function's written contract: our bug, never the user's
├── UsageError         a command was asked for something it cannot do (exit code 2)
├── InputError         a file or document cannot be read at all (exit code 2)
└── EvaluationError    an expression or rule could not tell (never "no")
    └── NullArgumentError   a function that takes no null was given one
"""

from __future__ import annotations


class EngineError(Exception):
    """Base of the tree. `str()` is one line fit for a person; `remedy` says what to do next."""

    def __init__(self, what: str, *, where: str = "", why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.why:
            text = f"{text}: {self.why}"
        return f"{text}; {self.remedy}" if self.remedy else text


class ContractError(EngineError):
    """A caller broke a function's written contract."""


class UsageError(EngineError):
    """A command was asked for something it cannot do."""


class InputError(EngineError):
    """A file or document cannot be read at all."""


class EvaluationError(EngineError):
    """An expression or rule could not tell; what the cluster holds stays as it is."""


class NullArgumentError(EvaluationError):
    """A function that takes no null was given one."""
