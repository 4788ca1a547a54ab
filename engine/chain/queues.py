"""One type alive: the queue behind it, brought to rest, and the status the type reports.

How a queue moves is the domain's state machine; which flavors feed it is `matching`. A queue that is refused keeps what
it had and says why; no other queue notices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.chain.book import FlavorEntry
from engine.chain.changes import Condition
from engine.chain.fields import QueueFields, TypeFields, TypeStatus
from engine.chain.tally import TypeTally
from engine.chain.told import told
from engine.chain.types import GENERIC, MadeType
from engine.domain.kueue_limits import FLAVORS_PER_GROUP, is_near_flavor_limit
from engine.domain.kueue_model import observe, settle
from engine.domain.queue import phase
from engine.domain.queue_plan import LiveFlavor, plan_queue
from engine.domain.queue_state import QueueState, StopPolicy, TopologyReady, read_markers
from engine.domain.views import cpu_view
from engine.errors import EvaluationError
from engine.sections.answer import Evaluator
from engine.sections.checks import queue_checks
from engine.sections.cpu import detail_object
from engine.sections.quota import Quota, flavor_quota
from engine.sections.resources import resource_names

KIND: Final = "ClusterQueue"

# The settings that code, not a rule, obeys: they steer the state machine and the arithmetic of a view.
DRAINS_WHEN_NO_FLAVORS: Final = "instanceTypeDrainWhenNoFlavors"
OVERCOMMITS_CPU: Final = "instanceGeneralResourcesOvercommit"
AWARE_OF_CPU: Final = "instanceTypeAwareCpuManufacturer"

_POLICIES: Final[dict[str, StopPolicy]] = {"None": "None", "Hold": "Hold", "HoldAndDrain": "HoldAndDrain"}


class QueueRules:
    """What the rules say about any queue, each question asked once."""

    def __init__(self, program: Evaluator, settings: Mapping[str, Any], active_checks: tuple[str, ...]) -> None:
        self.settings = settings
        self._program = program
        self._active = active_checks
        self._checks: dict[bool, tuple[str, ...]] = {}
        self._credits: dict[str, str | None] = {}
        self._quotas: dict[tuple[bool, int, str | None], Quota] = {}

    def checks(self, *, acceleratable: bool) -> tuple[str, ...]:
        """Names of the admission checks. Raises: EvaluationError: could not tell."""
        if acceleratable not in self._checks:
            answer = queue_checks(self._program, self.settings, acceleratable=acceleratable, active=self._active)
            self._checks[acceleratable] = told(answer)
        return self._checks[acceleratable]

    def live(self, entry: FlavorEntry, *, acceleratable: bool) -> LiveFlavor:
        """A flavor with its quota in the queue. Raises: EvaluationError: could not tell."""
        fields = entry.fields
        maker = fields.accelerator.manufacturer if fields.accelerator else None
        quota = self._quota(fields.capacity, None if maker is None else self._credits_of(maker), acceleratable)
        return LiveFlavor(
            name=fields.name,
            resource=quota.resource,
            nominal=quota.nominal,
            count=fields.key.count,
            capacity=fields.capacity,
            selected_nodes=fields.nodes,
            topology=fields.topology_name,
            profile_topology=entry.input.profile.name,
        )

    def _quota(self, capacity: int, credits_name: str | None, acceleratable: bool) -> Quota:  # noqa: FBT001 - a key part
        asked = (acceleratable, capacity, credits_name)
        if asked not in self._quotas:
            self._quotas[asked] = told(
                flavor_quota(self._program, acceleratable=acceleratable, capacity=capacity, credits_name=credits_name)
            )
        return self._quotas[asked]

    def _credits_of(self, maker: str) -> str | None:
        if maker not in self._credits:
            known = self._program.block("identity", maker) is not None
            self._credits[maker] = told(resource_names(self._program, maker)).credits if known else None
        return self._credits[maker]


class LiveType:
    """A type with its queue and its running sums."""

    __slots__ = ("conditions", "made", "queue", "spec", "state", "tally", "topology_ready", "type")

    def __init__(self, made: MadeType) -> None:
        self.made = made
        self.spec: Mapping[str, Any] = made.spec
        self.tally = TypeTally()
        self.state = _created(made)
        self.topology_ready: TopologyReady | None = None
        self.conditions: tuple[Condition, ...] = ()
        self.queue: QueueFields | None = None
        self.type: TypeFields | None = None

    def settle(self, feeding: list[FlavorEntry], rules: QueueRules) -> None:
        """Bring the queue to rest on these flavors, sorted by name, and work out what the type reports."""
        conditions = []
        try:
            self._settle(feeding, rules)
        except EvaluationError as reason:
            conditions.append(Condition(KIND, self.made.name, "CouldNotTell", str(reason)))
        if self.topology_ready is not None and self.topology_ready.status != "True":
            conditions.append(Condition(KIND, self.made.name, self.topology_ready.reason, self.topology_ready.message))
        elif is_near_flavor_limit(len(self.state.groups)):
            conditions.append(
                Condition(
                    KIND,
                    self.made.name,
                    "FlavorsNearLimit",
                    f"the queue has {len(self.state.groups)} flavors; Kueue permits at most {FLAVORS_PER_GROUP}",
                )
            )
        self.conditions = tuple(conditions)
        self._report(feeding, rules)

    def _settle(self, feeding: list[FlavorEntry], rules: QueueRules) -> None:
        acceleratable = bool(self.spec["acceleratable"])
        checks = rules.checks(acceleratable=acceleratable)
        flavors = [rules.live(entry, acceleratable=acceleratable) for entry in feeding]
        resources = sorted({flavor.resource for flavor in flavors})
        if len(resources) > 1:
            raise EvaluationError(
                "flavors of one queue name several resources",
                why=", ".join(resources),
                remedy="give each resource a type of its own",
            )
        settled = settle(
            self.state,
            plan_queue(self.state, flavors, checks),
            inactive=bool(self.spec.get("inactive")),
            drains_when_no_flavors=bool(rules.settings.get(DRAINS_WHEN_NO_FLAVORS, True)),
        )
        self.state = settled.state
        self.topology_ready = settled.condition
        if settled.inactive != bool(self.spec.get("inactive")):
            self.spec = {**self.spec, "inactive": settled.inactive}

    def _report(self, feeding: list[FlavorEntry], rules: QueueRules) -> None:
        made, drained = self.made, self.state.is_held_and_drained
        shown, message = phase(self.state, observe(self.state))
        accelerated = bool(self.spec["acceleratable"])
        status = TypeStatus(phase=shown, phase_message=message, detail=self._detail(feeding, rules.settings))
        if accelerated:
            status = replace(status, accelerator=self.tally.views(held_and_drained=drained))
        else:
            in_force = {quota.flavor for quota in self.state.groups}
            cores = max((entry.fields.key.count for entry in feeding if entry.fields.name in in_force), default=0)
            view = cpu_view(
                sum(quota.nominal for quota in self.state.groups),
                cores,
                overcommit=bool(rules.settings.get(OVERCOMMITS_CPU)),
                held_and_drained=drained,
            )
            status = replace(status, cpu=view)
        labels = {**made.selector, **dict(made.queue.labels)}
        self.queue = QueueFields(made.name, labels, made.queue, self.state, self.topology_ready)
        self.type = TypeFields(made.name, made.labels, self.spec, made.entrance.name, made.derived, status)

    def _detail(self, feeding: list[FlavorEntry], settings: Mapping[str, Any]) -> dict[str, Any]:
        if not feeding or (not self.spec["acceleratable"] and self.spec["generalGroup"] == GENERIC):
            return {}
        fields = feeding[0].fields
        cpu = {"manufacturer": fields.cpu.manufacturer, "product": fields.cpu.name, "family": fields.cpu.family}
        cpu |= detail_object(fields.cpu.detail)
        card = fields.accelerator
        if card is None:
            return _known(cpu)
        versions = self.tally.runtime_versions()
        return _known(
            {
                "manufacturer": card.manufacturer,
                "product": card.product,
                "family": card.family,
                "memory": card.memory,
                "cores": card.cores,
                "computeCapability": card.compute_capability,
                "slicedDetail": self.tally.sliced_detail(),
                "cpu": _known(cpu) if settings.get(AWARE_OF_CPU) else None,
                "runtimeVersion": versions[0] if versions else None,
                "runtimeVersions": list(versions) or None,
            }
        )


def _created(made: MadeType) -> QueueState:
    policy = _POLICIES.get(made.queue.stop_policy)
    if policy is None:
        raise EvaluationError(
            f"section queue gave the stop policy {made.queue.stop_policy!r}", why="it is none of three"
        )
    markers = read_markers(dict(made.queue.annotations))
    return QueueState(
        stop_policy=policy,
        has_selector=bool(made.selector),
        is_topology_aware=bool(markers["is_topology_aware"]),
        has_empty_plan_hold=bool(markers["has_empty_plan_hold"]),
    )


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
