"""Names: every worked example that earlier releases wrote, and the form every made name must have."""

from __future__ import annotations

import pytest

from engine.errors import EvaluationError
from engine.values import names

SLUGS = [
    ("AMD Instinct MI300X OAM", "amd", 49, "instinct-mi300x-oam"),
    ("AMD Instinct MI308X OAM", "amd", 49, "instinct-mi308x-oam"),
    ("Navi 32 [Radeon RX 7700 XT / 7800 XT]", "amd", 49, "navi-32-radeon-rx-7700-xt-7800-xt"),
    ("Ascend910B2", "ascend", 46, "910b2"),
    ("310P3", "ascend", 46, "310p3"),
    ("K100_AI", "hygon", 47, "k100_ai"),
    ("MXC500", "metax", 47, "mxc500"),
    ("NVIDIA A100", "nvidia", 46, "a100"),
    ("NVIDIA H100 80GB HBM3", "nvidia", 46, "h100-80gb-hbm3"),
    ("NVIDIA H200", "nvidia", 46, "h200"),
    ("Tesla 4", "nvidia", 46, "tesla-4"),
    ("AMD EPYC 7763 64-Core Processor", "amd", 0, "epyc-7763-64-core-processor"),
    ("Intel(R) Core(TM) i9-14900K", "intel", 0, "r-coretm-i9-14900k"),
    ("NVIDIA", "nvidia", 46, ""),
    ("", "nvidia", 46, ""),
    ("   ", "", 0, ""),
    ("AMD64 Accelerator", "amd", 0, "64-accelerator"),
    ("910_9362", "ascend", 56, "910_9362"),
    ("MTT S4000", "mthreads", 54, "mtt-s4000"),
    ("NVIDIA RTX 6000 Ada Generation", "nvidia", 56, "rtx-6000-ada-generation"),
]

CPU_SLUGS = [
    ("Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz", "intel", 0, "xeon-platinum-8358"),
    ("Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz", "intel", 0, "xeon-platinum-8480"),
    ("Intel(R) Core(TM) i9-14900K", "intel", 0, "core-i9-14900k"),
    ("Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz", "intel", 10, "xeon-plati"),
    ("AMD EPYC 7763 64-Core Processor", "amd", 0, "epyc-7763"),
    ("AMD Ryzen 9 7950X 16-Core Processor", "amd", 0, "ryzen-9-7950x"),
    ("AMD Ryzen Threadripper PRO 5995WX 64-Cores", "amd", 0, "ryzen-threadripper-pro-5995wx"),
    ("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", "intel", 0, "core-i7-1165g7"),
    ("13th Gen Intel(R) Core(TM) i9-13900K", "intel", 0, "core-i9-13900k"),
    ("Genuine Intel(R) CPU 0000 @ 2.00GHz", "intel", 0, "cpu-0000"),
    ("AMD EPYC 7R13 Processor", "amd", 50, "epyc-7r13"),
    ("AMD EPYC 7R32", "amd", 50, "epyc-7r32"),
    ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "intel", 48, "xeon-platinum-8259cl"),
    ("(TM)", "amd", 50, ""),
    ("Kunpeng 920", "generic", 46, "kunpeng-920"),
    ("epyc-9654-96-core-processor-" * 4, "amd", 50, "epyc-9654-96-core-processor-epyc-9654-96-core-proc"),
]


@pytest.mark.parametrize(("name", "prefix", "limit", "expected"), SLUGS)
def test_a_slug_is_what_earlier_releases_wrote(name: str, prefix: str, limit: int, expected: str) -> None:
    assert names.slug(name, prefix, limit) == expected


@pytest.mark.parametrize(("name", "prefix", "limit", "expected"), CPU_SLUGS)
def test_a_cpu_slug_is_what_earlier_releases_wrote(name: str, prefix: str, limit: int, expected: str) -> None:
    assert names.cpu_slug(name, prefix, limit) == expected


def test_the_prefix_goes_as_often_as_it_leads_whatever_its_case() -> None:
    assert names.slug("Acme ACME-acme X1", "Acme", 0) == "x1"


def test_a_cut_slug_does_not_end_in_a_separator() -> None:
    assert names.slug("abc def", "", 4) == "abc"


def test_a_character_outside_ascii_is_dropped_and_not_transliterated() -> None:
    assert names.slug("Módèl １２ X", "", 0) == "mdl-x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tesla T4", "Tesla-T4"),
        ("{0,1}", "01"),
        ("NVIDIA A10G", "NVIDIA-A10G"),
        ("..a--b__", "a-b"),
        ("", ""),
        ("x" * 62 + " y", "x" * 62),
        ("x" * 70, "x" * 63),
    ],
)
def test_a_sanitised_text_is_a_label_value(text: str, expected: str) -> None:
    assert names.sanitize(text) == expected
    assert names.is_label_value(names.sanitize(text))


def test_a_label_value_that_would_lose_its_tail_is_an_error_and_names_the_remedy() -> None:
    assert names.label_value("Tesla T4") == "Tesla-T4"
    assert names.label_value("x" * 63 + "-") == "x" * 63
    with pytest.raises(EvaluationError, match=r"64 characters.*truncate_hash"):
        names.label_value("x" * 64)


def test_a_dns_label_keeps_letters_digits_and_single_dashes() -> None:
    assert names.dns_label("Team A / prod_1") == "team-a-prod-1"


@pytest.mark.parametrize("text", ["", "---", "é", "x" * 64])
def test_a_text_that_makes_no_dns_label_is_an_error(text: str) -> None:
    with pytest.raises(EvaluationError):
        names.dns_label(text)


def test_truncate_takes_the_first_characters_and_refuses_a_negative_length() -> None:
    assert names.truncate("abcdef", 3) == "abc"
    assert names.truncate("ab", 3) == "ab"
    with pytest.raises(EvaluationError, match="-1 characters"):
        names.truncate("ab", -1)


def test_truncate_hash_leaves_a_text_that_fits_alone() -> None:
    assert names.truncate_hash("x" * 63, 63) == "x" * 63


@pytest.mark.parametrize("separator", ["-", "_", "."])
def test_truncate_hash_trims_every_separator_before_the_digest(separator: str) -> None:
    cut = names.truncate_hash("a" * 49 + separator + "b" * 20, 63)
    head, dash, digest = cut.rpartition("-")
    assert (head, dash, len(digest)) == ("a" * 49, "-", 12)


def test_truncate_hash_keeps_texts_with_one_head_apart() -> None:
    assert names.truncate_hash("x" * 63 + "a", 63) != names.truncate_hash("x" * 63 + "b", 63)


def test_truncate_hash_counts_bytes_and_splits_no_character() -> None:
    cut = names.truncate_hash("é" * 40, 63)
    assert len(cut.encode()) <= 63
    assert cut.startswith("é" * 25 + "-")


def test_truncate_hash_of_separators_alone_is_the_digest() -> None:
    assert len(names.truncate_hash("-" * 80, 63)) == 12


def test_truncate_hash_refuses_a_length_that_only_the_digest_would_fill() -> None:
    with pytest.raises(EvaluationError, match="14 or more"):
        names.truncate_hash("abc", 13)


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ("cpu", True),
        ("acme.com/gpu.sliced", True),
        ("acme.com/" + "x" * 63, True),
        ("acme.com/" + "x" * 64, False),
        ("a/b/c", False),
        ("/gpu", False),
        ("acme.com/", False),
        ("Acme.com/gpu", False),
        ("acme.com/gpu+me", False),
        ("-x", False),
        ("", False),
        ("x\n", False),
    ],
)
def test_a_label_key_is_a_qualified_name(text: str, is_valid: bool) -> None:
    assert names.is_qualified_name(text) is is_valid
    assert names.is_label_key(text) is is_valid


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [("", True), ("true", True), ("x" * 63, True), ("x" * 64, False), ("a.", False), ("a b", False)],
)
def test_a_label_value_is_empty_or_begins_and_ends_with_a_letter_or_digit(text: str, is_valid: bool) -> None:
    assert names.is_label_value(text) is is_valid


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [("gpustack--a.b", True), ("a" * 253, True), ("a" * 254, False), ("a..b", False), ("A", False), ("a-", False)],
)
def test_a_subdomain_is_labels_joined_with_dots(text: str, is_valid: bool) -> None:
    assert names.is_dns_subdomain(text) is is_valid
