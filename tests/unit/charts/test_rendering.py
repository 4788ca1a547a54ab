"""What the chart comes to: objects that are well formed, packs as they were written, a Pod with few rights."""

from __future__ import annotations

import base64
import re
import ssl

import pytest

from charts import build
from tests.unit.charts.chart import NAMESPACE, WORKER, mounted, read

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding"}

AWKWARD = (
    "# {{ .Values.nope }} $(x) ${y}\n"
    "ids: [19e5, 00e0, 1e3, on]\n"
    "credits: 1600000\n"
    'text: "quotes \\" <&> \\\\ back"\n'
    "\n"
    "lines: |+\n  one\n\n\ttab after\n  Größe ½ 😀 \u2028\n\n\n"
)
"""A text in which every reader and template on the way could change something."""


def _labels(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("labels", "matchLabels"):
                yield from inner.items()
            else:
                yield from _labels(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _labels(inner)


def test_lint_finds_nothing_but_the_missing_icon(helm, chart):
    found = helm.lint(chart, {"kueue": {"enabled": False}}, namespace=NAMESPACE)
    messages = [each["error"] for each in found["messages"] if "icon" not in each["error"]]
    # Kueue's archive is not in this copy; it is declared and switched off.
    assert [each for each in messages if "kueue" not in each] == []


def test_names_namespaces_and_labels_are_those_that_kubernetes_takes(default):
    for each in default.objects:
        assert each["apiVersion"]
        assert NAME.fullmatch(each["metadata"]["name"])
        assert each["metadata"].get("namespace") == (None if each["kind"] in CLUSTER_WIDE else NAMESPACE)
    assert all(LABEL.fullmatch(value) for _, value in _labels(default.objects))
    names = [(each["kind"], each["metadata"]["name"]) for each in default.objects]
    assert len(set(names)) == len(names)


def test_every_object_says_what_it_is_part_of(default):
    for each in default.objects:
        assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "gpustack-operator"
        assert each["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"


def test_a_common_label_cannot_take_the_place_of_the_charts_own(render):
    labels = render({"commonLabels": {"app.kubernetes.io/part-of": "x", "team": "ml"}}).one("Service")["metadata"]
    assert labels["labels"]["app.kubernetes.io/part-of"] == "gpustack-operator"
    assert labels["labels"]["team"] == "ml"


def test_selectors_find_the_pod_and_do_not_change_with_the_version(default):
    deployment = default.one("Deployment")
    selector = deployment["spec"]["selector"]["matchLabels"]
    assert selector == default.one("Service")["spec"]["selector"]
    assert selector.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert not {key for key in selector if "version" in key or "chart" in key}


def test_no_number_becomes_a_float_on_the_way(default, render):
    for rendered in (default, render({"packs": {"acme": AWKWARD}})):
        outside = "\n".join(text for name, text in rendered.texts.items() if "packs" not in name)
        assert not re.search(r"\d[eE]\+\d", outside)
    assert "19e5" in render({"packs": {"acme": AWKWARD}}).texts["engine/templates/packs.yaml"]


def test_a_pack_of_the_values_arrives_byte_for_byte(render):
    rendered = render({"packs": {"acme": AWKWARD}, "overlays": {"hall-7": AWKWARD}})
    assert rendered.one("ConfigMap", "engine-pack-extra-acme")["data"] == {"acme.yaml": AWKWARD}
    assert rendered.one("ConfigMap", "engine-overlay-hall-7")["data"] == {"hall-7.yaml": AWKWARD}


def test_a_pack_in_a_file_of_values_arrives_byte_for_byte(helm, render):
    values = "packs:\n  acme: |\n    ids: [19e5, 1e3]  # {{ x }}\n    credits: 1600000\n"
    text = render(helm.values_from_yaml(values)).one("ConfigMap", "engine-pack-extra-acme")["data"]["acme.yaml"]
    assert text == "ids: [19e5, 1e3]  # {{ x }}\ncredits: 1600000\n"


def test_the_volume_holds_the_shipped_packs_byte_for_byte(default, tmp_path):
    volume = mounted(default, tmp_path)
    for pack in build.shipped_packs():
        for file in pack.files:
            shipped = build.RULES / pack.folder / file
            copy = volume / "rules" / pack.folder / file.replace("/", ".")
            assert copy.read_bytes() == shipped.read_bytes()


def test_every_config_map_is_mounted_and_small_enough(render):
    rendered = render({"packs": {"acme": "a: 1\n"}, "overlays": {"hall-7": "b: 2\n"}})
    (volume,) = [each for each in rendered.pod["volumes"] if each["name"] == "delivery"]
    sources = [each["configMap"] for each in volume["projected"]["sources"]]
    maps = {each["metadata"]["name"]: each["data"] for each in rendered.of("ConfigMap")}
    assert {each["name"] for each in sources} == set(maps)
    assert all({item["key"] for item in each["items"]} == set(maps[each["name"]]) for each in sources)
    assert all(sum(map(len, data.values())) < 512 * 1024 for data in maps.values())


def test_a_manufacturer_set_to_null_takes_its_pack_along(render):
    rendered = render({"global": {"manufacturers": {"amd": None}}})
    names = {each["metadata"]["name"] for each in rendered.of("ConfigMap")}
    assert "engine-pack-manufacturer-amd" not in names
    assert "engine-pack-manufacturer-nvidia" in names
    assert "amd" not in rendered.notes


def test_a_row_becomes_the_overrides_of_its_manufacturer(render):
    row = {"pciVendorID": "19e5", "resourceName": "a.b/c", "runtimeName": "r", "partitionKind": "mig"}
    rendered = render({"global": {"manufacturers": {"ascend": row}}})
    variables = {each["name"]: each.get("value") for each in rendered.container["env"]}
    assert {key: value for key, value in variables.items() if key.startswith("GPUSTACK_")} == {
        "GPUSTACK_ASCEND_PCI_VENDOR_ID": "19e5",
        "GPUSTACK_ASCEND_ACCELERATABLE_RESOURCE_NAME": "a.b/c",
        "GPUSTACK_ASCEND_ACCELERATABLE_RUNTIME_NAME": "r",
        "GPUSTACK_ASCEND_PARTITION_KIND": "mig",
    }
    assert "ascend" in rendered.notes.partition("transformations know")[2]


def test_a_setting_is_seeded_and_a_variable_of_ours_cannot_be_shadowed(render):
    values = {"settings": {"node-management-manual": "true"}, "worker": {"env": {"KUBERNETES_POD_NAMESPACE": "x"}}}
    variables = render(values).container["env"]
    assert {"name": "GPUSTACK_NODE_MANAGEMENT_MANUAL", "value": "true"} in variables
    namespaces = [each for each in variables if each["name"] == "KUBERNETES_POD_NAMESPACE"]
    assert namespaces[-1].get("valueFrom") == {"fieldRef": {"fieldPath": "metadata.namespace"}}


def test_the_pod_runs_without_root_and_writes_to_no_file_of_the_image(default):
    assert default.pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert default.container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not any("hostPath" in volume for volume in default.pod["volumes"])
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(default.pod)
    writable = [each["mountPath"] for each in default.container["volumeMounts"] if not each.get("readOnly")]
    assert writable == ["/tmp"]
    assert default.container["resources"]["requests"].keys() == {"cpu", "memory"}


SERVED = {"worker": {"securePort": 31000}}
SILENT = {"worker": {"serve": {"enabled": False}}}


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_probes_ask_the_port_that_is_served(render, probe):
    container = render(SERVED).container
    (port,) = container["ports"]
    path = "/livez" if probe == "livenessProbe" else "/readyz"
    assert container[probe]["httpGet"] == {"path": path, "port": port["name"], "scheme": "HTTPS"}
    assert port["containerPort"] == 31000
    assert "--secure-port=31000" in container["args"]


def test_metrics_are_announced_where_they_are_served_and_nowhere_else(render):
    annotations = render(SERVED).one("Service")["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == "31000"
    assert annotations["prometheus.io/scheme"] == "https"
    quiet = {"worker": {"serve": {"announce": False}}}
    for values in (SILENT, quiet):
        assert "annotations" not in render(values).one("Service")["metadata"]


def test_a_worker_that_serves_nothing_has_no_probes_no_certificate_and_no_port(render):
    rendered = render(SILENT)
    assert "--secure-port=0" in rendered.container["args"]
    assert not [each for each in rendered.container if each.endswith("Probe")]
    assert rendered.of("Secret") == []
    assert "tls" not in {volume["name"] for volume in rendered.pod["volumes"]}


def test_the_certificate_is_for_the_service_and_is_mounted_where_the_worker_reads_it(default):
    secret = default.one("Secret", f"{WORKER}-cert")
    assert secret["type"] == "kubernetes.io/tls"
    text = base64.b64decode(secret["data"]["tls.crt"]).decode("ascii")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=text)
    assert f"{WORKER}.{NAMESPACE}.svc".encode() in ssl.PEM_cert_to_DER_cert(text)
    assert "PRIVATE KEY" in base64.b64decode(secret["data"]["tls.key"]).decode("ascii")
    (volume,) = [each for each in default.pod["volumes"] if each["name"] == "tls"]
    (mount,) = [each for each in default.container["volumeMounts"] if each["name"] == "tls"]
    assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    assert mount["readOnly"]
    assert "subPath" not in mount, "a changed certificate would never arrive"
    for file in ("--tls-cert-file=/etc/engine/tls/tls.crt", "--tls-private-key-file=/etc/engine/tls/tls.key"):
        assert file in default.container["args"]


def test_a_secret_of_the_values_takes_the_place_of_the_made_one(render):
    rendered = render({"worker": {"serve": {"certificateSecret": "theirs"}}})
    assert rendered.of("Secret") == []
    (volume,) = [each for each in rendered.pod["volumes"] if each["name"] == "tls"]
    assert volume["secret"] == {"secretName": "theirs"}


@pytest.mark.parametrize(
    ("values", "image"),
    [
        ({}, "docker.io/gpustack/engine:v0.1.0"),
        ({"global": {"imageRegistry": "r:5000"}}, "r:5000/gpustack/engine:v0.1.0"),
        ({"global": {"imageRegistry": "r:5000", "imageNamespace": "m"}}, "r:5000/m/engine:v0.1.0"),
        ({"image": {"repository": "own/engine", "tag": "v9"}}, "own/engine:v9"),
        ({"image": {"tag": "v9"}, "worker": {"image": {"tag": "v10"}}}, "docker.io/gpustack/engine:v10"),
    ],
)
def test_an_image_is_found_in_the_registry_that_the_values_name(render, values, image):
    assert render(values).container["image"] == image


def test_a_budget_selects_the_worker_and_warns_when_it_blocks_drains(render):
    one = {"worker": {"podDisruptionBudget": {"enabled": True}}}
    two = {"worker": {"replicas": 2, "podDisruptionBudget": {"enabled": True}}}
    budget = render(two).one("PodDisruptionBudget")["spec"]
    assert budget["minAvailable"] == 1
    assert budget["selector"]["matchLabels"]["app.kubernetes.io/name"] == WORKER
    assert "can be drained" in render(one).notes
    assert "can be drained" not in render(two).notes


def test_a_spread_without_a_selector_gets_the_workers_own(render):
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    (found,) = render({"worker": {"topologySpreadConstraints": [spread]}}).pod["topologySpreadConstraints"]
    assert found["labelSelector"]["matchLabels"]["app.kubernetes.io/name"] == WORKER


def test_names_do_not_depend_on_the_release(loaded):
    texts = loaded.render({"kueue": {"enabled": False}}, name="other", namespace="elsewhere")
    deployment = read(texts["engine/templates/deployment.yaml"])
    assert deployment["metadata"]["name"] == WORKER
    assert deployment["metadata"]["namespace"] == "elsewhere"
    assert "managedJobsNamespaceSelector" in texts["engine/templates/NOTES.txt"]


def test_an_uninstall_leaves_our_definitions_because_none_belongs_to_the_release(default, loaded):
    assert default.of("CustomResourceDefinition") == []
    assert loaded.crds == []


def test_a_chart_without_packs_says_how_to_get_them(helm, tmp_path):
    (tmp_path / "engine").mkdir()
    for name in ("Chart.yaml", "values.yaml"):
        (tmp_path / "engine" / name).write_bytes((build.CHART / name).read_bytes())
    (tmp_path / "engine" / "templates").mkdir()
    for template in (build.CHART / "templates").iterdir():
        (tmp_path / "engine" / "templates" / template.name).write_bytes(template.read_bytes())
    with helm.Chart.load(tmp_path / "engine") as bare, pytest.raises(helm.HelmError, match="make chart"):
        bare.render({"kueue": {"enabled": False}}, name="engine", namespace=NAMESPACE)
