"""What every replica does before it may lead: the system namespace, definitions, seeded settings; each step may be repeated.

Order and steps of specification 20 §12, as far as this worker goes. Nothing here is undone.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, Final

from engine.cluster.actions import Action, Create, target
from engine.cluster.client import Client
from engine.cluster.errors import Busy, Conflict, NotFound, Unreachable
from engine.cluster.resources import (
    CRDS,
    DEVICES,
    INSTANCE_TYPE_FLAVORS,
    INSTANCE_TYPES,
    INSTANCES,
    NAMESPACES,
    NODE_FEATURE_RULES,
    NODE_FEATURES,
    RULE_PACKS,
    SECRETS,
    HasMeta,
    ObjectKey,
    Resource,
)
from engine.cluster.retry import Backoff
from engine.cluster.writers import Result, Writer
from engine.worker.controllers.crd import align, documents
from engine.worker.controllers.settings import NAME, SettingsNeighbourhood, plan
from engine.worker.log import Log
from engine.worker.options import Options
from engine.worker.settings import SettingsReader

MANAGER: Final = "engine-worker"
_SERVED: Final[tuple[Resource[Any], ...]] = (
    DEVICES,
    INSTANCE_TYPES,
    INSTANCE_TYPE_FLAVORS,
    INSTANCES,
    RULE_PACKS,
    NODE_FEATURES,
    NODE_FEATURE_RULES,
)


async def prepare(client: Client, options: Options, reader: SettingsReader, log: Log) -> None:
    """Returns when everything is there and served.

    Raises: ClusterError: refused, or an API server that did not answer for `prepare_seconds`.
    """
    clock = client.clock
    deadline = clock.monotonic() + options.prepare_seconds
    backoff = Backoff(client.chance)
    while True:
        try:
            await _steps(client, options, reader, log)
        except (Unreachable, Busy, Conflict, NotFound) as error:
            if clock.monotonic() > deadline:
                raise
            log.warning("not ready yet", error=error)
            await clock.sleep(backoff.next_seconds())
        else:
            return


async def _steps(client: Client, options: Options, reader: SettingsReader, log: Log) -> None:
    await _do(
        client,
        [Create(NAMESPACES, NAMESPACES.body(options.namespace), MANAGER)],
        log,
        {NAMESPACES: [("", options.namespace)]},
    )
    await _do(client, align(), log, {CRDS: [("", name) for name in documents()]})
    await _wait_served(client, options)
    secret = await _find(client, SECRETS, NAME, options.namespace)
    seen = SettingsNeighbourhood(options.namespace, reader.seeds, secret)
    await _do(client, plan(seen), log, {SECRETS: [(options.namespace, NAME)]})


async def _do(
    client: Client, actions: list[Action], log: Log, read: dict[Resource[Any], list[tuple[str, str]]]
) -> None:
    """Writes what differs from what is read first."""
    known: dict[tuple[str, ObjectKey], HasMeta] = {}
    for resource, keys in read.items():
        for namespace, name in keys:
            found = await _find(client, resource, name, namespace)
            if found is not None:
                known[str(resource), ObjectKey(namespace, name)] = found
    writer = Writer(client, lookup=lambda resource, key: known.get((str(resource), key)))
    for outcome in await writer.apply_actions(actions):
        if outcome.result is Result.WRITTEN:
            log.info("prepared", object=target(outcome.action))


async def _wait_served(client: Client, options: Options) -> None:
    """A definition is served a moment after it was taken."""
    clock = client.clock
    deadline = clock.monotonic() + options.served_seconds
    for resource in _SERVED:
        while True:
            try:
                async with aclosing(client.pages(resource, limit=1)) as pages:
                    await anext(pages)
                break
            except NotFound:
                if clock.monotonic() > deadline:
                    raise
                await clock.sleep(0.05)


async def _find(client: Client, resource: Resource[Any], name: str, namespace: str) -> Any:
    try:
        return await client.get(resource, name, namespace)
    except NotFound:
        return None
