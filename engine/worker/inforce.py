"""The rules and the settings that are in force now, and whoever must know when they are others.

Both change while the worker runs: nobody keeps a copy. Where rules come from, and where settings are stored, is not
known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.chain.node import NodeProgram
from engine.chain.settings import Value
from engine.worker.asked import Answers, CountedProgram
from engine.worker.settings import ReadSettings, SettingsReader, changes


class InForce:
    """One program, whose `answers` are counted, and one reading of the settings. Raises: UsageError: the environment seeds a setting with what is none."""

    def __init__(self, program: NodeProgram, environment: Mapping[str, str]) -> None:
        self.answers: Answers = Answers()
        self.program: NodeProgram = CountedProgram(program, self.answers)
        self._environment = environment
        self._stored: Mapping[str, str] | None = None
        self._listeners: list[Callable[[], None]] = []
        self.reader = SettingsReader(program.block("settings"), environment)
        self.read: ReadSettings = self.reader.first()

    @property
    def settings(self) -> Mapping[str, Value]:
        """Values by the names that rules use."""
        return self.read.values

    def on_turn(self, listener: Callable[[], None]) -> None:
        """Called, in order, whenever rules or settings are others."""
        self._listeners.append(listener)

    def store(self, data: Mapping[str, str] | None) -> dict[str, Value]:
        """The stored settings are these now. Returns what has another value by that."""
        before = self.read
        self._stored = data
        self.read = self.reader.read(data, before)
        changed = changes(before, self.read)
        if changed:
            self._tell()
        return changed

    def swap(self, program: NodeProgram) -> None:
        """Other rules are in force. A setting that they declare anew has its stored value, or its default.

        Raises: UsageError: the environment seeds a setting with a value that it cannot have; nothing is swapped.
        """
        reader = SettingsReader(program.block("settings"), self._environment)
        self.reader, self.program = reader, CountedProgram(program, self.answers)
        self.read = reader.read(self._stored, reader.first())
        self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()
