"""Kueue beside the worker: its configuration as fields, and its chart below ours where Go has fetched it."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from charts import build
from engine.sections.resources import Transformation
from engine.worker.render.kueue_configuration import kueue_configuration
from tests.unit.charts.chart import NAMESPACE, Rendered, read, whole

ROWS = (
    Transformation("a.b/gpu", (("credits/a", 1600000),)),
    Transformation("a.b/gpu.sliced.units", (("credits/a", 1),), "a.b/gpu.sliced"),
)


@pytest.fixture(scope="module")
def with_kueue(helm, tmp_path_factory):
    source = build.kueue_source(fetch=False)
    if source is None:
        pytest.skip("Kueue's module is not in Go's cache: `make chart` fetches it")
    chart = whole(tmp_path_factory.mktemp("with-kueue"))
    build.pack_kueue(source, chart)
    with helm.Chart.load(chart) as loaded:
        yield Rendered(loaded.render({}, name="engine", namespace=NAMESPACE))


def test_amounts_are_texts_and_a_multiplier_is_there_only_where_one_is():
    made = kueue_configuration(ROWS, NAMESPACE)["resources"]
    assert made == {
        "quotaCheckStrategy": "IgnoreUndeclared",
        "transformations": [
            {"input": "a.b/gpu", "strategy": "Replace", "outputs": {"credits/a": "1600000"}},
            {
                "input": "a.b/gpu.sliced.units",
                "strategy": "Replace",
                "multiplyBy": "a.b/gpu.sliced",
                "outputs": {"credits/a": "1"},
            },
        ],
    }


@pytest.mark.parametrize(
    ("namespace", "left_alone"), [(NAMESPACE, ["kube-system", NAMESPACE]), ("kube-system", ["kube-system"])]
)
def test_kueue_does_not_manage_its_own_namespace(namespace, left_alone):
    (expression,) = kueue_configuration((), namespace)["managedJobsNamespaceSelector"]["matchExpressions"]
    assert expression == {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": left_alone}


def test_two_configurations_share_nothing_that_one_could_change():
    first = kueue_configuration(ROWS, NAMESPACE)
    first["featureGates"]["X"] = True
    first["integrations"]["frameworks"].clear()
    assert kueue_configuration(ROWS, NAMESPACE)["integrations"]["frameworks"]
    assert "X" not in kueue_configuration(ROWS, NAMESPACE)["featureGates"]


def test_kueues_manager_reads_the_configuration_that_the_packs_come_to(with_kueue):
    text = with_kueue.one("ConfigMap", "kueue-manager-config")["data"]["controller_manager_config.yaml"]
    given = read((build.CHART / "values.yaml").read_text("utf-8"))["kueue"]["managerConfig"]
    arrived = read(text)
    assert arrived.pop("internalCertManagement")["enable"] is True
    assert arrived == read(given["controllerManagerConfigYaml"])
    assert not re.search(r"\d[eE]\+\d", text)


def test_an_uninstall_leaves_kueues_definitions_and_with_them_queues_and_workloads(with_kueue):
    definitions = with_kueue.of("CustomResourceDefinition")
    assert "clusterqueues.kueue.x-k8s.io" in {each["metadata"]["name"] for each in definitions}
    for each in definitions:
        assert each["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_kueue_runs_as_the_released_image_in_the_same_namespace(with_kueue):
    deployment = with_kueue.one("Deployment", "kueue-controller-manager")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["metadata"]["namespace"] == NAMESPACE
    assert container["image"] == f"registry.k8s.io/kueue/kueue:v{build.KUEUE_VERSION}"


def test_a_release_fits_into_its_secret(with_kueue):
    # Helm keeps the manifest, and our files and templates but not those below ours, packed in one Secret of 1 MiB at most.
    files = [
        each
        for each in build.CHART.rglob("*")
        if each.is_file() and not {"packs", "charts"} & set(each.relative_to(build.CHART).parts)
    ]
    packs = [build.RULES / pack.folder / file for pack in build.shipped_packs() for file in pack.files]
    sent = {str(each): base64.b64encode(each.read_bytes()).decode() for each in dict.fromkeys([*files, *packs])}
    kept = json.dumps({"manifest": "".join(with_kueue.texts.values()), "chart": sent}).encode()
    assert len(base64.b64encode(gzip.compress(kept))) < 800 * 1024


def test_no_object_comes_twice_with_kueue_beside_the_worker(with_kueue):
    names = [(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in with_kueue.objects]
    assert len(set(names)) == len(names)
