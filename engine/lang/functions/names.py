"""Names and digests: what object names, label keys and label values are made of.

The rules of each name are in `engine.values`; here they get their names in the language.
"""

from __future__ import annotations

from engine.lang.functions.function import function
from engine.values import hashes, names

GROUP = (
    function(
        "names",
        "slug(name: str, prefix: str, max: int) -> str",
        names.slug,
        help="The key form of a product name, without a leading prefix, cut at max characters (0: not cut).",
        example=("slug('Acme One (PRO)', 'acme', `0`)", "one-pro"),
        cost=5,
    ),
    function(
        "names",
        "cpu_slug(name: str, prefix: str, max: int) -> str",
        names.cpu_slug,
        help="`slug` of a CPU name, after clock, trademarks, generation and core count are gone.",
        example=("cpu_slug('Acme 9354 32-Core Processor', 'acme', `0`)", "9354"),
        cost=5,
    ),
    function(
        "names",
        "sanitize(text: str) -> str",
        names.sanitize,
        help="The label-value form of a text, cut at 63 characters.",
        example=("sanitize('Acme One (PRO)')", "Acme-One-PRO"),
        cost=3,
    ),
    function(
        "names",
        "label_value(text: str) -> str",
        names.label_value,
        help="The label-value form of a text; more than 63 characters is an error.",
        example=("label_value('Acme One')", "Acme-One"),
        cost=3,
    ),
    function(
        "names",
        "dns_label(text: str) -> str",
        names.dns_label,
        help="The DNS-label form of a text; nothing left, or more than 63 characters, is an error.",
        example=("dns_label('Acme_One.2')", "acme-one-2"),
        cost=3,
    ),
    function(
        "names",
        "truncate(text: str, max: int) -> str",
        names.truncate,
        help="The first max characters of a text.",
        example=("truncate(card.name, `4`)", "Acme"),
        cost=1,
    ),
    function(
        "names",
        "truncate_hash(text: str, max: int) -> str",
        names.truncate_hash,
        help="The text where it fits max characters, else cut with 12 hex digits of its digest, so that it stays unique.",
        example=("truncate_hash('acme-one', `40`)", "acme-one"),
        cost=5,
    ),
    function(
        "names",
        "fnv64a(text: str) -> str",
        hashes.fnv64a,
        help="The FNV-1a 64 digest of a text, 16 hex digits.",
        example=("fnv64a('')", "cbf29ce484222325"),
        cost=10,
    ),
    function(
        "names",
        "sha256_hex(text: str, digits: int) -> str",
        hashes.sha256_hex,
        help="The first hex digits of the SHA-256 digest of a text, 1 to 64 of them.",
        example=("sha256_hex('', `8`)", "e3b0c442"),
        cost=5,
    ),
    function(
        "names",
        "profile_hash(levels: str[]) -> str",
        hashes.profile_hash,
        help="The topology profile of level names, coarse to fine.",
        example=("profile_hash([''])", "fnv64-cbf29ce484222325"),
        cost=10,
        cost_per_item=1,
    ),
)
