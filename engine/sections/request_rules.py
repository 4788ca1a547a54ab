"""The `request-rules` section: what a Pod may not ask for.

Classifying resource names into families, and putting containers into groups, is done before; so is the order in which
violations are reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="request-rules",
    owner=Owner.DERIVATION,
    combine=Combine.LIST,
    message="",
    runs="W",
    once_per="Pod",
    input=(
        "pod: {families: str[], containers: {path: str, group: 'init'|'running'|'sidecar', families: str[],"
        " claims: {base: str, family: 'exclusive'|'shared'|'sliced'|'partitioned',"
        " part: 'card'|'units'|'cores'|'memory'|'mib'|'profile', resource: str, quantity: str, whole?: int,"
        " profile?: str}[]}[]}"
    ),
    emit="{refuse: str, path: str, reason: 'Forbidden'|'Invalid'|'Required'}",
    help="Violations of the Pod request contract; the text is the rule's message.",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One resource name a container asks for; `whole` is the amount when it is a whole number."""

    base: str
    family: Literal["exclusive", "shared", "sliced", "partitioned"]
    part: Literal["card", "units", "cores", "memory", "mib", "profile"]
    resource: str
    quantity: str
    whole: int | None = None
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class ContainerRequest:
    """One container of a Pod: its field path, its group, and what it claims."""

    path: str
    group: Literal["init", "running", "sidecar"]
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation: code, field path, reason and text."""

    code: str
    path: str
    reason: str
    message: str


def pod_violations(program: Evaluator, containers: Iterable[ContainerRequest]) -> Answer[tuple[Violation, ...]]:
    """The violations of a Pod's requests, in the rules' order."""
    listed = list(containers)
    families = sorted({claim.family for each in listed for claim in each.claims})
    pod = {"families": families, "containers": [_container(each) for each in listed]}
    answer = ask(program, SECTION.name, {"pod": pod}, _decode)
    return Answer(SECTION.name, ()) if answer.is_nothing else answer


def _container(container: ContainerRequest) -> dict[str, Any]:
    claims = [
        given(
            base=claim.base,
            family=claim.family,
            part=claim.part,
            resource=claim.resource,
            quantity=claim.quantity,
            whole=claim.whole,
            profile=claim.profile,
        )
        for claim in container.claims
    ]
    return {"path": container.path, "group": container.group, "claims": claims}


def _decode(value: list[dict[str, Any]]) -> tuple[Violation, ...]:
    return tuple(Violation(each["refuse"], each["path"], each["reason"], each.get("message", "")) for each in value)
