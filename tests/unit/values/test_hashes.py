"""Digests: check values of the algorithms and every recorded name."""

from __future__ import annotations

import pytest

from engine.errors import EvaluationError
from engine.values import hashes


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "cbf29ce484222325"),
        ("a", "af63dc4c8601ec8c"),
        ("foobar", "85944171f73967e8"),
        ("gpustack--generic-linux-amd64", "3b93966fd73eb9ec"),
        ("gpustack--nvidia-a10g-linux-amd64", "c4680bb149644f1c"),
        ("gpustack--nvidia-tesla-t4-linux-amd64", "6b371caa2da0b799"),
        ("gpustack--amd-epyc-7r13-linux-amd64", "8dde992f64a17a2f"),
        ("gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64", "029fd9550e0c70bd"),
        ("gpustack--amd-epyc-7r32-linux-amd64", "d3390f10cd57a632"),
        ("gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64", "5b59e508edc027b7"),
        ("gpustack--intel-xeon-platinum-8259cl-linux-amd64", "c6aee2b7b5c4dc6b"),
        ("a10g-12c128g", "d4c0e6cd72686015"),
        ("a10g-8c32g", "8cf5b3114035c84a"),
    ],
)
def test_fnv64a_gives_the_recorded_digest(text: str, digest: str) -> None:
    assert hashes.fnv64a(text) == digest


@pytest.mark.parametrize(
    ("levels", "profile"),
    [
        (["kubernetes.io/hostname"], "fnv64-87bf574bea2a4f23"),
        (["topology.kubernetes.io/zone", "kubernetes.io/hostname"], "fnv64-f7b1861ac0399767"),
        (
            ["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"],
            "fnv64-570aeab478df5111",
        ),
        (
            [*(f"topology.gpustack.ai/{level}" for level in ("region", "zone", "rack")), "kubernetes.io/hostname"],
            "fnv64-dde125aa4572179a",
        ),
    ],
)
def test_a_topology_profile_is_the_digest_of_its_levels(levels: list[str], profile: str) -> None:
    assert hashes.profile_hash(levels) == profile


def test_sha256_gives_as_many_digits_as_asked() -> None:
    assert hashes.sha256_hex("abc", 12) == "ba7816bf8f01"
    assert len(hashes.sha256_hex("abc", 64)) == 64


@pytest.mark.parametrize("digits", [0, -1, 65])
def test_sha256_refuses_a_length_it_does_not_have(digits: int) -> None:
    with pytest.raises(EvaluationError, match="1 to 64"):
        hashes.sha256_hex("abc", digits)
