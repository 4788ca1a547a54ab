"""The nodes of each flavor and the cards of each node, from caches, so that a verdict asks for them by name.

A flavor's nodes are those whose `Devices` carry its labels. What is promised, and what fits, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from engine.api.devices import Devices
from engine.chain.readback import read_count
from engine.cluster.cache import Cache
from engine.cluster.objects import Node, Owned
from engine.cluster.resources import ObjectKey
from engine.domain.room import Scope
from engine.errors import EvaluationError
from engine.worker.admission.vocabulary import Vocabulary
from engine.worker.cards import NO_CARDS, NodeCards, read_cards

Pair = tuple[str, str]

_NOBODY: Final[dict[str, None]] = {}


class Pools:
    """Kept by `take`, which is told of every change of a `Devices` object.

    Cost: the nodes of a flavor are looked up once and stand until a label of some `Devices` changes.
    """

    def __init__(
        self,
        devices: Cache[Devices],
        nodes: Cache[Node],
        flavors: Cache[Owned],
        vocabulary: Callable[[], Vocabulary],
    ) -> None:
        self._devices = devices
        self._nodes = nodes
        self._flavors = flavors
        self._vocabulary = vocabulary
        self._by_pair: dict[Pair, dict[str, None]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        self._reach: dict[str, tuple[Mapping[str, str], dict[str, None]]] = {}
        self._cards: dict[str, tuple[str, NodeCards]] = {}
        self.hostnames: dict[str, str] = {}

    def take_node(self, before: Node | None, after: Node | None) -> None:
        """A Node is another now: Kueue names it by its hostname label, everybody else by its name."""
        key = self._vocabulary().keys.hostname
        if before is not None:
            self.hostnames.pop(before.metadata.labels.get(key, ""), None)
        if after is not None and key in after.metadata.labels:
            self.hostnames[after.metadata.labels[key]] = after.metadata.name

    def take(self, name: str, after: Devices | None) -> None:
        """A `Devices` object is another now, or gone."""
        labels = after.metadata.labels if after is not None else {}
        before = self._labels.get(name, {})
        if after is None:
            self._labels.pop(name, None)
            self._cards.pop(name, None)
        else:
            self._labels[name] = labels
        if labels == before:
            return
        self._reach.clear()
        for pair in before.items() - labels.items():
            self._by_pair[pair].pop(name, None)
            if not self._by_pair[pair]:
                del self._by_pair[pair]
        for pair in labels.items() - before.items():
            self._by_pair.setdefault(pair, {})[name] = None

    def forget(self) -> None:
        """Rules are others now: names of profiles and of labels may be too."""
        self._reach.clear()
        self._cards.clear()

    def reach(self, flavor: str) -> Mapping[str, None]:
        """The nodes of a flavor, sorted, whatever their number of cards. Raises: EvaluationError: it is not known yet."""
        selector = self._node_labels(flavor)
        known = self._reach.get(flavor)
        if known is None or known[0] is not selector:
            count = self._vocabulary().keys.count
            known = selector, self._matching([pair for pair in selector.items() if not pair[0].endswith(count)])
            self._reach[flavor] = known
        return known[1]

    def scope(self, flavor: str) -> Scope:
        """Which cards of its nodes a flavor is for. Raises: EvaluationError: it is not known yet.

        Source: specification 10 §4.5.
        """
        selector, words = self._node_labels(flavor), self._vocabulary().keys
        keys = [key for key, value in selector.items() if key.startswith(words.acceleratable) and value == "true"]
        if len(keys) != 1:
            return Scope("")
        text = selector.get(keys[0] + words.count)
        batch = None if text is None else read_count(text)
        # No number of cards is 0: such a flavor covers nothing, and its key still says which cards those would be.
        return Scope(keys[0][len(words.acceleratable) :], batch)

    def cards(self, name: str) -> NodeCards:
        """The cards of a node as last seen; none where the object is not there, cannot be read, or its Node is gone."""
        devices = self._devices.get(name)
        if devices is None or ObjectKey("", name) in self._devices.broken or not self.is_there(name):
            return NO_CARDS
        known = self._cards.get(name)
        if known is None or known[0] != devices.metadata.resource_version:
            known = self._cards[name] = devices.metadata.resource_version, self.read(devices)
        return known[1]

    def read(self, devices: Devices) -> NodeCards:
        """The cards of a `Devices` object."""
        return self._vocabulary().published(read_cards(devices))

    def is_there(self, node: str) -> bool:
        """The Node has not gone: what its `Devices` still state serves nobody without it."""
        return self._nodes.get(node) is not None

    def _node_labels(self, flavor: str) -> Mapping[str, str]:
        found = self._flavors.get(flavor)
        if found is None:
            raise EvaluationError(
                f"ResourceFlavor {flavor} is not known yet", remedy="the verdict waits until it is seen"
            )
        labels: Mapping[str, str] = found.spec.get("nodeLabels") or {}
        return labels

    def _matching(self, pairs: list[Pair]) -> dict[str, None]:
        if not pairs:
            return dict.fromkeys(sorted(self._labels))
        least, *others = sorted((self._by_pair.get(pair, _NOBODY) for pair in pairs), key=len)
        return dict.fromkeys(name for name in sorted(least) if all(name in other for other in others))
