"""Settings: declared once, given as text, refused with what they take."""

from __future__ import annotations

import pytest

from engine.chain.settings import camel_case, parse_settings
from engine.errors import ContractError, UsageError

BLOCK = [
    {"name": "instance-type-mixed-on-node", "type": "boolean", "default": True},
    {"name": "model-store-download-concurrency", "type": "integer", "default": 8, "check": {"min": 1, "max": 64}},
    {
        "name": "image-pull-policy",
        "type": "string",
        "default": "IfNotPresent",
        "check": {"enum": ["Always", "IfNotPresent"], "blank": True},
    },
    {"name": "delivery-mode", "type": "string", "default": "Engine", "check": {"enum": ["Engine", "Node"]}},
    {"name": "container-registry", "type": "string", "default": ""},
]


def test_every_setting_has_its_default_under_its_camel_case_name() -> None:
    assert dict(parse_settings(BLOCK).values) == {
        "instanceTypeMixedOnNode": True,
        "modelStoreDownloadConcurrency": 8,
        "imagePullPolicy": "IfNotPresent",
        "deliveryMode": "Engine",
        "containerRegistry": "",
    }


def test_stored_texts_become_values_and_unknown_names_are_kept_aside() -> None:
    settings = parse_settings(
        BLOCK,
        {"instance-type-mixed-on-node": "false", "model-store-download-concurrency": "12", "zebra": "1", "ape": "2"},
    )
    assert (settings.values["instanceTypeMixedOnNode"], settings.values["modelStoreDownloadConcurrency"]) == (False, 12)
    assert settings.unknown == ("ape", "zebra")
    assert settings.changed({"delivery-mode": "Node"}).unknown == ("ape", "zebra")


def test_a_value_that_is_one_already_is_taken_as_it_is() -> None:
    settings = parse_settings(BLOCK).changed(
        {"instance-type-mixed-on-node": False, "model-store-download-concurrency": 3, "container-registry": True}
    )
    assert settings.values["instanceTypeMixedOnNode"] is False
    assert settings.values["modelStoreDownloadConcurrency"] == 3
    assert settings.values["containerRegistry"] == "true"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("instance-type-mixed-on-node", "yes", "it takes true or false"),
        ("model-store-download-concurrency", "many", "it takes a whole number"),
        ("model-store-download-concurrency", True, "it takes a whole number"),
        ("model-store-download-concurrency", "0", "it takes 1 or more"),
        ("model-store-download-concurrency", "65", "it takes 64 or less"),
        ("delivery-mode", "Pigeon", "it takes one of Engine, Node"),
        ("delivery-mode", "", "it takes one of Engine, Node"),
        ("image-pull-policy", "Never", "it takes one of Always, IfNotPresent, blank"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_what_is_taken(name: str, value: object, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_settings(BLOCK).changed({name: value})
    assert words in str(refusal.value)
    assert name in str(refusal.value)


def test_blank_is_taken_where_it_is_declared() -> None:
    assert parse_settings(BLOCK).changed({"image-pull-policy": ""}).values["imagePullPolicy"] == ""


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("instance-type-mixed-on-nodes", "did you mean instance-type-mixed-on-node?"),
        ("deliveryMode", "did you mean delivery-mode?"),
        ("qqqq", "see the `settings` block"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_settings(BLOCK).changed({name: "true"})
    assert remedy in str(refusal.value)


@pytest.mark.parametrize("entry", [{"default": True}, {"name": "a"}, {"name": "a", "default": None}])
def test_a_declaration_without_name_or_default_is_our_fault(entry: dict[str, object]) -> None:
    with pytest.raises(ContractError):
        parse_settings([entry])


def test_no_block_is_no_settings() -> None:
    assert dict(parse_settings(None).values) == {}


def test_dashed_names_are_camel_case_in_expressions() -> None:
    assert camel_case("model-deployment-tcp-tw-reuse") == "modelDeploymentTcpTwReuse"
