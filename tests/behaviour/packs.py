"""Small packs, most of them with one fault."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: acme, version: "1.0.0"}
"""
IDENTITY = """\
  identity:
    manufacturer: acme
    pci: [{vendor: "fade", classPrefixes: ["0302"]}]
    resource: acme.example.com/gpu
    runtimeInjects: {libraries: false, devices: false}
    slots: [minor]
"""
GOOD = f"""\
{HEAD}spec:
{IDENTITY}  sections:
    model:
      - id: model-by-name
        when: has(card.name)
        emit: {{product: "$(required(card.name, 'no name'))"}}
  tests:
    - name: a card is called by its name
      section: model
      given: {{card: {{name: Acme One}}}}
      expect: {{product: Acme One}}
    - name: a card without a name stays silent
      section: model
      given: {{card: {{memoryMib: 1}}}}
      silent: [model-by-name]
"""


def write(folder: Path, text: str | bytes, name: str = "pack.yaml") -> str:
    """Write a pack; its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def with_rule(rule: str) -> str:
    """A pack whose `model` section holds one rule, given as the lines under its `- `."""
    lines = rule.strip("\n").splitlines()
    body = "\n".join(f"      {'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines))
    return f"{HEAD}spec:\n{IDENTITY}  sections:\n    model:\n{body}\n"


def alone(folder: Path) -> str:
    """An empty folder for `--rules`: a pack is then linked by itself, which is quicker than beside all shipped ones."""
    empty = folder / "nothing"
    empty.mkdir(exist_ok=True)
    return str(empty)
