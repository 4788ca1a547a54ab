"""`engine explain`: which rule, or which code, made a field of an object, and from what.

Plans the same files as `engine plan` with a program that remembers what it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from engine.chain.chain import Chain
from engine.cli.command import Command
from engine.cli.documents import json_text, yaml_text
from engine.cli.exits import Exit
from engine.cli.kinds import Kind, kind_of
from engine.cli.packs import Rules, program_options, shipped_program
from engine.cli.planning import Options, planned, planning_options, print_notes
from engine.cli.snapshot import read_snapshot
from engine.errors import UsageError
from engine.explain.explanation import Explanation, Rule, explain, field_steps, leaves, shown
from engine.explain.recording import Recording
from engine.lang.diagnostics import nearest


@click.command(
    "explain",
    cls=Command,
    examples=(
        "engine explain instancetype/gpustack--generic-linux-amd64:spec.unitResources.cpu tests/machines/walkthrough",
        "engine explain node/node-a10g:metadata.labels --machines tests/machines/walkthrough",
        "engine explain cq/gpustack--generic-linux-amd64 tests/machines/walkthrough --unmanaged node-a10g",
    ),
)
@click.argument("target", metavar="KIND/NAME[:FIELD]")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--machines", multiple=True, metavar="PATH", help="A machine file or folder; as PATH.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "yaml", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)
@planning_options
@program_options
def command(
    target: str,
    paths: tuple[str, ...],
    machines: tuple[str, ...],
    form: str,
    settings: tuple[str, ...],
    unmanaged: tuple[str, ...],
    namespaces: tuple[str, ...],
    from_empty: bool,
    rules: Rules,
) -> int:
    """Say which rule made a field of a planned object, and from what.

    KIND and NAME are as in `engine plan -o name`, the group may be left out. FIELD is a path of keys, list positions in
    brackets; without one every field is listed. PATH and the options are those of `engine plan`.
    """
    kind, name, field = _parsed(target)
    given = (*paths, *machines)
    if not given:
        raise UsageError("there is nothing to plan", remedy="name machine files or folders, as for engine plan")
    snapshot = read_snapshot(given)
    options = Options(settings, unmanaged, namespaces, from_empty)
    recording = Recording(shipped_program(rules))
    chain = planned(snapshot, recording, options)
    print_notes(snapshot, (), options, verbose=False)
    made = _object(kind, name, chain)
    fields = _fields(made, field, f"{kind.singular}/{name}")
    found = explain(kind.name, made, fields, chain, recording, _managed(made, unmanaged))
    _print(found, form, brief=len(found) > 1)
    return Exit.CLEAN


def _parsed(target: str) -> tuple[Kind, str, str]:
    kind, slash, rest = target.partition("/")
    name, _, field = rest.partition(":")
    if not slash or not name:
        raise UsageError(f"{target} names no object", remedy="write KIND/NAME or KIND/NAME:FIELD, as in node/node-a10g")
    return kind_of(kind), name, field


def _object(kind: Kind, name: str, chain: Chain) -> dict[str, Any]:
    objects = {_full_name(each): each for each in kind.objects(chain) if "metadata" in each}
    for full, made in objects.items():
        if name in (full, made["metadata"]["name"]):
            return made
    near = nearest(name, objects)
    listed = ", ".join(objects) or "none"
    raise UsageError(
        f"there is no {kind.singular} {name}", remedy=f"did you mean {near}?" if near else f"there are: {listed}"
    )


def _full_name(made: dict[str, Any]) -> str:
    metadata = made["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def _fields(made: dict[str, Any], field: str, about: str) -> list[tuple[str | int, ...]]:
    steps = field_steps(made, field.strip().lstrip("."))
    if steps is None:
        known = [shown(each) for each in leaves(made)]
        near = nearest(field, known)
        remedy = f"did you mean {near}?" if near else f"engine explain {about} lists all fields"
        raise UsageError(f"{about} has no field {field}", remedy=remedy)
    value: Any = made
    for step in steps:
        value = value[step]
    return list(leaves(value, steps))


def _managed(made: dict[str, Any], unmanaged: Sequence[str]) -> str | None:
    metadata = made["metadata"]
    node = metadata.get("labels", {}).get("nfd.node.kubernetes.io/node-name", metadata["name"])
    return "false" if node in unmanaged else None


def _print(found: list[Explanation], form: str, *, brief: bool) -> None:
    plain = [each.as_dict() for each in found]
    if form == "json":
        click.echo(json_text(plain))
    elif form == "yaml":
        click.echo(yaml_text(plain), nl=False)
    else:
        lines = (line for each in found for line in (_brief(each) if brief else _full(each)))
        click.echo("\n".join(lines))


def _brief(found: Explanation) -> Iterator[str]:
    yield f"{found.field}: {_value(found.value)}"
    yield f"    {_made_by(found)}"


def _made_by(found: Explanation) -> str:
    if found.section:
        rules = ", ".join(f"{rule.id} ({rule.at})" for rule in found.rules) or "no rule: the default"
        return f"section {_section(found)}, rule {rules}"
    if found.given:
        return f"given: {found.given}"
    return f"code: {found.code} ({found.module})"


def _full(found: Explanation) -> Iterator[str]:
    yield f"{found.field}: {_value(found.value)}"
    if not found.section:
        yield f"  {_made_by(found)}"
        return
    yield f"  section  {_section(found)}"
    for rule in found.rules:
        yield f"  rule     {rule.id}"
        yield f"  at       {rule.at}"
        yield from _reads(rule)


def _reads(rule: Rule) -> Iterator[str]:
    head = "reads"
    for path, value in rule.reads.items():
        yield f"  {head:<8} {path} = {_value(value)}"
        head = ""


def _section(found: Explanation) -> str:
    return f"{found.section} of {found.maker}" if found.maker else found.section


def _value(value: Any) -> str:
    text = (
        json_text(value) if isinstance(value, (dict, list)) else value if isinstance(value, str) else json_text(value)
    )
    return " ".join(str(text).split())
