"""Kueue's configuration and webhooks as the testbed makes them: pure, so they run with the fast tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cluster.kueue import (
    local_webhooks,
    process_configuration,
    shipped_configuration,
)


def hook(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "clientConfig": {"service": {"name": "s", "namespace": "n", "path": path}}}


PUBLISHED = [
    {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "validating"},
        "webhooks": [
            hook("own", "/validate-kueue-x-k8s-io-v1beta2-clusterqueue"),
            hook("job", "/validate-batch-v1-job"),
            hook("pod", "/validate--v1-pod"),
            hook("foreign", "/validate-ray-io-v1-rayjob"),
        ],
    }
]


def test_every_shipped_maker_is_charged_for_cards_shares_and_slices() -> None:
    made = {each["input"]: each for each in shipped_configuration()["resources"]["transformations"]}
    whole = made["nvidia.com/gpu"]
    assert whole == {
        "input": "nvidia.com/gpu",
        "strategy": "Replace",
        "outputs": {"credits.gpustack.ai/nvidia": "1600000"},
    }
    assert made["nvidia.com/gpu.shared"]["outputs"] == {"credits.gpustack.ai/nvidia": "160000"}
    assert made["nvidia.com/gpu.sliced.units"]["multiplyBy"] == "nvidia.com/gpu.sliced"
    assert "multiplyBy" not in made["nvidia.com/gpu.partitioned.units"]


def test_a_given_configuration_keeps_what_it_says_about_scheduling() -> None:
    given = {
        "featureGates": {"TopologyAwareScheduling": False, "VisibilityOnDemand": True},
        "integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"], "podOptions": {}},
        "resources": {"quotaCheckStrategy": "BlockUndeclared"},
        "webhook": {"port": 1},
    }
    made = process_configuration(given, Path("/certificates"))
    assert made["resources"] == given["resources"]
    assert made["featureGates"] == {"TopologyAwareScheduling": False, "VisibilityOnDemand": False}
    assert made["integrations"] == {"frameworks": ["batch/job"], "podOptions": {}}
    assert made["webhook"]["certDir"] == "/certificates"
    assert given["webhook"] == {"port": 1}, "the given one is left alone"


def test_webhooks_point_at_this_machine_and_stay_out_of_system_namespaces() -> None:
    configuration = {"integrations": {"frameworks": ["batch/job", "pod"]}}
    (made,) = local_webhooks(PUBLISHED, "Q0E=", configuration)
    assert made["metadata"]["name"] == "kueue-validating"
    assert [each["name"] for each in made["webhooks"]] == ["own", "job", "pod"], (
        "kinds that are not there have no webhook"
    )
    own, job, _pod = made["webhooks"]
    url = "https://127.0.0.1:9443/validate-kueue-x-k8s-io-v1beta2-clusterqueue"
    assert own["clientConfig"] == {"url": url, "caBundle": "Q0E="}
    assert "namespaceSelector" not in own
    assert job["namespaceSelector"]["matchExpressions"][0]["values"] == [
        "kube-system",
        "kueue-system",
        "gpustack-system",
    ]


def test_a_framework_that_is_off_has_no_webhook() -> None:
    configuration = {"integrations": {"frameworks": ["batch/job"]}}
    (made,) = local_webhooks(PUBLISHED, "Q0E=", configuration)
    assert [each["name"] for each in made["webhooks"]] == ["own", "job"]
