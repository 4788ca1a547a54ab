"""The budgets of the rule language: how big a pack, an expression, a pattern or a result may be.

Enforces nothing: the reader, the parser, the checker and the evaluator each import the numbers they stand for. Every
number is chosen here; the comment beside it says what it follows from.
"""

from __future__ import annotations

from typing import Final

# A ConfigMap holds 1 MiB and `kubectl apply` keeps a copy of it in an annotation of at most 256 KiB.
MAX_PACK_BYTES: Final = 256 * 1024
# All packs together: two full ConfigMaps.
MAX_ALL_PACKS_BYTES: Final = 2 * 1024 * 1024

# Deeper, larger or aliased YAML is an attack or an accident: ten aliases of ten aliases make ten thousand nodes.
MAX_YAML_DEPTH: Final = 32
MAX_YAML_NODES: Final = 50_000
MAX_YAML_ALIASES: Final = 0

# One rule has to stay readable: past these a `let` says it better.
MAX_EXPRESSION_CHARS: Final = 2048
MAX_EXPRESSION_NODES: Final = 256
MAX_EXPRESSION_DEPTH: Final = 24

# What the parser itself accepts, from anyone: about four Python frames a level while parsing, two while compiling and
# evaluating, against the interpreter's limit of 1,000 frames.
MAX_TREE_DEPTH: Final = 100
# Constants in backticks and trees read back from JSON are walked by recursion too.
MAX_JSON_DEPTH: Final = 100
# int() of a longer text is refused by CPython above 4,300 digits; no list has an index past this either.
MAX_INDEX_DIGITS: Final = 9

# Patterns are linear-time, but their cost still grows with pattern times subject.
MAX_PATTERN_BYTES: Final = 256
MAX_PATTERN_SUBJECT_BYTES: Final = 1024

# A list coming from an input has the schema's bound, and never more than this.
MAX_LIST_ITEMS: Final = 4096
# One unit is about one closure call; nested loops over unbounded lists go past it.
MAX_RULE_COST_UNITS: Final = 100_000
# Counted at list loops only: a counter in every closure costs more than the evaluation can give.
MAX_SECTION_STEPS: Final = 1_000_000

# Kubernetes refuses larger annotation sets long before, a label value at 63 bytes.
MAX_OUTPUT_STRING_BYTES: Final = 4 * 1024
MAX_OUTPUT_KEYS: Final = 512
