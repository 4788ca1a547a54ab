"""NodeFeature and NodeFeatureRule of nfd.k8s-sigs.io, as clusters with Node Feature Discovery know them.

Field for field what that project serves (specification 50 §1.1, §4.1), so either side's objects fit the other's kinds: no
defaults, no columns, no checks beyond types. Installed only where the kinds are absent.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, field

from engine.api.base import Fields, ObjectMeta, one_of
from engine.api.kind import Kind

NFD_GROUP: Final = "nfd.k8s-sigs.io"
OPERATORS: Final = (
    "In", "NotIn", "InRegexp", "Exists", "DoesNotExist", "Gt", "Ge", "Lt", "Le", "GtLt", "GeLe", "IsTrue", "IsFalse",
)  # fmt: skip

Texts = dict[str, str]


class Nothing(Fields, frozen=True):
    """A flag says nothing but that it is there."""


class Flags(Fields, frozen=True, kw_only=True):
    """A feature that is a set of names."""

    elements: Annotated[dict[str, Nothing], Meta(description="The names; each value is an empty object.")]


class Attributes(Fields, frozen=True, kw_only=True):
    """A feature that is a map of texts."""

    elements: Annotated[Texts, Meta(description="Values by name.")]


class Element(Fields, frozen=True, kw_only=True):
    """One of several equal things, such as a PCI device."""

    attributes: Annotated[Texts, Meta(description="Values by name.")]


class Instances(Fields, frozen=True, kw_only=True):
    """A feature that is a list of things."""

    elements: Annotated[tuple[Element, ...], Meta(description="The things.")]


class Features(Fields, frozen=True, kw_only=True):
    """Raw features, by `<domain>.<feature>` in lower case."""

    flags: Annotated[dict[str, Flags], Meta(description="Features that are sets of names.")] = field(
        default_factory=dict
    )
    attributes: Annotated[dict[str, Attributes], Meta(description="Features that are maps of texts.")] = field(
        default_factory=dict
    )
    instances: Annotated[dict[str, Instances], Meta(description="Features that are lists of things.")] = field(
        default_factory=dict
    )


class NodeFeatureSpec(Fields, frozen=True, kw_only=True):
    """Features found on the node, and labels asked for."""

    features: Annotated[Features, Meta(description="Raw features, for rules to match.")] | None = None
    labels: Annotated[Texts, Meta(description="Labels to put on the node.")] = field(default_factory=dict)


class NodeFeature(Fields, frozen=True, kw_only=True):
    """Features of the node that its label nfd.node.kubernetes.io/node-name names, and labels asked for that node."""

    metadata: ObjectMeta
    spec: Annotated[NodeFeatureSpec, Meta(description="Features found on the node, and labels asked for.")]


class MatchExpression(Fields, frozen=True, kw_only=True):
    """A condition on one element."""

    op: Annotated[str, Meta(description="How to compare.", extra_json_schema=one_of(*OPERATORS))]
    value: Annotated[tuple[str, ...], Meta(description="What to compare with; how many depends on op.")] = ()
    type: Annotated[
        str, Meta(description="`version` compares as versions; otherwise the ordering operators compare integers.")
    ] = ""


class FeatureMatcher(Fields, frozen=True, kw_only=True):
    """Conditions on one feature."""

    feature: Annotated[str, Meta(description="The feature, `<domain>.<feature>`.")]
    match_expressions: Annotated[
        dict[str, MatchExpression], Meta(description="Conditions on elements, by their name; all must hold.")
    ] = field(default_factory=dict)
    match_name: Annotated[MatchExpression, Meta(description="A condition on the names of elements.")] | None = None


class AnyMatcher(Fields, frozen=True, kw_only=True):
    """One of several alternatives."""

    match_features: Annotated[tuple[FeatureMatcher, ...], Meta(description="Conditions; all must hold.")]


class Taint(Fields, frozen=True, kw_only=True):
    """A taint for the node."""

    key: Annotated[str, Meta(description="Key of the taint.")]
    value: Annotated[str, Meta(description="Value of the taint.")] = ""
    effect: Annotated[str, Meta(description="What becomes of Pods that do not tolerate it.")]
    time_added: Annotated[
        str, Meta(description="When the taint was added.", extra_json_schema={"format": "date-time"})
    ] = ""


class NodeRule(Fields, frozen=True, kw_only=True):
    """What to put on nodes whose features match."""

    name: Annotated[str, Meta(description="Name of the rule.")]
    labels: Annotated[Texts, Meta(description="Labels to add.")] = field(default_factory=dict)
    labels_template: Annotated[str, Meta(description="Template of further labels, a key=value on each line.")] = ""
    annotations: Annotated[Texts, Meta(description="Annotations to add.")] = field(default_factory=dict)
    vars: Annotated[Texts, Meta(description="Values for later rules to match; not put on the node.")] = field(
        default_factory=dict
    )
    vars_template: Annotated[str, Meta(description="Template of further values, a key=value on each line.")] = ""
    taints: Annotated[tuple[Taint, ...], Meta(description="Taints to add.")] = ()
    extended_resources: Annotated[Texts, Meta(description="Extended resources to add.")] = field(default_factory=dict)
    match_features: Annotated[tuple[FeatureMatcher, ...], Meta(description="Conditions; all must hold.")] = ()
    match_any: Annotated[tuple[AnyMatcher, ...], Meta(description="Alternatives; one must hold.")] = ()


class NodeFeatureRuleSpec(Fields, frozen=True, kw_only=True):
    """The rules of one object."""

    rules: Annotated[tuple[NodeRule, ...], Meta(description="Rules, evaluated in this order.")]


class NodeFeatureRule(Fields, frozen=True, kw_only=True):
    """Rules that put labels, annotations, taints and extended resources on nodes whose features match."""

    metadata: ObjectMeta
    spec: Annotated[NodeFeatureRuleSpec, Meta(description="The rules.")]


NODE_FEATURE: Final = Kind(
    kind="NodeFeature",
    plural="nodefeatures",
    struct=NodeFeature,
    is_namespaced=True,
    has_status=False,
    group=NFD_GROUP,
    versions=("v1alpha1",),
    categories=(),
)
NODE_FEATURE_RULE: Final = Kind(
    kind="NodeFeatureRule",
    plural="nodefeaturerules",
    struct=NodeFeatureRule,
    short_names=("nfr",),
    has_status=False,
    group=NFD_GROUP,
    versions=("v1alpha1",),
    categories=(),
)
