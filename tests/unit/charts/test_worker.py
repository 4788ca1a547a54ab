"""The worker as the chart starts it: its arguments are options it has, and the volume it reads links to the shipped rules."""

from __future__ import annotations

from engine.cli.worker import command
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import link
from engine.rulefiles import find_packs, shipped_packs
from engine.sections.catalog import CATALOGUE
from tests.unit.charts.chart import mounted

OVERLAY = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Overlay
metadata: {name: hall-7, version: "1.0.0"}
spec:
  target: {kind: Manufacturer, pack: nvidia}
  params: {slicesPerCard: 8}
"""


def test_every_argument_is_an_option_of_the_worker(render):
    values = {"worker": {"trustedNamespaces": ["nfd"]}, "overlays": {"hall-7": OVERLAY}}
    first, *arguments = render(values).container["args"]
    assert first == "worker"
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert [each for each in arguments if each.partition("=")[0] not in known] == []


def test_the_arguments_are_taken_as_they_are(render, tmp_path):
    values = {"overlays": {"hall-7": OVERLAY}}
    rendered = render(values)
    folder = mounted(rendered, tmp_path)
    arguments = [each.replace("/etc/engine/delivery", str(folder)) for each in rendered.container["args"][1:]]
    parsed = command.make_context("worker", arguments)
    assert str(parsed.params["folder"]) == f"{folder}/rules"
    assert parsed.params["overlays"] == (f"{folder}/overlays",)


def test_the_mounted_rules_come_to_the_program_of_the_shipped_ones(default, tmp_path):
    found = Diagnostics()
    packs = find_packs([mounted(default, tmp_path) / "rules"], found)
    assert list(found) == []
    # overlays are examples, which are not shipped and change nothing
    shipped = [each for each in shipped_packs() if "overlays" not in each.name]
    mine, theirs = link(packs, CATALOGUE).program, link(shipped, CATALOGUE).program
    assert mine is not None
    assert theirs is not None
    assert mine.digest == theirs.digest


def test_an_overlay_of_the_values_is_in_the_program(render, tmp_path):
    folder = mounted(render({"overlays": {"hall-7": OVERLAY}}), tmp_path)
    found = Diagnostics()
    packs = find_packs([folder / "rules"], found)
    linked = link(packs, CATALOGUE, overlays=find_packs([folder / "overlays"], found))
    plain = link(packs, CATALOGUE)
    assert list(found) == []
    assert linked.program is not None
    assert plain.program is not None
    assert linked.program.digest != plain.program.digest
