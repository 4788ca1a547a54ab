"""One type alive: the queue behind it, brought to rest, and the status the type reports.

How a queue moves is the domain's state machine; which flavors feed it is `matching`. A queue that is refused keeps what
it had and says why; no other queue notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from engine.chain.book import FlavorEntry
from engine.chain.changes import Condition
from engine.chain.fields import QueueFields, TypeFields
from engine.chain.report import created_state, queue_labels, type_status
from engine.chain.tally import TypeTally
from engine.chain.told import told
from engine.chain.types import MadeType
from engine.domain.kueue_limits import FLAVORS_PER_GROUP, is_near_flavor_limit
from engine.domain.kueue_model import observe, settle
from engine.domain.queue_plan import LiveFlavor, plan_queue
from engine.domain.queue_state import QueueState, TopologyReady
from engine.errors import EvaluationError
from engine.sections.answer import Evaluator
from engine.sections.checks import queue_checks
from engine.sections.quota import Quota, flavor_quota
from engine.sections.resources import resource_names

KIND: Final = "ClusterQueue"

DRAINS_WHEN_NO_FLAVORS: Final = "instanceTypeDrainWhenNoFlavors"
"""The setting that code, not a rule, obeys here: it steers the state machine."""


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
        quota = self.quota(maker, fields.capacity, acceleratable=acceleratable)
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

    def quota(self, maker: str | None, capacity: int, *, acceleratable: bool) -> Quota:
        """What a flavor with so many cards of a maker, or cores, is worth. Raises: EvaluationError: could not tell."""
        return self._quota(capacity, None if maker is None else self._credits_of(maker), acceleratable)

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


def check_one_resource(flavors: Iterable[LiveFlavor]) -> None:
    """Raises: EvaluationError: flavors of one queue name several resources; its one group could not hold them."""
    resources = sorted({flavor.resource for flavor in flavors})
    if len(resources) > 1:
        raise EvaluationError(
            "flavors of one queue name several resources",
            why=", ".join(resources),
            remedy="give each resource a type of its own",
        )


class LiveType:
    """A type with its queue and its running sums."""

    __slots__ = ("_usage", "conditions", "made", "queue", "spec", "state", "tally", "topology_ready", "type")

    def __init__(self, made: MadeType, state: QueueState | None = None, usage: Mapping[str, int] | None = None) -> None:
        """Shape: `state` is where a recorded queue stood, and `usage` what workloads used of each flavor."""
        self._usage = usage
        self.made = made
        self.spec: Mapping[str, Any] = made.spec
        self.tally = TypeTally()
        self.state = created_state(made) if state is None else state
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
        check_one_resource(flavors)
        settled = settle(
            self.state,
            plan_queue(self.state, flavors, checks),
            inactive=bool(self.spec.get("inactive")),
            usage=self._usage,
            drains_when_no_flavors=bool(rules.settings.get(DRAINS_WHEN_NO_FLAVORS, True)),
        )
        self.state = settled.state
        self.topology_ready = settled.condition
        if settled.inactive != bool(self.spec.get("inactive")):
            self.spec = {**self.spec, "inactive": settled.inactive}

    def _report(self, feeding: list[FlavorEntry], rules: QueueRules) -> None:
        made = self.made
        status = type_status(
            self.spec, self.state, observe(self.state, self._usage), feeding, self.tally, rules.settings
        )
        self.queue = QueueFields(made.name, queue_labels(made), made.queue, self.state, self.topology_ready)
        self.type = TypeFields(made.name, made.labels, self.spec, made.entrance.name, made.derived, status)
