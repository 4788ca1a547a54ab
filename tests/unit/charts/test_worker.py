"""The worker as the chart starts it: its arguments are options it has, and the volume it reads links to the shipped rules."""

from __future__ import annotations

from engine.cli.worker import command, serving_of
from engine.delivery.directory import read_mount
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import link
from engine.rulefiles import find_packs, shipped_packs
from engine.sections.catalog import CATALOGUE
from engine.worker.certificate import ServingCertificate
from tests.unit.charts.chart import arguments, mounted

OPTIONS = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}

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
    first, *others = render(values).container["args"]
    assert first == "worker"
    assert [each for each in others if each.partition("=")[0] not in OPTIONS] == []


def test_the_arguments_are_taken_as_they_are(render, tmp_path):
    values = {"overlays": {"hall-7": OVERLAY}}
    parsed = command.make_context("worker", arguments(render(values), tmp_path)[1:])
    assert parsed.params["delivered"] == tmp_path / "delivery"
    assert parsed.params["folder"] is None, "what the image ships is there to fall back to"


def test_a_worker_with_the_charts_arguments_serves_every_address_by_the_charts_certificate(default, tmp_path):
    given = command.make_context("worker", arguments(default, tmp_path)[1:]).params
    serving = serving_of(given["port"], given["address"], given["certificate"], given["key"])
    assert serving is not None
    assert (serving.port, serving.host) == (31443, "")
    assert serving.certificate is not None
    assert serving.key is not None
    assert ServingCertificate(serving.certificate, serving.key).context


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
    assert not linked.diagnostics.has_errors
    assert linked.program is not None
    assert plain.program is not None
    assert linked.program.digest != plain.program.digest


def test_what_is_delivered_live_is_whole_and_an_overlay_is_told_from_a_pack(render, tmp_path):
    mount = mounted(render({"packs": {"acme": "kind: Manufacturer\n"}, "overlays": {"hall-7": OVERLAY}}), tmp_path)
    candidate = read_mount(mount)
    assert candidate.faults == ()
    assert [each.name for each in candidate.overlays] == ["overlays/hall-7.yaml"]
    names = {each.name for each in candidate.packs}
    assert {"rules/manufacturers/nvidia", "rules/library/hami-core.yaml", "rules/extra/acme.yaml"} <= names


def test_where_a_pack_came_from_is_the_name_of_its_config_map(render, tmp_path):
    rendered = render({"packs": {"acme": "kind: Manufacturer\n"}, "overlays": {"hall-7": OVERLAY}})
    candidate = read_mount(mounted(rendered, tmp_path), origin="gpustack-system")
    kinds = {"rules/derive": "derivation", "rules/library": "library", "rules/manufacturers": "manufacturer"}
    maps = {f"gpustack-system/{each['metadata']['name']}" for each in rendered.of("ConfigMap")}
    for group in candidate.groups:
        folder, _, last = group.name.rpartition("/")
        pack = f"{kinds.get(folder, 'any')}-{last.removesuffix('.yaml')}"
        assert candidate.source(group, pack) in maps


def test_the_bundle_lists_what_is_delivered_and_shows_what_has_not_come_yet(render, tmp_path):
    mount = mounted(render({"packs": {"acme": "a: 1\n"}, "overlays": {"hall-7": OVERLAY}}), tmp_path)
    assert read_mount(mount).awaited == ()
    (mount / "..data" / "rules" / "extra" / "acme.yaml").write_text("a: 2\n", "utf-8")
    assert read_mount(mount).awaited == ("rules/extra/acme.yaml",)
