"""Finalizers and owner references: who holds an object, and with whom it goes.

Pure: gives actions and maps; a finalizer list is shared with others, so it is only changed guarded by the version read.
"""

from __future__ import annotations

from typing import Any

from engine.cluster.actions import MergePatch
from engine.cluster.resources import HasMeta, Resource, key_of


def add_finalizer(resource: Resource[Any], thing: HasMeta, finalizer: str, manager: str) -> MergePatch | None:
    """Holds an object back from vanishing; None when it is held already or being deleted (the server forbids it then)."""
    held = thing.metadata.finalizers
    if finalizer in held or thing.metadata.deletion_timestamp:
        return None
    return _finalizers(resource, thing, [*held, finalizer], manager)


def remove_finalizer(resource: Resource[Any], thing: HasMeta, finalizer: str, manager: str) -> MergePatch | None:
    """Lets go of an object; None when it was not held."""
    held = thing.metadata.finalizers
    if finalizer not in held:
        return None
    return _finalizers(resource, thing, [each for each in held if each != finalizer], manager)


def owner_reference(
    resource: Resource[Any], owner: HasMeta, *, is_controller: bool = False, blocks_deletion: bool = False
) -> dict[str, Any]:
    """An entry of `metadata.ownerReferences`: the dependent is deleted when the owner is gone.

    The owner is cluster-wide or lives in the dependent's namespace; anything else the garbage collector deletes at once.
    """
    made: dict[str, Any] = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
    }
    if is_controller:
        made["controller"] = True
    if blocks_deletion:
        made["blockOwnerDeletion"] = True
    return made


def is_owned_by(thing: HasMeta, uid: str) -> bool:
    """The object goes when that owner goes."""
    return any(each.uid == uid for each in thing.metadata.owner_references)


def _finalizers(resource: Resource[Any], thing: HasMeta, finalizers: list[str], manager: str) -> MergePatch:
    patch = {"metadata": {"finalizers": finalizers}}
    return MergePatch(resource, key_of(thing), patch, manager, resource_version=thing.metadata.resource_version)
