"""What a pass has to tell people about a Node: refused keys, keys of others, rules that could not tell.

Each finding names key, value, reason and remedy. How often it is told is the planner's.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.features.objects import NodeView
from engine.features.settle import Settled
from engine.features.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell. `is_momentary`: it happens in this pass and would not be seen in a later one."""

    reason: str
    note: str
    key: str
    is_momentary: bool = False

    @property
    def identity(self) -> tuple[str, str]:
        return (self.reason, self.note)


def findings(wanted: Wanted, node: NodeView, labels: Settled, annotations: Settled) -> list[Finding]:
    """What there is to tell, in a fixed order."""
    found = [
        Finding(
            "FeatureRejected",
            f"{each.source} asks for {each.key}={_cut(each.value)}: {each.fault.reason}; {each.fault.remedy}",
            each.key,
        )
        for each in wanted.rejected
    ]
    for what, settled, current in (("label", labels, node.labels), ("annotation", annotations, node.annotations)):
        for key in settled.taken:
            note = (
                f"the {what} {key} was {_cut(current[key])}, written by somebody else; it is {settled.changes[key]} now"
            )
            found.append(Finding("FeatureTaken", note, key, is_momentary=True))
        for key in settled.left:
            note = (
                f"the {what} {key} is {_cut(current[key])}, written by somebody else, and stays so; remove it from the "
                f"node, or stop asking for it"
            )
            found.append(Finding("FeatureLeft", note, key))
    if wanted.untold:
        note = f"rules could not tell what the host's labels are: {wanted.untold}; what the node has stays"
        found.append(Finding("FeaturesUntold", note, ""))
    return found


def _cut(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:117]}...")
