"""`engine eval`: one section, one input, one answer.

The answer is the program's; `--explain` adds the rules' places and the values that were read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from engine.cli.command import Command
from engine.cli.documents import json_text, yaml_text
from engine.cli.exits import Exit
from engine.cli.inputs import read_input
from engine.cli.packs import Rules, program_options, shipped_program
from engine.errors import InputError, UsageError
from engine.explain.reads import read_value
from engine.lang import ir
from engine.lang.diagnostics import nearest
from engine.lang.outcome import OutcomeKind
from engine.lang.packtest_coverage import Recorder
from engine.lang.packtest_inputs import filled_settings, input_faults, pack_types
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Owner
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT, circumstances_of, completed


@click.command(
    "eval",
    cls=Command,
    examples=(
        "engine eval topology --input docs/examples/topology-input.yaml",
        "engine eval pool --input docs/examples/pool-input.json --explain -o json",
        "engine eval allocation --maker acme --pack docs/examples/acme.yaml --input docs/examples/slice-input.yaml --explain",
    ),
)
@click.argument("section")
@click.option(
    "--input", "path", required=True, metavar="FILE", help="The section's input, JSON or YAML; - for standard input."
)
@click.option("--maker", metavar="NAME", help="The maker, for a section of manufacturer packs.")
@click.option("--explain", "explained", is_flag=True, help="Add where rules stand, and the values that were read.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="How to print.",
)
@program_options
def command(section: str, path: str, maker: str | None, explained: bool, form: str, rules: Rules) -> int:
    """Evaluate one section for one input.

    Settings that the input leaves out have their defaults. SECTION may also be `allocation`, which runs a maker's guards,
    claims, prepare and inject as one story; with --explain every edit, claim and refusal then has its rule. The exit
    code is 1 when the rules could not tell.
    """
    _check_name(section, maker)
    program = shipped_program(rules)
    given = read_input(path)
    if section in JOINT.scenarios:
        answer = _run_scenario(program, section, given, maker, explained=explained)
    else:
        answer = _evaluate(program, section, given, maker, explained=explained)
    click.echo(json_text(answer) + "\n" if form == "json" else yaml_text(answer), nl=False)
    return Exit.FINDINGS if answer["outcome"] == OutcomeKind.UNKNOWN else Exit.CLEAN


def _check_name(section: str, maker: str | None) -> None:
    declared = CATALOGUE.section(section)
    if declared is None and section not in JOINT.scenarios:
        known = (*CATALOGUE.sections, *JOINT.scenarios)
        near = nearest(section, known)
        remedy = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
        raise UsageError(f"there is no section {section}", remedy=remedy)
    of_maker = declared is None or declared.owner is Owner.MANUFACTURER
    if of_maker and maker is None:
        raise UsageError(f"section {section} is each maker's own", remedy="name one with --maker")
    if not of_maker and maker is not None:
        raise UsageError(f"section {section} is the same for every maker", remedy="leave --maker out")


def _evaluate(
    program: Program, section: str, given: dict[str, Any], maker: str | None, *, explained: bool
) -> dict[str, Any]:
    declared, pack = CATALOGUE.sections[section], _pack(program, section, maker)
    compiled = program.section(section, maker)
    settings = program.block("settings") if declared.settings else None
    if pack is not None:
        _check_input(given, declared.input, pack, settings)
    if declared.settings:
        given = {**given, "settings": filled_settings(settings, given.get("settings") or {})}
    outcome = program.evaluate(section, JOINT.ready(program, section, maker, given), maker)
    made: dict[str, Any] = {"section": section, **({"maker": maker} if maker else {}), "outcome": str(outcome.kind)}
    if outcome.kind is OutcomeKind.VALUE:
        made["value"] = outcome.value
    if outcome.reason:
        made["reason"] = outcome.reason
    if compiled is None:
        made["reason"] = "no linked pack has this section"
    if not explained:
        return {**made, "fired": list(outcome.fired)}
    places = {rule.id: rule.at for rule in ir.leaves(compiled.rules)} if compiled else {}
    made["fired"] = [{"rule": rule, "at": places[rule]} for rule in outcome.fired]
    made["reads"] = {".".join(each): read_value(given, each) for each in sorted(compiled.reads)} if compiled else {}
    return {**made, "program": program.digest}


def _run_scenario(
    program: Program, name: str, given: dict[str, Any], maker: str | None, *, explained: bool
) -> dict[str, Any]:
    scenario = JOINT.scenarios[name]
    pack = _pack(program, scenario.covers[0], maker)
    if pack is not None:
        _check_input(given, scenario.input, pack, None)
    ran = scenario.run(program, maker or "", given, Recorder())
    outcome = OutcomeKind.VALUE if ran.unknown is None else OutcomeKind.UNKNOWN
    made: dict[str, Any] = {"section": name, "maker": maker, "outcome": str(outcome)}
    if ran.refused is not None:
        made["refused"] = ran.refused
    if ran.unknown is not None:
        made["reason"] = ran.unknown
    elif ran.value is not None:
        made["value"] = ran.value
    made["fired"] = list(ran.fired)
    if explained:
        from engine.explain.allocation import explain_allocation

        alloc = completed(given.get("alloc") or {})
        _, found = explain_allocation(program, maker or "", alloc, circumstances_of(given))
        made["explained"] = [each.as_dict() for each in found]
        made["program"] = program.digest
    return made


def _pack(program: Program, section: str, maker: str | None) -> LinkedPack | None:
    if maker is not None and maker not in program.makers:
        near = nearest(maker, program.makers)
        listed = ", ".join(program.makers) or "none"
        remedy = f"did you mean {near}?" if near else f"linked makers: {listed}"
        raise UsageError(f"there is no pack of maker {maker}", remedy=remedy)
    return program.pack(section, maker)


def _check_input(given: Mapping[str, Any], notation: str, pack: LinkedPack, settings: Any) -> None:
    faults = input_faults(given, notation, pack_types(pack, CATALOGUE), settings=settings)
    if faults:
        raise InputError(
            "the input does not fit the section",
            why="; ".join(faults),
            remedy=f"it takes {{{' '.join(notation.split())}}}",
        )
