"""Which flavors feed which queues: a queue's selector is a subset of the flavor's labels.

What the selector says is the `pool-labels` section's. This only finds the pairs without looking at all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

Label = tuple[str, str]


class Matching:
    """Selectors and labels, indexed so that a lookup touches one label's entries instead of all."""

    def __init__(self) -> None:
        self._selectors: dict[str, Mapping[str, str]] = {}
        self._anchored: dict[Label, set[str]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        self._labelled: dict[Label, set[str]] = {}

    def put_queue(self, name: str, selector: Mapping[str, str]) -> None:
        """A queue with this selector; without any label it is fed by nothing."""
        self.drop_queue(name)
        self._selectors[name] = selector
        if selector:
            self._anchored.setdefault(_anchor(selector), set()).add(name)

    def drop_queue(self, name: str) -> None:
        """The queue is gone."""
        selector = self._selectors.pop(name, None)
        if selector:
            _forget(self._anchored, _anchor(selector), name)

    def selector(self, name: str) -> Mapping[str, str] | None:
        """The selector of a queue; None when it is not here."""
        return self._selectors.get(name)

    def put_flavor(self, name: str, labels: Mapping[str, str]) -> None:
        """A flavor with these labels."""
        self.drop_flavor(name)
        self._labels[name] = labels
        for label in labels.items():
            self._labelled.setdefault(label, set()).add(name)

    def drop_flavor(self, name: str) -> None:
        """The flavor is gone."""
        for label in self._labels.pop(name, {}).items():
            _forget(self._labelled, label, name)

    def queues(self, flavor: str) -> list[str]:
        """Queues the flavor feeds, sorted."""
        labels = self._labels.get(flavor, {}).items()
        return sorted(
            queue
            for label in labels
            for queue in self._anchored.get(label, ())
            if self._selectors[queue].items() <= labels
        )

    def flavors(self, queue: str) -> list[str]:
        """Flavors that feed the queue, sorted."""
        selector = self._selectors.get(queue)
        if not selector:
            return []
        candidates = min((self._labelled.get(label, set()) for label in selector.items()), key=len)
        return sorted(flavor for flavor in candidates if selector.items() <= self._labels[flavor].items())


def _anchor(selector: Mapping[str, str]) -> Label:
    """The label a queue is filed under: the longest key is the one that names a model, and so the rarest."""
    return max(selector.items(), key=lambda label: (len(label[0]), label))


def _forget(index: dict[Label, set[str]], label: Label, name: str) -> None:
    names = index[label]
    names.discard(name)
    if not names:
        del index[label]
