"""What a site needs before anything else: the settings that are in force, and the definitions of our kinds.

What settings do is the rules'; who obeys them is every other part's.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.cluster.objects import Data, Object
from engine.worker.controllers import crd, settings
from engine.worker.controllers.crd import CrdNeighbourhood, documents
from engine.worker.controllers.settings import SettingsNeighbourhood
from engine.worker.loop import Work
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched


class SitePart:
    """The Secret of settings, and CustomResourceDefinitions."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._documents = documents()
        self._provider_trouble: tuple[str, str] | None = None
        at = stage.informers
        self._settings = stage.controller(
            Work("settings", lambda: [settings.NAME], self._secret, settings.plan, after=(at.secrets,))
        )
        self._definitions = stage.controller(
            Work("crd", lambda: sorted(self._documents), self._definition, crd.plan, after=(at.crds,))
        )
        at.secrets.add_handler(self._take_secret)
        at.crds.add_handler(self._take_definition)

    def leads(self) -> Sequence[Leads]:
        return (self._settings, self._definitions)

    def take(self, _touched: Touched) -> None:
        """Nodes change nothing here."""

    def turn(self) -> None:
        self._settings.add([settings.NAME])

    def tell_provider(self, trouble: tuple[str, str] | None) -> None:
        """The features provider is in trouble, for this reason and with this message; or well again."""
        self._provider_trouble = trouble
        self._settings.add([settings.NAME])

    def _take_secret(self, _before: Data | None, after: Data | None) -> None:
        rules, log = self._stage.rules, self._stage.log
        changed = rules.store(None if after is None else after.data)
        for key, why in rules.read.refused.items():
            log.warning("a setting was refused", setting=key, error=why)
        if changed:
            log.info("settings changed", **changed)
        self._settings.add([settings.NAME])

    def _take_definition(self, before: Object | None, after: Object | None) -> None:
        if after is None and before is not None:
            self._definitions.add([before.metadata.name])

    def _secret(self, _name: str) -> SettingsNeighbourhood:
        rules, namespace = self._stage.rules, self._stage.options.namespace
        return SettingsNeighbourhood(
            namespace=namespace,
            seeds=rules.reader.seeds,
            live=self._stage.informers.secrets.cache.get(settings.NAME, namespace),
            unknown=rules.read.settings.unknown,
            refused=rules.read.refused,
            provider=self._provider_trouble,
        )

    def _definition(self, name: str) -> CrdNeighbourhood | None:
        document = self._documents.get(name)
        return None if document is None else CrdNeighbourhood(document, self._stage.informers.crds.cache.get(name))
