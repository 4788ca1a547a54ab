"""Instance: a container that a person runs on what an InstanceType gives.

What needs the InstanceType or a setting to judge (bounds, gates, sizes) is the webhook's; the Pod is the worker's.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from msgspec import Meta, field

from engine.api.base import ATOMIC, LONGEST_NAME, Count, Fields, ObjectMeta, Quantity, defaulted, keyed, one_of, written
from engine.api.instance_rules import RESOURCE_RULES, ROOT_RULES, SPEC_RULES
from engine.api.instance_volumes import LONGEST_PATH, PATH, AdditionalVolume, LocalReference, Volume
from engine.api.kind import Column, Kind

LONGEST_DISPLAY_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1024
LONGEST_PORT_NAME: Final = 16
LAST_PORT: Final = 65535
PROTOCOLS: Final = ("TCP", "UDP", "SCTP")

Port = Annotated[int, Meta(ge=1, le=LAST_PORT, extra_json_schema={"format": "int32"})]


class ContainerPort(Fields, frozen=True, kw_only=True):
    """A port that the container listens on."""

    port: Annotated[Port, Meta(description="The port.")]
    protocol: Annotated[
        str, Meta(description="TCP, UDP or SCTP.", extra_json_schema={**one_of(*PROTOCOLS), **defaulted("TCP")})
    ] = written("TCP")
    name: Annotated[str, Meta(max_length=LONGEST_PORT_NAME, description="Name for people.")] = ""


class Variable(Fields, frozen=True, kw_only=True):
    """An environment variable."""

    name: Annotated[str, Meta(min_length=1, description="Name of the variable.")]
    value: Annotated[str, Meta(description="Value of the variable.")] = ""


class Resources(Fields, frozen=True, kw_only=True):
    """What it gets. Absent amounts are filled from the InstanceType."""

    RULES: ClassVar = RESOURCE_RULES

    cpu: Annotated[Quantity, Meta(description="CPU cores.")] | None = None
    ram: Annotated[Quantity, Meta(description="Memory.")] | None = None
    local_storage: Annotated[Quantity, Meta(description="Local storage beside the volume.")] | None = None
    accelerator: (
        Annotated[Quantity, Meta(description="Accelerators, a whole number; 1 for a slice or a partition.")] | None
    ) = None
    accelerator_sliced_memory_percentage: Annotated[
        int, Meta(description="A slice with this share of the card's memory.", extra_json_schema={"format": "int32"})
    ] = 0
    accelerator_sliced_cores_percentage: Annotated[
        int, Meta(description="A slice with this share of the card's cores.", extra_json_schema={"format": "int32"})
    ] = 0
    accelerator_partitioned_profile: Annotated[
        str, Meta(max_length=LONGEST_NAME, description="A hardware partition of this profile.")
    ] = ""


class InstanceSpec(Fields, frozen=True, kw_only=True):
    """What is run."""

    RULES: ClassVar = SPEC_RULES

    display_name: Annotated[
        str, Meta(max_length=LONGEST_DISPLAY_NAME, description="Name for people. May be changed.")
    ] = ""
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION, description="What it is for. May be changed.")] = (
        ""
    )
    type: Annotated[
        str, Meta(max_length=LONGEST_NAME, description="The InstanceType. Required; frozen while it runs.")
    ] = ""
    image: Annotated[str, Meta(min_length=1, description="The image. Frozen while it runs.")]
    image_pull_policy: Annotated[
        str,
        Meta(
            description="Always, IfNotPresent or Never. Frozen while it runs.",
            extra_json_schema={**one_of("Always", "IfNotPresent", "Never"), **defaulted("IfNotPresent")},
        ),
    ] = written("IfNotPresent")
    command: Annotated[
        tuple[str, ...],
        Meta(
            description="What is run in place of the image's command. Frozen while it runs.", extra_json_schema=ATOMIC
        ),
    ] = ()
    privileged: Annotated[
        bool, Meta(description="Full rights over the node, where a setting allows it. Frozen while it runs.")
    ] = False
    ports: Annotated[
        tuple[ContainerPort, ...],
        Meta(description="Ports to reach it by. Frozen while it runs.", extra_json_schema=keyed("port", "protocol")),
    ] = ()
    env: Annotated[
        tuple[Variable, ...],
        Meta(description="Environment variables. Frozen while it runs.", extra_json_schema=keyed("name")),
    ] = ()
    resources: Annotated[Resources, Meta(description="What it gets. Frozen while it runs.")] | None = None
    volume_mount: Annotated[
        str,
        Meta(
            max_length=LONGEST_PATH,
            description="Where the volume is mounted. Frozen while it runs.",
            extra_json_schema={"pattern": PATH, **defaulted("/workspace")},
        ),
    ] = written("/workspace")
    image_pull_secret: (
        Annotated[LocalReference, Meta(description="Secret to pull the image with. Frozen while it runs.")] | None
    ) = None
    ssh_public_key: (
        Annotated[LocalReference, Meta(description="Key that may log in over SSH. Frozen while it runs.")] | None
    ) = None
    volume: (
        Annotated[Volume, Meta(description="Its own volume: ephemeral or persistent. Required, immutable.")] | None
    ) = None
    additional_volumes: Annotated[
        tuple[AdditionalVolume, ...],
        Meta(
            description="Further volumes. Frozen while it runs.",
            extra_json_schema={**keyed("mountPath"), "maxItems": 64},
        ),
    ] = ()
    stop: Annotated[bool, Meta(description="Stops it; a stopped one may be edited and started again.")] = False
    node_name: Annotated[
        str, Meta(max_length=LONGEST_NAME, description="The node it must run on. Frozen while it runs.")
    ] = ""


class PublishedPort(Fields, frozen=True, kw_only=True):
    """A port and where it is reached."""

    port: Annotated[Port, Meta(description="The container's port.")]
    protocol: Annotated[
        str, Meta(description="TCP, UDP or SCTP.", extra_json_schema={**one_of(*PROTOCOLS), **defaulted("TCP")})
    ] = written("TCP")
    name: Annotated[str, Meta(description="Name for people.")] = ""
    node_port: Annotated[Count, Meta(description="The port on every node.")] = 0


class Allocation(Fields, frozen=True, kw_only=True):
    """An accelerator that it holds."""

    container: Annotated[str, Meta(description="The container that holds it.")] = ""
    manufacturer: Annotated[str, Meta(description="Maker.")] = ""
    group: Annotated[str, Meta(description="Model, as it appears in keys.")] = ""
    id: Annotated[str, Meta(description="Identity of the card.")] = ""
    index: Annotated[Count, Meta(description="Number of the card on its node.")] = written(0)
    mode: Annotated[Count, Meta(description="How it is held, as in Devices.")] = written(0)
    allocated: Annotated[Count, Meta(description="Credits, of 1600000 a card.")] = written(0)
    profile: Annotated[str, Meta(description="Profile of the partition.")] = ""


class InstanceColumns(Fields, frozen=True, kw_only=True):
    """Cells of the table that are made of several fields."""

    access: Annotated[str, Meta(description="Addresses it is reached at, with commas.")] = ""
    ssh_port: Annotated[str, Meta(description="Node port of port 22.")] = ""


class InstanceStatus(Fields, frozen=True, kw_only=True):
    """How it runs."""

    phase: Annotated[str, Meta(description="How far it is: Scheduling, Starting, Ready, Stopped and others.")] = ""
    phase_message: Annotated[str, Meta(description="Why the phase is what it is.")] = ""
    node_name: Annotated[str, Meta(description="The node it runs on.")] = ""
    access_addresses: Annotated[
        tuple[str, ...], Meta(description="Addresses it is reached at.", extra_json_schema=ATOMIC)
    ] = ()
    host_ips: Annotated[
        tuple[str, ...],
        Meta(description="The node's addresses, external ones first.", extra_json_schema=ATOMIC),
    ] = field(name="hostIPs", default=())
    pod_ips: Annotated[tuple[str, ...], Meta(description="The Pod's addresses.", extra_json_schema=ATOMIC)] = field(
        name="podIPs", default=()
    )
    ports: Annotated[
        tuple[PublishedPort, ...],
        Meta(description="Its ports and where they are reached.", extra_json_schema=keyed("port", "protocol")),
    ] = ()
    allocations: Annotated[
        tuple[Allocation, ...], Meta(description="Accelerators it holds.", extra_json_schema=ATOMIC)
    ] = ()
    columns: Annotated[InstanceColumns, Meta(description="Cells of its table.")] | None = None


class Instance(Fields, frozen=True, kw_only=True):
    """A container that runs on what an InstanceType gives, with a volume of its own."""

    RULES: ClassVar = ROOT_RULES

    metadata: ObjectMeta
    spec: Annotated[InstanceSpec, Meta(description="What is run.")]
    status: Annotated[InstanceStatus, Meta(description="How it runs. Written by the worker.")] = InstanceStatus()


INSTANCE: Final = Kind(
    kind="Instance",
    plural="instances",
    struct=Instance,
    is_namespaced=True,
    columns=(
        Column("Type", ".spec.type", "The InstanceType."),
        Column("Access", ".status.columns.access", "Addresses it is reached at."),
        Column("SSH-Port", ".status.columns.sshPort", "Node port of port 22."),
        Column("Phase", ".status.phase", "How far it is."),
        Column("Node", ".status.nodeName", "The node it runs on.", is_wide=True),
        Column("Message", ".status.phaseMessage", "Why the phase is what it is.", is_wide=True),
    ),
)
