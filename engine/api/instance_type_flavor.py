"""InstanceTypeFlavor: a row of the catalogue of what an InstanceType may name.

The worker writes and deletes rows; nothing reads them but people and clients.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from engine.api.base import Fields, ObjectMeta, written
from engine.api.kind import Column, Kind


class InstanceTypeFlavorSpec(Fields, frozen=True, kw_only=True):
    """One model of accelerator or CPU."""

    general_group: Annotated[str, Meta(description="What InstanceTypes call the CPU.")] = ""
    accelerator_group: Annotated[str, Meta(description="What InstanceTypes call the accelerator.")] = ""
    acceleratable: Annotated[
        bool, Meta(description="Whether it is an accelerator.", extra_json_schema={"default": False})
    ] = written(False)
    manufacturer: Annotated[str, Meta(description="Maker.")] = ""
    product: Annotated[str, Meta(description="Product name.")] = ""
    family: Annotated[str, Meta(description="Architecture or family.")] = ""
    memory: Annotated[str, Meta(description="Memory of an accelerator, such as 24Gi.")] = ""
    cores: Annotated[str, Meta(description="Compute cores of an accelerator.")] = ""
    sliceable: Annotated[bool, Meta(description="Whether slices of it can be asked for; absent when not.")] = False


class InstanceTypeFlavor(Fields, frozen=True, kw_only=True):
    """A row of the catalogue of what an InstanceType may name. Written by the worker."""

    metadata: ObjectMeta
    spec: Annotated[InstanceTypeFlavorSpec, Meta(description="One model of accelerator or CPU.")]


INSTANCE_TYPE_FLAVOR: Final = Kind(
    kind="InstanceTypeFlavor",
    plural="instancetypeflavors",
    struct=InstanceTypeFlavor,
    short_names=("instypeflavor",),
    has_status=False,
    columns=(
        Column("GeneralGroup", ".spec.generalGroup", "What InstanceTypes call the CPU."),
        Column("AcceleratorGroup", ".spec.acceleratorGroup", "What InstanceTypes call the accelerator."),
        Column("Acceleratable", ".spec.acceleratable", "Whether it is an accelerator.", type="boolean"),
        Column("Manufacturer", ".spec.manufacturer", "Maker."),
        Column("Product", ".spec.product", "Product name."),
        Column("Memory", ".spec.memory", "Memory of an accelerator."),
        Column("Cores", ".spec.cores", "Compute cores of an accelerator."),
        Column("Sliceable", ".spec.sliceable", "Whether slices of it can be asked for.", type="boolean"),
        Column("Family", ".spec.family", "Architecture or family.", is_wide=True),
    ),
)
