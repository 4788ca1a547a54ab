"""The `resources` section: the names under which a maker's cards are asked for and charged.

Amounts are `capacity`. The answer depends on the maker alone, so it is asked for once a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

NAMES: Final = (
    "{exclusive: str, shared: str, visibility: str, credits: str,"
    " sliced: {token: str, units: str, cores: str, memory: str, mib: str},"
    " partitioned?: {token: str, units: str, profilePrefix: str},"
    " transformations: {input: str, multiplyBy?: str, outputs: map<int>}[]}"
)

SECTION: Final = Section(
    name="resources",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    must=True,
    owns=True,
    runs="NW",
    once_per="maker",
    input="maker: {name: str, resource: str, partitionKind?: str}",
    emit=NAMES,
    help="Resource names of a maker, and how the scheduler turns them into credits.",
)


@dataclass(frozen=True, slots=True)
class SlicedNames:
    """The names of the sliced family."""

    token: str
    units: str
    cores: str
    memory: str
    mib: str


@dataclass(frozen=True, slots=True)
class PartitionedNames:
    """The names of the partitioned family; a profile's name is the prefix and the published profile."""

    token: str
    units: str
    profile_prefix: str


@dataclass(frozen=True, slots=True)
class Transformation:
    """How the scheduler charges an input resource: outputs per unit, times the amount of `multiply_by` when given."""

    input: str
    outputs: tuple[tuple[str, int], ...]
    multiply_by: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceNames:
    """All names of one maker; `partitioned` is None for a maker without partitions."""

    exclusive: str
    shared: str
    visibility: str
    credits: str
    sliced: SlicedNames
    partitioned: PartitionedNames | None
    transformations: tuple[Transformation, ...]

    def inputs(self) -> dict[str, Any]:
        """The `resources` input of `capacity`."""
        sliced, partitioned = self.sliced, self.partitioned
        return given(
            exclusive=self.exclusive,
            shared=self.shared,
            visibility=self.visibility,
            credits=self.credits,
            sliced={
                "token": sliced.token,
                "units": sliced.units,
                "cores": sliced.cores,
                "memory": sliced.memory,
                "mib": sliced.mib,
            },
            partitioned=None
            if partitioned is None
            else {
                "token": partitioned.token,
                "units": partitioned.units,
                "profilePrefix": partitioned.profile_prefix,
            },
            transformations=[
                given(input=each.input, multiplyBy=each.multiply_by, outputs=dict(each.outputs))
                for each in self.transformations
            ],
        )


def resource_names(program: Evaluator, maker: str) -> Answer[ResourceNames]:
    """The names of a maker's resources, from its pack's `identity`."""
    identity = program.block("identity", maker)
    inputs = {
        "maker": given(name=maker, resource=identity["resource"], partitionKind=identity.get("partitionKind")),
    }
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> ResourceNames:
    sliced, partitioned = value["sliced"], value.get("partitioned")
    return ResourceNames(
        exclusive=value["exclusive"],
        shared=value["shared"],
        visibility=value["visibility"],
        credits=value["credits"],
        sliced=SlicedNames(sliced["token"], sliced["units"], sliced["cores"], sliced["memory"], sliced["mib"]),
        partitioned=None
        if partitioned is None
        else PartitionedNames(partitioned["token"], partitioned["units"], partitioned["profilePrefix"]),
        transformations=tuple(
            Transformation(each["input"], tuple(each["outputs"].items()), each.get("multiplyBy"))
            for each in value["transformations"]
        ),
    )
