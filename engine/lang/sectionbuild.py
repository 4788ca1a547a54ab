"""From the YAML of a section to its compiled form, every expression parsed, checked and folded.

Knows rules, groups, lets and forEach. The strict profile of expressions is `check`'s, the emit shape `emitbuild`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.lang import ir
from engine.lang.ast import Literal, Node
from engine.lang.check import Scope, narrowings
from engine.lang.diagnostics import Diagnostics, Related
from engine.lang.emitbuild import EmitBuilder
from engine.lang.expressions import Expressions
from engine.lang.notation import parse_type
from engine.lang.owns import OwnedKeys
from engine.lang.readset import read_paths
from engine.lang.section import Combine, Section
from engine.lang.source import Place
from engine.lang.tree import Map, Scalar, Seq
from engine.lang.tree import Node as TreeNode
from engine.lang.types import ANY, INT, MISSING, Kind, Member, Type, object_of


@dataclass(slots=True)
class SectionBuilder:
    """Builds one section of one pack. `ids` are the rule ids of the whole pack, for duplicates."""

    declared: Section
    named: Mapping[str, Type]
    roots: Scope
    constants: Mapping[str, Any]
    diagnostics: Diagnostics
    ids: dict[str, Place]
    settings: Type | None
    _expressions: Expressions = field(init=False)
    _emits: EmitBuilder = field(init=False)
    _alternatives: tuple[Type, ...] = field(init=False)
    _owned: OwnedKeys = field(init=False)

    def build(self, node: TreeNode) -> ir.CompiledSection | None:
        """The compiled section; None when it has errors, which are then reported."""
        before = sum(1 for found in self.diagnostics if found.severity == "error")
        self._expressions = Expressions(self.diagnostics, self.constants)
        self._alternatives = self.declared.emit_types(self.named)
        rules, lets, owns = self._parts(node)
        self._owned = OwnedKeys.read(owns, self.constants, self.diagnostics)
        whole = self.declared.combine in (Combine.FIRST, Combine.LIST)
        on_key = self._owned.check if self._owned.patterns else None
        if self.declared.owns and owns is None:
            self.diagnostics.error(
                "RP202",
                f"section {self.declared.name} emits keys of objects and does not say which are its own",
                node.place,
                help="add `owns:` with patterns of its keys, so that a stale one can be removed",
            )
        self._emits = EmitBuilder(self._expressions, self.diagnostics, whole, on_key, self.declared.unowned)
        scope = self.roots.child(self._inputs())
        made_lets, scope = self._lets(lets, scope)
        made = self._rules(rules, scope)
        errors = sum(1 for found in self.diagnostics if found.severity == "error") - before
        if errors or made is None:
            return None
        return ir.CompiledSection(
            name=self.declared.name,
            combine=self.declared.combine,
            must=self.declared.must,
            lets=made_lets,
            rules=made,
            required=tuple(_required(one) for one in self._alternatives) if self.declared.must else (),
            filler=filler(self._alternatives[0]) if len(self._alternatives) == 1 else None,
            reads=self._reads(),
            has_message=self.declared.message is not None,
            message_late=bool(self.declared.message),
            owns=self._owned.patterns,
        )

    @property
    def expressions(self) -> Expressions:
        """The expressions seen, for the oracle."""
        return self._expressions

    def _inputs(self) -> dict[str, Type]:
        made = self.declared.input_type(self.named)
        names = {name: member.type for name, member in made.members}
        if self.declared.settings and self.settings is not None:
            names["settings"] = self.settings
        return names

    def _reads(self) -> tuple[tuple[str, ...], ...]:
        roots = frozenset(self._inputs())
        found: set[tuple[str, ...]] = set()
        for node in self._expressions.nodes:
            found |= read_paths(node, roots)
        return tuple(sorted(path for path in found if not any(path[:n] in found for n in range(1, len(path)))))

    def _parts(self, node: TreeNode) -> tuple[TreeNode, TreeNode | None, TreeNode | None]:
        if not isinstance(node, Map):
            return node, None, None
        select = node.get("select")
        if isinstance(select, Scalar) and select.text != self.declared.combine.value:
            self.diagnostics.error(
                "RP515",
                f"section {self.declared.name} combines by `{self.declared.combine.value}`, not `{select.text}`",
                select.place,
                help=f"write `select: {self.declared.combine.value}`, or leave it out",
            )
        return node.get("rules") or Seq((), node.span, node.source), node.get("let"), node.get("owns")

    # rules

    def _rules(self, node: TreeNode, scope: Scope) -> tuple[ir.Rule | ir.Group, ...] | None:
        if not isinstance(node, Seq):
            return None
        made: list[ir.Rule | ir.Group] = []
        sure: tuple[str, Place] | None = None
        for item in node.items:
            if not isinstance(item, Map):
                continue
            if sure is not None:
                self._unreachable(item, sure)
            rule = self._rule(item, scope)
            if rule is None:
                continue
            made.append(rule)
            if self.declared.combine is Combine.FIRST and _always_fires(rule):
                sure = (_name_of(item), item.place)
        return tuple(made)

    def _unreachable(self, item: Map, sure: tuple[str, Place]) -> None:
        name, place = sure
        self.diagnostics.error(
            "RP512",
            f"{_name_of(item)} can never fire: {name} above it always does",
            _id_place(item),
            help="give the rule above a `when`, or move this one before it",
            related=(Related("this rule always fires", place),),
        )

    def _rule(self, node: Map, scope: Scope) -> ir.Rule | ir.Group | None:
        self._note_id(node)
        for_each, scope, iterable = self._for_each(node, scope)
        when_node = node.get("when")
        when = None
        if isinstance(when_node, Scalar) and isinstance(when_node.value, str):
            when = self._expressions.condition(when_node, scope)
            self._constant_when(when, when_node, node)
            if when is not None:
                scope = scope.narrowed(narrowings(when))
        lets, scope = self._lets(node.get("let"), scope)
        if not iterable:
            return None
        inner = node.get("rules")
        if inner is not None:
            rules = self._rules(inner, scope)
            return None if rules is None else ir.Group(rules, when, lets, for_each)
        return self._leaf(node, scope, when, lets, for_each)

    def _leaf(
        self, node: Map, scope: Scope, when: Node | None, lets: tuple[ir.Let, ...], for_each: ir.ForEach | None
    ) -> ir.Rule | None:
        rule_id = node.get("id")
        emit_node, unknown_node = node.get("emit"), node.get("unknown")
        emit = None if emit_node is None else self._emits.shape(emit_node, self._alternatives, scope)
        unknown = None if unknown_node is None else self._emits.text(unknown_node, scope)
        messages = self._messages(node, scope)
        if emit is None and unknown is None:
            return None
        at = node.source.position(node.span.start)
        return ir.Rule(
            id=rule_id.text if isinstance(rule_id, Scalar) else "",
            at=f"{node.source.path}:{at.line}",
            when=when,
            lets=lets,
            for_each=for_each,
            emit=emit,
            unknown=unknown,
            messages=messages,
        )

    def _messages(self, node: Map, scope: Scope) -> tuple[tuple[str, ir.TextEmit], ...]:
        message = node.get("message")
        declared = self.declared.message
        if message is None:
            if declared == "" and node.get("unknown") is None:
                self.diagnostics.error(
                    "RP202", "a refusal without a message", node.place, help="add `message:`, the text the user sees"
                )
            return ()
        if declared is None:
            self.diagnostics.error(
                "RP201", f"rules of {self.declared.name} carry no message", message.place, help="remove `message`"
            )
            return ()
        if declared:
            scope = scope.child({"answer": parse_type(declared, self.named)})
        if not isinstance(message, Map):
            text = self._emits.text(message, scope)
            return () if text is None else (("", text),)
        made = []
        for entry in message.entries:
            text = self._emits.text(entry.value, scope)
            if text is not None:
                made.append((entry.key.text, text))
        return tuple(made)

    def _note_id(self, node: Map) -> None:
        rule_id = node.get("id")
        if not isinstance(rule_id, Scalar):
            return
        first = self.ids.get(rule_id.text)
        if first is not None:
            self.diagnostics.error(
                "RP501",
                f"the rule id `{rule_id.text}` is used twice",
                rule_id.place,
                help="ids are unique in a pack and never reused",
                related=(Related("first used here", first),),
            )
        else:
            self.ids[rule_id.text] = rule_id.place

    def _constant_when(self, when: Node | None, scalar: Scalar, node: Map) -> None:
        if isinstance(when, Literal) and when.value is False:
            self.diagnostics.error(
                "RP516",
                f"{_name_of(node)} can never fire: its `when` is always false",
                scalar.place,
                help="remove the rule",
            )

    # names

    def _for_each(self, node: Map, scope: Scope) -> tuple[ir.ForEach | None, Scope, bool]:
        each = node.get("forEach")
        if not isinstance(each, Map):
            return None, scope, True
        over, item, index = each.get("in"), each.get("as"), each.get("index")
        if not (isinstance(over, Scalar) and isinstance(item, Scalar)):
            return None, scope, False
        names = {item.text: ANY}
        if isinstance(index, Scalar):
            names[index.text] = INT
        self._check_names(scope, {item.text: item, **({index.text: index} if isinstance(index, Scalar) else {})})
        found = self._expressions(over, scope, text=over.text, start=0)
        if found is None:
            return None, scope.child(names), False
        made, kind = found
        if kind.kind not in (Kind.LIST, Kind.ANY):
            self.diagnostics.error(
                "RP415", f"forEach goes over a list, and this is {kind}", over.place, help="name a list"
            )
            return None, scope.child(names), False
        if kind.nullable and kind.kind is not Kind.ANY:
            self.diagnostics.error(
                "RP413",
                "forEach over a list that may be null",
                over.place,
                help="write default(x, `[]`) or required(x, 'why')",
            )
        names[item.text] = kind.element or ANY
        return ir.ForEach(made, item.text, index.text if isinstance(index, Scalar) else None), scope.child(names), True

    def _lets(self, node: TreeNode | None, scope: Scope) -> tuple[tuple[ir.Let, ...], Scope]:
        if not isinstance(node, Map):
            return (), scope
        made: list[ir.Let] = []
        for entry in node.entries:
            self._check_names(scope, {entry.key.text: entry.key})
            value = entry.value
            kind = ANY
            if isinstance(value, Scalar) and isinstance(value.value, str):
                found = self._expressions(value, scope, text=value.text, start=0, nullable=False)
                if found is not None:
                    made.append(ir.Let(entry.key.text, found[0]))
                    kind = found[1]
            scope = scope.child({entry.key.text: kind})
        return tuple(made), scope

    def _check_names(self, scope: Scope, names: Mapping[str, Scalar]) -> None:
        for name, scalar in names.items():
            if scope.knows(name):
                self.diagnostics.error(
                    "RP201",
                    f"the name `{name}` is taken by an input, a block or an outer let",
                    scalar.place,
                    help="choose another name",
                )


def build_lets(
    node: TreeNode, scope: Scope, expressions: Expressions, diagnostics: Diagnostics
) -> tuple[tuple[ir.Let, ...], Type]:
    """The lazy values of a `derived` block (each sees those above it by bare name), and the object type they make."""
    made: list[ir.Let] = []
    types: dict[str, Type | Member] = {}
    if isinstance(node, Map):
        for entry in node.entries:
            name, value = entry.key.text, entry.value
            if scope.knows(name):
                diagnostics.error("RP201", f"the name `{name}` is taken", entry.key.place, help="choose another name")
            kind = ANY
            if isinstance(value, Scalar) and isinstance(value.value, str):
                found = expressions(value, scope, text=value.text, start=0)
                if found is not None:
                    made.append(ir.Let(name, found[0]))
                    kind = found[1]
            types[name] = Member(kind, optional=kind.nullable)
            scope = scope.child({name: kind})
    return tuple(made), object_of(types)


def filler(shape: Type) -> ir.Filler | None:
    """The defaults of a shape; None when there are none at any depth."""
    if shape.kind is Kind.LIST and shape.element is not None:
        element = filler(shape.element)
        return None if element is None else ir.Filler(element=element)
    if shape.kind is not Kind.OBJECT:
        return None
    defaults = tuple((name, member.default) for name, member in shape.members if member.default is not MISSING)
    members = tuple((n, made) for n, member in shape.members if (made := filler(member.type)) is not None)
    return ir.Filler(defaults, members) if defaults or members else None


def _required(shape: Type) -> tuple[str, ...]:
    return tuple(name for name, member in shape.members if not member.optional and member.default is MISSING)


def _always_fires(rule: ir.Rule | ir.Group) -> bool:
    if rule.when is not None or rule.for_each is not None:
        return False
    return isinstance(rule, ir.Rule) or any(_always_fires(child) for child in rule.rules)


def _name_of(node: Map) -> str:
    rule_id = node.get("id")
    return f"rule `{rule_id.text}`" if isinstance(rule_id, Scalar) else "this group"


def _id_place(node: Map) -> Place:
    rule_id = node.get("id")
    return rule_id.place if isinstance(rule_id, Scalar) else node.place
