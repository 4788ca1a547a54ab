"""Applying an overlay's changes to one pack: what exists, what is sealed, what the tree becomes.

Does not order overlays and finds no conflicts between them; that is `overlay`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.errors import InputError
from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.library import LIBRARY, prefixed
from engine.lang.model import check_spec
from engine.lang.overlay_changes import Change, Verb
from engine.lang.packs import Pack
from engine.lang.params import known, params_of
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, Seq, Style, lookup, plain
from engine.lang.tree_edit import Steps, inserted, leaf_rules, named, put, replaced, same_key

BLOCKS: Final = (
    "identity",
    "facts",
    "derived",
    "presets",
    "probes",
    "recover",
    "deploy",
    "driver",
    "tables",
    "constants",
    "tiers",
    "settings",
    "let",
    "sections",
)
"""Blocks that `set` reaches; `sections` only as `sections.<name>.owns` and `sections.<name>.let`."""

SEALED: Final = ("identity", "guards")
"""What a pack has to open (`spec.open`) before an overlay may change it: a site that lies about what a card is, or that
drops a refusal, breaks promises made to others. `driver` is run as native code and can never be opened."""

_RULE_KEYS: Final = ("when", "let", "forEach", "emit", "unknown", "message", "deprecated")
_FREE_NAMES: Final = ("tables", "tiers", "constants")
_SECTION_PARTS: Final = ("owns", "let")


class Applier:
    """One pack on its way through overlays. `pack` is changed."""

    def __init__(self, pack: Pack, diagnostics: Diagnostics) -> None:
        self.pack = pack
        self._diagnostics = diagnostics
        self._root: Node = pack.root
        self._removed: dict[tuple[str, str], tuple[str, Place]] = {}
        opened = pack.spec.get("open")
        self._open = plain(opened.value) if opened is not None else []

    def apply(self, changes: Iterable[Change], label: str) -> None:
        """Make the changes of one overlay, in order; what cannot be made is reported."""
        for change in changes:
            if self._is_sealed(change):
                continue
            match change.verb:
                case Verb.PARAM:
                    self._param(change)
                case Verb.SET:
                    self._set(change)
                case Verb.REPLACE:
                    self._replace(change)
                case Verb.ADD:
                    self._add(change)
                case Verb.REMOVE:
                    self._remove(change, label)

    def finish(self, diagnostics: Diagnostics) -> Pack:
        """The changed pack, its structure checked anew."""
        assert isinstance(self._root, Map)
        self.pack.spec = {entry.key.text: entry for entry in self._root.entries}
        check_spec(self.pack.kind, self.pack.name, self._root, diagnostics)
        return self.pack

    # what may not be changed

    def _is_sealed(self, change: Change) -> bool:
        path = change.path if change.verb is Verb.SET else ()
        what = ""
        if path and path[0] in ("identity", "driver"):
            what = path[0]
        elif change.section == "guards" or tuple(path[:2]) == ("sections", "guards"):
            what = "guards"
        if not what or what in self._open:
            return False
        opening = f"the pack may open it with `open: [{what}]`"
        if what == "identity":
            opening += "; an installation names itself with the GPUSTACK_… variables"
        if what == "driver":
            opening = "it becomes native calls, and only the pack itself may say which"
        self._report("RP613", f"`{what}` of {self._name} is sealed", change.key, opening)
        return True

    # values

    def _param(self, change: Change) -> None:
        assert change.value is not None
        params = params_of(self.pack.spec.get("params"))
        entry = Entry(change.key, change.value)
        if not known(entry, params, self._name, self.pack.place, self._diagnostics):
            return
        name = change.path[0]
        old = lookup(self._root, ("params", name))
        steps = ("params", name, "default") if isinstance(old, Map) else ("params", name)
        self._root = put(self._root, steps, change.value, change.key)

    def _set(self, change: Change) -> None:
        assert change.value is not None
        path = change.path
        if path[0] == "params":
            self._report("RP610", "parameters have a place of their own", change.key, "write them under `params`")
        elif path[0] not in BLOCKS:
            self._missing(change.key, f"no block `{path[0]}` that an overlay sets", path[0], BLOCKS)
        elif path[0] == "sections":
            self._set_in_section(change)
        elif path[0] not in _FREE_NAMES or self._exists(change, path if path[0] == "constants" else path[:-1]):
            self._put(path, change)

    def _set_in_section(self, change: Change) -> None:
        path = change.path
        sections = lookup(self._root, ("sections",))
        names = [entry.key.text for entry in sections.entries] if isinstance(sections, Map) else []
        section = path[1] if len(path) > 1 else ""
        if section not in names:
            self._missing(change.key, f"no section `{section}` in {self._name}", section, names)
        elif len(path) < 3 or path[2] not in _SECTION_PARTS:
            self._report(
                "RP610",
                f"of a section an overlay sets {' and '.join(f'`{part}`' for part in _SECTION_PARTS)}",
                change.key,
                "address its rules by id, under `replace`, `add` and `remove`",
            )
        else:
            self._with_body(section)
            self._put(path, change)

    def _exists(self, change: Change, path: Sequence[str]) -> bool:
        here: Node | None = self._root
        for number, step in enumerate(path):
            names = [entry.key.text for entry in here.entries] if isinstance(here, Map) else []
            if step not in names:
                where = f"`{'.'.join(path[:number])}`" if number else self._name
                self._missing(change.key, f"no `{step}` in {where}", step, names)
                return False
            here = lookup(here, (step,)) if here is not None else None
        return True

    def _put(self, path: Sequence[str], change: Change) -> None:
        assert change.value is not None
        try:
            self._root = put(self._root, path, change.value, change.key)
        except InputError as error:
            self._report("RP610", error.what, change.key, "set the whole value, one level up")

    # rules

    def _replace(self, change: Change) -> None:
        assert change.value is not None
        found = self._find(change.section, change.rule, change.key)
        if found is None:
            return
        steps, rule, rule_id = found
        if change.path[0] not in _RULE_KEYS:
            if change.path[0] == "id":
                self._report("RP613", "the id of a rule cannot be changed", change.key, "remove it and add another")
            else:
                self._missing(change.key, f"no key `{change.path[0]}` in a rule", change.path[0], _RULE_KEYS)
            return
        self._warn_of_deprecated(rule, rule_id, change)
        try:
            changed = put(rule, change.path, change.value, change.key)
        except InputError as error:
            self._report("RP610", error.what, change.key, "set the whole value, one level up")
            return
        self._root = replaced(self._root, steps, changed)

    def _add(self, change: Change) -> None:
        assert change.value is not None
        for rule_id in change.adds:
            other = self._by_id(rule_id)
            if other is not None:
                self._diagnostics.error(
                    "RP501",
                    f"{self._name} has a rule `{rule_id}` already",
                    change.key.place,
                    help="give the added rule another id, such as one that begins with the overlay's name",
                    related=(Related("first used here", other.place),),
                )
                return
        neighbour = change.before or change.after
        if change.before is not None and change.after is not None:
            self._report(
                "RP203", "a rule stands `before` one or `after` one, not both", change.after, "keep one of them"
            )
            return
        if neighbour is None:
            steps = self._list(change)
            at = None
        else:
            found = self._find(change.section, neighbour.text, neighbour)
            if found is None:
                return
            *parent, position = found[0]
            assert isinstance(position, int)
            steps, at = tuple(parent), position + (1 if neighbour is change.after else 0)
        rules = lookup(self._root, steps)
        assert isinstance(rules, Seq)
        place = len(rules.items) if at is None else at
        self._root = replaced(self._root, steps, inserted(rules, place, change.value))
        self._own(change)

    def _remove(self, change: Change, label: str) -> None:
        found = self._find(change.section, change.rule, change.key)
        if found is not None:
            self._root = replaced(self._root, found[0], None)
            self._removed[change.section, change.rule] = (label, change.key.place)

    def _own(self, change: Change) -> None:
        if not change.owns:
            return
        self._with_body(change.section)
        steps = ("sections", change.section, "owns")
        owned = lookup(self._root, steps)
        before = owned.items if isinstance(owned, Seq) else ()
        made = Seq((*before, *change.owns), change.key.span, change.key.source)
        self._root = put(self._root, steps, made, change.key)

    def _list(self, change: Change) -> Steps:
        """The path of a section's list of rules; the section is made when the pack has none."""
        steps = self._rules_steps(change.section)
        if not isinstance(lookup(self._root, steps), Seq):
            empty = Seq((), change.key.span, change.key.source)
            self._root = put(self._root, tuple(str(step) for step in steps), empty, change.key)
        return steps

    def _rules_steps(self, section: str) -> Steps:
        if self.pack.kind == LIBRARY:
            return ("rules", section)
        body = lookup(self._root, ("sections", section))
        return ("sections", section, "rules") if isinstance(body, Map) else ("sections", section)

    def _with_body(self, section: str) -> None:
        """Write a section that is a bare list of rules as a body, so that it can own keys and have lets."""
        steps = ("sections", section)
        body = lookup(self._root, steps)
        if isinstance(body, Seq):
            key = named("rules", _like(self.pack))
            self._root = replaced(self._root, steps, Map((Entry(key, body),), body.span, body.source))

    def _find(self, section: str, rule: str, at: Scalar) -> tuple[Steps, Map, Scalar] | None:
        steps = self._rules_steps(section)
        rules = list(leaf_rules(lookup(self._root, steps), steps))
        for found in rules:
            if found[2].text == rule:
                return found
        if (section, rule) in self._removed:
            label, place = self._removed[section, rule]
            self._report("RP610", f"rule {section}/{rule} was removed by {label}", at, "drop one of the two", place)
            return None
        library = self._library_of(rule)
        if library:
            self._report(
                "RP610",
                f"rule {section}/{rule} comes from library {library}",
                at,
                f"change it there: `target: {{kind: {LIBRARY}, pack: {library}}}`, its id without the library's name",
            )
            return None
        elsewhere = self._by_id(rule)
        if elsewhere is not None:
            self._report(
                "RP610", f"section {section} has no rule {rule}", at, "it is in another section", elsewhere.place
            )
            return None
        ids = {found[2].text: found[2].place for found in rules}
        meant = nearest(rule, ids)
        known_ids = f"its rules: {', '.join(ids)}" if ids else f"{self._name} has no rules in {section}"
        self._report(
            "RP610",
            f"{self._name} has no rule {section}/{rule}",
            at,
            f"did you mean `{meant}`?" if meant else known_ids,
            ids[meant] if meant else None,
        )
        return None

    def _library_of(self, rule: str) -> str:
        uses = lookup(self._root, ("use",))
        for item in uses.items if isinstance(uses, Seq) else ():
            name = item.get("library") if isinstance(item, Map) else None
            if isinstance(name, Scalar) and prefixed(name.text, rule) == rule:
                return name.text
        return ""

    def _by_id(self, rule: str) -> Scalar | None:
        block = lookup(self._root, ("rules",) if self.pack.kind == LIBRARY else ("sections",))
        for entry in block.entries if isinstance(block, Map) else ():
            rules = entry.value.get("rules") if isinstance(entry.value, Map) else entry.value
            for _, _, rule_id in leaf_rules(rules):
                if rule_id.text == rule:
                    return rule_id
        return None

    def _warn_of_deprecated(self, rule: Map, rule_id: Scalar, change: Change) -> None:
        mark = rule.get("deprecated")
        if not isinstance(mark, Map) or same_key(change.path[0], "deprecated"):
            return
        since, use = mark.get("since"), mark.get("use")
        advice = f"change `{use.text}` instead" if isinstance(use, Scalar) else "it will go in a later version"
        self._diagnostics.warning(
            "RP613",
            f"rule {change.section}/{rule_id.text} is deprecated since {since.text if isinstance(since, Scalar) else '?'}",
            change.key.place,
            help=advice,
            related=(Related("the rule", rule_id.place),),
        )

    # findings

    @property
    def _name(self) -> str:
        return f"{self.pack.kind} {self.pack.name}"

    def _missing(self, at: Scalar, what: str, word: str, names: Sequence[str]) -> None:
        meant = nearest(word, names)
        advice = f"did you mean `{meant}`?" if meant else f"known here: {', '.join(names) or 'nothing'}"
        self._report("RP610", f"there is {what}", at, advice)

    def _report(self, code: str, message: str, at: Scalar, advice: str, place: Place | None = None) -> None:
        where = self.pack.place if place is None else place
        about = f"{self._name} {self.pack.version}" if place is None else "the rule"
        self._diagnostics.error(code, message, at.place, help=advice, related=(Related(about, where),))


def _like(pack: Pack) -> Scalar:
    """A scalar in the place of a pack's name, for keys that nobody wrote."""
    return Scalar("", "", Style.PLAIN, pack.place.span, pack.place.source)
