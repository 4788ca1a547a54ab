"""The objects that say which rules are in force, and what became of each pack, as actions.

Writes nothing itself. The order is part of the result: whatever write is the last before a crash, a reader finds one
whole program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Literal

from engine.api.base import ObjectMeta
from engine.api.rule_pack import RULE_PACK, RulePack, RulePackColumns, RulePackSpec, RulePackStatus
from engine.cluster.actions import Action, Apply, Delete, EmitEvent, MergePatch, ObjectReference
from engine.cluster.resources import CONFIG_MAPS, RULE_PACKS, ObjectKey
from engine.delivery.stored import APPROVED, HEAD, HEAD_FIELDS, PUBLISHED, pack_map_key, pack_map_name
from engine.delivery.verdict import InForce, PackVerdict, State, Verdict
from engine.lang.program import LinkedPack
from engine.values.canonical_json import canonical_json

PROGRAM_MANAGER: Final = "engine-program"
PACK_MANAGER: Final = "engine-rulepack"
VERDICT_MANAGER: Final = "engine-rulepack-status"
APPROVER: Final = "engine-rules"
"""Field managers. Ours, one a writer; spec and status of one object have two, so that neither owns the other's fields."""

_SHOWN_DIGITS: Final = 12

_REASONS: Final = {State.LOADED: "RulesLoaded", State.HELD: "RulesHeld", State.FAILED: "RulesRefused"}


def program_actions(
    serving: InForce,
    namespace: str,
    *,
    previous: InForce | None = None,
    waiting: str = "",
    existing: Collection[str] = (),
) -> list[Action]:
    """Publish a program: first its packs beside those of the previous one, then its head, then the previous ones go.

    Shape: `existing` are names of the ConfigMaps there are; of these, packs of neither program are deleted at the end.
    """
    old = {(pack.kind, pack.name): pack for pack in previous.program.packs} if previous is not None else {}
    first, last = [], []
    for pack in serving.program.packs:
        before = old.get((pack.kind, pack.name))
        alone = _pack_map(namespace, [pack])
        if before is None or before.digest == pack.digest:
            first.append(alone)
        else:
            # Until the head names the new program, a restart needs the pack of the old one.
            first.append(_pack_map(namespace, [before, pack]))
            last.append(alone)
    wanted = {pack_map_name(pack.kind, pack.name) for pack in serving.program.packs}
    stale = sorted(name for name in existing if name.startswith(f"{HEAD}-") and name not in wanted)
    deletions = [Delete(CONFIG_MAPS, ObjectKey(namespace, name)) for name in stale]
    return [*first, head_action(serving, namespace, waiting=waiting), *last, *deletions]


def head_action(serving: InForce, namespace: str, *, waiting: str = "") -> Apply:
    """Name the program in force, its packs and the one that waits. Shape: the keys of `stored.HEAD_FIELDS`, all texts."""
    program = serving.program
    values = (
        program.digest,
        program.vocabulary,
        canonical_json({f"{pack.kind.lower()}-{pack.name}": pack.digest for pack in program.packs}),
        canonical_json(
            [
                {
                    "kind": one.kind,
                    "name": one.name,
                    "version": one.version,
                    "digest": one.digest,
                    "source": one.source,
                    "content": one.content,
                    "folder": one.folder,
                }
                for one in serving.packs
            ]
        ),
        waiting,
    )
    data = dict(zip(HEAD_FIELDS, values, strict=True))
    return Apply(CONFIG_MAPS, _labelled(HEAD, namespace, data), PROGRAM_MANAGER)


def rule_pack_actions(verdict: Verdict, live: Mapping[str, Mapping[str, Any]], now: str) -> list[Action]:
    """A RulePack for each pack that is delivered or in force; others are deleted.

    Shape: `live` are the statuses there are, by name; `now` is an RFC 3339 time, used where a verdict is another one.
    """
    made: list[Action] = []
    wanted = set()
    for one in verdict.packs:
        wanted.add(one.record.id)
        body = RULE_PACK.manifest(_rule_pack(one, live.get(one.record.id, {}), now))
        status = body.pop("status")
        made.append(Apply(RULE_PACKS, body, PACK_MANAGER))
        head = {key: body[key] for key in ("apiVersion", "kind")} | {"metadata": {"name": one.record.id}}
        made.append(Apply(RULE_PACKS, {**head, "status": status}, VERDICT_MANAGER, subresource="status"))
    made += [Delete(RULE_PACKS, ObjectKey("", name)) for name in sorted(live) if name not in wanted]
    return made


def event_actions(verdict: Verdict, namespace: str) -> list[Action]:
    """One Event about a delivery, at the ConfigMap that names the program in force. Give it when a verdict is new."""
    digest = verdict.digest[:_SHOWN_DIGITS]
    note = verdict.message or f"rules {digest} are in force"
    about = ObjectReference(CONFIG_MAPS.api_version, CONFIG_MAPS.kind, ObjectKey(namespace, HEAD))
    return [_event(about, verdict.state, note)]


def pack_event_actions(verdict: Verdict) -> list[Action]:
    """An Event at each RulePack that is not in force, with what its status says. Give it when a verdict is new."""
    return [
        _event(
            ObjectReference(RULE_PACKS.api_version, RULE_PACKS.kind, ObjectKey("", one.record.id)),
            one.state,
            one.message,
        )
        for one in verdict.packs
        if one.state is not State.LOADED
    ]


def approval_action(digest: str, namespace: str) -> MergePatch:
    """Let a held program go into force. The worker never writes this annotation, so it stays what a person last said."""
    patch = {"metadata": {"annotations": {APPROVED: digest}}}
    return MergePatch(CONFIG_MAPS, ObjectKey(namespace, HEAD), patch, APPROVER)


def _event(about: ObjectReference, state: State, note: str) -> EmitEvent:
    kind: Literal["Normal", "Warning"] = "Normal" if state is State.LOADED else "Warning"
    return EmitEvent(about, reason=_REASONS[state], note=note, action="TakeOverRules", kind=kind)


def _pack_map(namespace: str, packs: Iterable[LinkedPack]) -> Apply:
    held = list(packs)
    data = {pack_map_key(pack.digest): canonical_json(pack.to_json()) for pack in held}
    name = pack_map_name(held[0].kind, held[0].name)
    return Apply(CONFIG_MAPS, _labelled(name, namespace, data), PROGRAM_MANAGER)


def _labelled(name: str, namespace: str, data: Mapping[str, str]) -> dict[str, Any]:
    key, _, value = PUBLISHED.partition("=")
    return CONFIG_MAPS.body(name, namespace, metadata={"labels": {key: value}}, data=data)


def _rule_pack(one: PackVerdict, live: Mapping[str, Any], now: str) -> RulePack:
    record = one.record
    stays = live.get("verdict") == one.state and live.get("lastTransitionTime")
    return RulePack(
        metadata=ObjectMeta(name=record.id),
        spec=RulePackSpec(
            kind=record.kind,
            name=record.name,
            version=record.version,
            digest=record.digest,
            source=record.source,
        ),
        status=RulePackStatus(
            verdict=str(one.state),
            message=one.message,
            program=one.program,
            last_transition_time=str(stays or now),
            columns=RulePackColumns(digest=record.digest[:_SHOWN_DIGITS], program=one.program[:_SHOWN_DIGITS]),
        ),
    )
