"""The testbed's two complaints: something failed, or something that it needs is not on this machine."""

from __future__ import annotations


class ClusterError(Exception):
    """Something that was asked for did not happen. The message says what, and what to look at."""


class MissingError(ClusterError):
    """This machine cannot run the testbed. Shape: `needs` are sentences, one for each thing that is missing."""

    def __init__(self, needs: list[str]) -> None:
        super().__init__("; ".join(needs))
        self.needs = needs
