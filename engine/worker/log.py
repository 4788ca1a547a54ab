"""Log lines as events with fields: what happened, to which object, in which controller.

Where lines go and how they look is decided once, by the command. Nothing is logged at rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from engine.cluster.clock import SYSTEM_CLOCK, Clock, micro_time

Form = Literal["text", "json"]
Level = Literal["info", "warning", "error"]

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+,")


@dataclass(frozen=True, slots=True)
class Log:
    """Writes one line an event. Shape: `bound` fields stand in every line; `time`, `level` and `event` come first."""

    write: Callable[[str], None]
    form: Form = "text"
    clock: Clock = SYSTEM_CLOCK
    bound: Mapping[str, object] = field(default_factory=dict)

    def bind(self, **fields: object) -> Log:
        """The same log, with more fields in every line."""
        return Log(self.write, self.form, self.clock, {**self.bound, **fields})

    def info(self, event: str, **fields: object) -> None:
        """Something was done."""
        self._say("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Something a person should look at; the work goes on."""
        self._say("warning", event, fields)

    def failure(self, event: str, **fields: object) -> None:
        """Something failed; it is tried again, or the process ends."""
        self._say("error", event, fields)

    def _say(self, level: Level, event: str, fields: Mapping[str, object]) -> None:
        head: dict[str, Any] = {"time": micro_time(self.clock.wall()), "level": level, "event": event}
        # Once more at the end: no field takes the place of these three.
        line = head | {name: _plain(value) for name, value in {**self.bound, **fields}.items()} | head
        self.write(json.dumps(line, ensure_ascii=False) if self.form == "json" else _text(line))


def silent() -> Log:
    """A log that nobody reads."""
    return Log(lambda _line: None)


def _plain(value: object) -> object:
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)


def _text(line: Mapping[str, Any]) -> str:
    """Shape: `<time> <level> <event> name=value …`; a value with blanks or quotes is written as JSON writes it."""
    head = f"{line['time']} {line['level']:<7} {line['event']}"
    rest = [f"{name}={_quoted(str(value))}" for name, value in line.items() if name not in ("time", "level", "event")]
    return " ".join([head, *rest])


def _quoted(text: str) -> str:
    return text if text and _PLAIN.issuperset(text) else json.dumps(text, ensure_ascii=False)
