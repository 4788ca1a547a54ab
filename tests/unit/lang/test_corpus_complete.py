"""Every known fault of languages like this one, and every case from the field that can be tried offline, has its file.

Rows are listed here; a row without a file fails, and so does a file of which no row knows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "corpus"

# The rows of the list of known faults, with the files that show each.
FAULTS: dict[int, tuple[str, ...]] = {
    1: ("yaml/01-norway.yaml",),
    2: ("yaml/02-boolean-keys.yaml",),
    3: ("yaml/03-octal-mode.yaml",),
    4: ("yaml/04-pci-classes.yaml", "structure/04-pci-ids.yaml"),
    5: ("yaml/05-exponents.yaml",),
    6: ("yaml/06-base-sixty.yaml",),
    7: ("yaml/07-versions.yaml",),
    8: ("yaml/08-dates.yaml",),
    9: ("yaml/09-times-stay-text.yaml",),
    10: ("yaml/10-credits.yaml",),
    11: ("yaml/11-huge-integers.yaml",),
    12: ("yaml/12-integer-labels.yaml", "rules/12-integer-labels.yaml"),
    13: ("yaml/13-duplicate-keys.yaml",),
    14: ("yaml/14-merge-keys.yaml",),
    15: ("yaml/15-alias-tower.yaml",),
    16: ("yaml/16-nesting.yaml",),
    17: ("yaml/17-many-documents.yaml", "yaml/17-empty-document.yaml", "yaml/17-only-comments.yaml"),
    18: ("yaml/18-mark-at-the-start.yaml", "yaml/18-mark-inside.yaml"),
    19: ("yaml/19-emoji.yaml", "yaml/19-keycap.yaml"),
    20: ("yaml/20-crlf.yaml",),
    21: ("yaml/21-tab-before-comment.yaml", "yaml/21-tab-indents.yaml"),
    22: ("rules/22-file-endings.yaml",),
    23: ("yaml/23-styles.yaml",),
    24: ("structure/24-misspelt-rule-key.yaml",),
    25: ("structure/25-misspelt-block.yaml", "structure/25-unknown-key.yaml"),
    26: ("structure/26-empty-rules.yaml", "structure/26-null-rules.yaml"),
    27: ("rules/27-schemas-refuse-unknown-keys.yaml",),
    28: ("rules/28-no-remote-references.yaml",),
    29: ("structure/29-no-coercion.yaml",),
    30: ("structure/30-not-a-number.yaml", "structure/30-anchored-patterns.yaml"),
    31: ("expr/31-unsafe-pattern.yaml",),
    32: ("expr/32-mixed-order.yaml",),
    33: ("expr/33-bareword.yaml",),
    34: ("expr/34-double-quotes.yaml",),
    35: ("expr/35-escapes.yaml",),
    36: ("expr/36-dropped-nulls.yaml",),
    37: ("expr/37-zero-is-true.yaml",),
    38: ("expr/38-null-arguments.yaml",),
    39: ("expr/39-null-is-missing.yaml",),
    40: ("expr/40-lenient-numbers.yaml",),
    41: ("expr/41-no-raw-exceptions.yaml",),
    42: ("rules/42-no-garbage.yaml",),
    43: ("rules/43-parsed-once.yaml",),
    44: ("expr/44-braces.yaml",),
    45: ("expr/45-sigil.yaml",),
    46: ("rules/46-failing-message.yaml",),
    47: ("expr/47-one-scope.yaml",),
    48: ("expr/48-unresolved.yaml",),
    49: ("rules/49-cut-names.yaml",),
    50: ("rules/50-null-deletes-nothing.yaml",),
    51: ("rules/51-overlay-of-a-misspelt-rule.yaml",),
    52: ("rules/52-one-big-pack.yaml",),
    53: ("reload/53-second-update.yaml",),
    54: ("reload/54-any-event.yaml",),
    55: ("reload/55-link-before-files.yaml",),
    56: ("reload/56-no-link.yaml",),
    57: ("reload/57-same-bad-bytes.yaml",),
    58: ("reload/58-start-while-bad.yaml",),
    59: ("rules/59-tests-that-pass-nothing.yaml",),
    60: ("rules/60-one-evaluator.yaml",),
    61: ("rules/61-functions-have-a-cost.yaml",),
    62: ("rules/62-fixes-edit-bytes.yaml",),
    63: ("expr/63-misplaced-not.yaml",),
    64: ("expr/64-default-keeps-false.yaml",),
}
# Cases from the field that packs, domain and chain can answer without a machine or a cluster.
CASES = [
    "C01",
    "C02",
    "C04",
    "C07",
    "C08",
    "C10",
    "C19",
    "C20",
    "C22",
    "C23",
    "C25",
    "C26",
    "C28",
    "C29",
    "C44",
    "C50",
    "C53",
    "C55",
    "C56",
    "C58",
    "C59",
    "C61",
    "C62",
    "C67",
    "C70",
    "C76",
    "C77",
    "C80",
    "C86",
    "C89",
    "C91",
    "C92",
    "C95",
    "C98",
    "C100",
    "C101",
    "C112",
    "C115",
    "C116",
    "C121",
    "C122",
    "C124",
    "C125",
    "C127",
]
# The others, by what has to be there before they can be tried.
LATER = {
    "drivers": "C05 C11 C13 C14 C16 C17 C64 C65 C68 C73 C74",
    "the node's agent": "C31 C32 C34 C35 C37 C38 C40 C41 C43 C47 C97 C103 C104 C106 C109 C118 C119",
    "admission and the live cluster": "C46 C49 C52 C79 C82 C83 C85 C88 C107 C110 C113",
    "the chart": "C94",
    "nothing: out of scope by design": "C71",
}


def test_every_fault_has_a_file() -> None:
    assert sorted(FAULTS) == list(range(1, 65))


@pytest.mark.parametrize("number", sorted(FAULTS))
def test_the_files_of_a_fault_are_there(number: int) -> None:
    for file in FAULTS[number]:
        assert (CORPUS / file).exists(), file
        assert Path(file).name.startswith(f"{number:02}-")


def test_every_case_has_one_file_or_waits_for_something_named() -> None:
    waiting = [case for listed in LATER.values() for case in listed.split()]
    assert len(waiting) == len(set(waiting))
    assert not set(waiting) & set(CASES)
    have = sorted(path.name.split("-")[0] for path in (CORPUS / "cases").glob("*.yaml"))
    assert have == sorted(CASES)


def test_no_file_lies_among_the_rules_of_which_no_row_knows() -> None:
    folders = ("rules/", "reload/")
    listed = {file for files in FAULTS.values() for file in files if file.startswith(folders)}
    assert {f"{folder}{path.name}" for folder in folders for path in (CORPUS / folder).iterdir()} == listed
