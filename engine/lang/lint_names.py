"""Names that nothing uses, and table rows that nothing reaches: lets, derived values, tables, parameters, shadowed rows.

Looks at packs as they are written. Which expressions there are, and where, it is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.diagnostics import Diagnostic, Related, Severity
from engine.lang.functions.tables import glob_matches, tokens_of
from engine.lang.lint_texts import Texts
from engine.lang.packs import Pack
from engine.lang.tree import Entry, Map, Scalar, Seq
from engine.lang.tree import Node as TreeNode
from engine.lang.walk import walk


def unused_lets(pack: Pack, texts: Texts) -> Iterator[Diagnostic]:
    """Lets of sections, groups and rules, and derived values, that no expression names (RP502)."""
    sections = pack.spec.get("sections")
    for entry in sections.value.entries if sections is not None and isinstance(sections.value, Map) else ():
        if isinstance(entry.value, Map):
            yield from _in_map(entry.value, texts)
        elif isinstance(entry.value, Seq):
            yield from _in_rules(entry.value, texts)
    yield from _derived(pack, texts)


def unused_blocks(pack: Pack, texts: Texts, libraries: Texts) -> Iterator[Diagnostic]:
    """Tables (RP503) and parameters (RP504) that no expression names."""
    read = {path for text in (texts, libraries) for path in _members(text, ("tables", "params"))}
    for block, code, what in (("tables", "RP503", "table"), ("params", "RP504", "parameter")):
        if (block, "") in read:
            continue
        entry = pack.spec.get(block)
        for one in entry.value.entries if entry is not None and isinstance(entry.value, Map) else ():
            if (block, one.key.text) not in read:
                yield _warning(code, f"the {what} `{one.key.text}` is named by nothing", one.key, "remove it")


def shadowed_rows(pack: Pack, texts: Texts) -> Iterator[Diagnostic]:
    """Rows of tables that an earlier row always wins against (RP514)."""
    looked_up = dict(_lookups(texts))
    entry = pack.spec.get("tables")
    for table in entry.value.entries if entry is not None and isinstance(entry.value, Map) else ():
        if isinstance(table.value, Seq):
            rows = [item for item in table.value.items if isinstance(item, Map)]
            yield from _shadowed(rows, looked_up.get(table.key.text, ""))


def covers_glob(glob: str, other: str) -> bool:
    """Whether every text of the form of `other` has the form of `glob`; False when that is not known."""
    # What `other` leaves open, only a star of `glob` takes; a letter that no glob holds stands for it.
    return glob == other or ("?" not in glob and glob_matches(glob, other.replace("*", "\0").replace("?", "\0")))


def _shadowed(rows: list[Map], function: str) -> Iterator[Diagnostic]:
    for number, row in enumerate(rows):
        for earlier in rows[:number]:
            if _takes_all(earlier, row, function):
                at = row.get("match") or row.get("below") or row
                yield Diagnostic(
                    "RP514",
                    "an earlier row takes everything that this row would",
                    Severity.WARNING,
                    at.place,
                    help="move this row up, or remove it",
                    related=(Related("the earlier row", (earlier.get("match") or earlier).place),),
                )
                break


def _takes_all(earlier: Map, row: Map, function: str) -> bool:
    first, second = earlier.get("match"), row.get("match")
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        if function == "lookup_glob":
            return covers_glob(first.text, second.text)
        if function == "lookup_tokens":
            leading, own = tokens_of(first.text), tokens_of(second.text)
            return own[: len(leading)] == leading
        return first.text == second.text
    below, later = earlier.get("below"), row.get("below")
    if not (isinstance(below, Scalar) and isinstance(later, Scalar)):
        return False
    return isinstance(below.value, int) and isinstance(later.value, int) and later.value <= below.value


def _lookups(texts: Texts) -> Iterator[tuple[str, str]]:
    """Which function looks into which table."""
    for node in texts.nodes():
        for part in walk(node):
            if isinstance(part, ast.Call) and part.name.startswith("lookup") and part.args:
                match part.args[0]:
                    case ast.Subexpression(ast.Field("tables"), ast.Field(name)):
                        yield name, part.name


def _members(texts: Texts, roots: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Members of some roots that are read; a root read as a whole gives the member `""`."""
    for node in texts.nodes():
        members: set[int] = set()
        for part in walk(node):
            if isinstance(part, ast.Subexpression) and isinstance(part.left, ast.Field) and part.left.name in roots:
                members.add(id(part.left))
                if isinstance(part.right, ast.Field):
                    yield part.left.name, part.right.name
            elif isinstance(part, ast.Field) and part.name in roots and id(part) not in members:
                yield part.name, ""


def _in_rules(rules: Seq, texts: Texts) -> Iterator[Diagnostic]:
    for item in rules.items:
        if isinstance(item, Map):
            yield from _in_map(item, texts)


def _in_map(node: Map, texts: Texts) -> Iterator[Diagnostic]:
    lets = _entries(node.get("let"))
    for entry in lets:
        others = [other.value for other in lets if other is not entry]
        rest = [other.value for other in node.entries if other.key.text not in ("let", "when", "forEach")]
        if not _is_named(entry.key.text, [*others, *rest], texts):
            yield _unused(entry)
    rules = node.get("rules")
    if isinstance(rules, Seq):
        yield from _in_rules(rules, texts)


def _derived(pack: Pack, texts: Texts) -> Iterator[Diagnostic]:
    block = pack.spec.get("derived")
    if block is None or not isinstance(block.value, Map):
        return
    named = set(_read_members(texts.only({block.key.source.path, *pack.origins})))
    named |= set(_read_members(texts.only({entry.key.source.path for entry in pack.spec.values()})))
    for scope in block.value.entries:
        for entry in _entries(scope.value):
            others = [other.value for other in _entries(scope.value) if other is not entry]
            if entry.key.text not in named and not _is_named(entry.key.text, others, texts):
                yield _unused(entry)


def _read_members(texts: Texts) -> Iterator[str]:
    """Every name that stands right of a dot, whatever stands left of it (`card.derived` may have been named by a let)."""
    for node in texts.nodes():
        for part in walk(node):
            if isinstance(part, ast.Subexpression) and isinstance(part.right, ast.Field):
                yield part.right.name


def _is_named(name: str, where: list[TreeNode], texts: Texts) -> bool:
    return any(name in _names(node) for part in where for node in texts.below(part))


def _names(node: Node) -> set[str]:
    return {part.name for part in walk(node) if isinstance(part, ast.Field)}


def _entries(node: TreeNode | None) -> tuple[Entry, ...]:
    return node.entries if isinstance(node, Map) else ()


def _unused(entry: Entry) -> Diagnostic:
    return _warning("RP502", f"the let `{entry.key.text}` is named by nothing", entry.key, "remove it")


def _warning(code: str, message: str, node: Scalar, remedy: str) -> Diagnostic:
    return Diagnostic(code, message, Severity.WARNING, node.place, help=remedy)
