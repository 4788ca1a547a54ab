"""Volumes of an Instance: its own, and further ones, each with exactly one source.

Whether a setting allows a host path is the webhook's.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from engine.api.base import LONGEST_NAME, Fields, Quantity, one_of
from engine.api.rule import Blame, Rule

PATH: Final = r"^(/[^/]+)+$"
LONGEST_PATH: Final = 1024
SOURCES: Final = ("persistent", "configMap", "secret", "hostPath", "model")
NO_VOLUME: Final = "either ephemeral or persistent of volume should be specified"

_COUNT: Final = " + ".join(f"(has(self.{source}) ? 1 : 0)" for source in SOURCES)
_HOST_PATH_TYPES: Final = (
    "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice",
)  # fmt: skip


class LocalReference(Fields, frozen=True, kw_only=True):
    """An object of the same namespace."""

    name: Annotated[str, Meta(max_length=LONGEST_NAME, description="Its name.")] = ""


class Ephemeral(Fields, frozen=True, kw_only=True):
    """A volume that goes with the Pod."""

    RULES: ClassVar = (
        Rule(
            "has(self.capacity) && isQuantity(string(self.capacity)) &&"
            " quantity(string(self.capacity)).isGreaterThan(quantity('0'))",
            "capacity of ephemeral volume must be positive",
            "capacity",
        ),
    )

    capacity: Annotated[Quantity, Meta(description="Its size. Required.")] | None = None


class Persistent(Fields, frozen=True, kw_only=True):
    """A volume that stays."""

    RULES: ClassVar = (
        Rule("self.?name.orValue('') != ''", "name of the persistent volume must be specified", "name", Blame.REQUIRED),
    )

    name: Annotated[str, Meta(max_length=LONGEST_NAME, description="The persistent volume. Required.")] = ""


class Volume(Fields, frozen=True, kw_only=True):
    """The Instance's own volume: exactly one of these."""

    RULES: ClassVar = (
        Rule(
            "!(has(self.ephemeral) && has(self.persistent))",
            "cannot specify both ephemeral and persistent of volume",
            blame=Blame.FORBIDDEN,
        ),
        Rule("has(self.ephemeral) || has(self.persistent)", NO_VOLUME, blame=Blame.REQUIRED),
    )

    ephemeral: Annotated[Ephemeral, Meta(description="A volume that goes with the Pod.")] | None = None
    persistent: Annotated[Persistent, Meta(description="A volume that stays.")] | None = None


class HostPath(Fields, frozen=True, kw_only=True):
    """A path of the node."""

    path: Annotated[str, Meta(max_length=LONGEST_PATH, min_length=1, description="The path on the node.")]
    type: Annotated[
        str, Meta(description="What must be there, or be made.", extra_json_schema=one_of(*_HOST_PATH_TYPES))
    ] = ""


class Model(Fields, frozen=True, kw_only=True):
    """Files of a model."""

    artifact_ref: Annotated[LocalReference, Meta(description="The artifact that holds the model.")]


class AdditionalVolume(Fields, frozen=True, kw_only=True):
    """A further volume."""

    RULES: ClassVar = (
        Rule(f"{_COUNT} == 1", f"exactly one of {', '.join(SOURCES)} must be specified"),
        Rule(
            "!self.mountPath.split('/').exists(part, part == '.' || part == '..')",
            "must not contain . or ..",
            "mountPath",
        ),
        Rule(
            "!has(self.subPath) || (!self.subPath.startsWith('/') && !self.subPath.split('/').exists(part, part == '..'))",
            "must be a relative path without ..",
            "subPath",
        ),
    )

    mount_path: Annotated[
        str,
        Meta(max_length=LONGEST_PATH, description="Where it is mounted.", extra_json_schema={"pattern": PATH}),
    ]
    read_only: Annotated[bool, Meta(description="Nothing can be written to it.")] = False
    sub_path: Annotated[str, Meta(max_length=LONGEST_PATH, description="The part of it that is mounted, relative.")] = (
        ""
    )
    persistent: Annotated[LocalReference, Meta(description="A persistent volume.")] | None = None
    config_map: Annotated[LocalReference, Meta(description="A ConfigMap.")] | None = None
    secret: Annotated[LocalReference, Meta(description="A Secret.")] | None = None
    host_path: Annotated[HostPath, Meta(description="A path of the node, where a setting allows it.")] | None = None
    model: Annotated[Model, Meta(description="Files of a model.")] | None = None
