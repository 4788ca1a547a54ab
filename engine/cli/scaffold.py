"""The files of a new manufacturer's pack: small, clean and tested, with the way on in comments.

Texts only; where they are written, and whether a name will do, is the command's. Vendor facts in them are placeholders that
say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# The placeholder is no vendor's: PCI ids are given out by the PCI-SIG, and fade is not.
_PACK: Final = """\
# yaml-language-server: $schema=@schema@
#
# What Engine knows about cards of @title@. Everything marked CHANGE is a placeholder; put `# source:` beside what you find.
#   engine validate @folder@      checks it
#   engine test @folder@ --coverage --mutate      runs its tests, and tells what they do not notice
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata:
  name: @name@
  version: "0.1.0"
  summary: Accelerators of @title@
spec:
  identity:
    manufacturer: @name@
    pci:
      # Which PCI functions are cards. A vendor alone is not enough: its bridges have the same id.
      - vendor: "fade"                          # CHANGE: the first half of the id that `lspci -nn` shows; always quoted
        classPrefixes: ["0302", "12"]           # CHANGE: 0300 display, 0302 3D controller, 12 processing accelerator
    resource: @name@.example.com/gpu            # CHANGE: the extended resource that Pods ask for
    # runtimeClass: @name@                      # the RuntimeClass of the vendor's container runtime, if it has one
    runtimeInjects: {libraries: false, devices: false}   # what that runtime adds by itself
    slots: [minor]                              # numbers of a card besides its index, as the driver tells them

  params:
    # What a site may set by an Overlay without naming a rule.
    deviceRoot: {type: string, default: /dev/@name@, help: "Device nodes of the cards, without their numbers"}   # CHANGE

  # Which products get large, medium or small unit resources; the rest get the default.
  # presets:
  #   tiers:
  #     large: [x9000]

  sections:
    # Which product a card is. Without a rule it is the name that the driver gives.
    model:
      select: first
      rules:
        - id: model-by-name
          when: has(card.name)
          emit:
            product: $(required(card.name, 'a card without a name'))
            # family: $(…)                      # decides nothing, is shown to people

    # What a card can be cut into. Without a rule that fires: whole cards and shares of them.
    # features:
    #   select: first
    #   rules:
    #     - id: features-slices
    #       emit: {logicalSlices: 8, isolation: preload}

    # What a container gets. The rules' outputs are merged; a key may come from one rule only.
    inject:
      select: merge
      rules:
        - id: inject-visible
          emit:
            env:
              @upper@_VISIBLE_DEVICES: $(join(',', alloc.cards[*].uuid))   # CHANGE: what the vendor's library reads
        - id: inject-card
          when: alloc.mode != 'visibility'
          forEach: {in: alloc.cards, as: card}
          emit:
            deviceNodes:
              - {path: "$(params.deviceRoot)$(required(card.slots.minor, 'the card has no minor number'))"}

    # What a node has to have before it can serve, and what to do when it has not.
    prerequisites:
      select: list
      rules:
        - id: pre-driver
          emit:
            name: driver
            modes: [exclusive, shared, visibility]
            ok: $(has(host.driverVersion))
            remedy: install the driver of @title@
"""

_TESTS: Final = """\
# yaml-language-server: $schema=@schema@
#
# Tests of the pack: an input for a section, and what comes out. `section: allocation` runs guards, claims, prepare and
# inject as one story; each mode that is served needs one that states the whole answer.
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: @name@}
spec:
  bases:
    one: {alloc: {cards: [{uuid: CARD-1, slots: {minor: 0}}]}}
    two: {alloc: {cards: [{uuid: CARD-1, slots: {minor: 0}}, {uuid: CARD-2, slots: {minor: 3}}]}}
  tests:
    - name: a card is called what its driver calls it
      section: model
      given: {card: {name: @title@ One}}
      expect: {product: @title@ One}
    - name: a card without a name is no product
      section: model
      given: {card: {memoryMib: 1024}}
      silent: [model-by-name]

    - name: one card, whole or shared
      section: allocation
      from: one
      expect:
        env: {@upper@_VISIBLE_DEVICES: CARD-1}
        deviceNodes: [{path: /dev/@name@0, required: true, permissions: rw}]
      fires: [inject-visible, inject-card]
      cases:
        - {given: {alloc: {mode: exclusive}}}
        - {given: {alloc: {mode: shared}}}
    - name: two cards, by their minor numbers and not by their positions
      section: allocation
      from: two
      given: {alloc: {mode: exclusive}}
      expect:
        env: {@upper@_VISIBLE_DEVICES: "CARD-1,CARD-2"}
        deviceNodes:
          - {path: /dev/@name@0, required: true, permissions: rw}
          - {path: /dev/@name@3, required: true, permissions: rw}
    - name: a container that only looks gets no device
      section: allocation
      from: one
      given: {alloc: {mode: visibility}}
      expect: {env: {@upper@_VISIBLE_DEVICES: CARD-1}}
      silent: [inject-card]
    - name: a card without a minor number cannot be given out
      section: allocation
      given: {alloc: {mode: exclusive, cards: [{uuid: CARD-1, slots: {}}]}}
      unknown: the card has no minor number

    - name: a node serves once its driver answers
      section: prerequisites
      cases:
        - given: {host: {driverVersion: "1.0"}}
          expect: [{name: driver, modes: [exclusive, shared, visibility], ok: true, remedy: install the driver of @title@}]
        - given: {host: {}}
          expect: [{name: driver, modes: [exclusive, shared, visibility], ok: false, remedy: install the driver of @title@}]
"""

_README: Final = """\
# @title@

Every constant of the pack with its source. A fact that nobody has seen on a machine is marked (unconfirmed).

| fact | value | source |
|---|---|---|
| PCI vendor | `fade` | placeholder |
| PCI classes | `0302`, `12` | placeholder |
| resource | `@name@.example.com/gpu` | placeholder |
| visible cards | `@upper@_VISIBLE_DEVICES`, UUIDs | placeholder |
| device nodes | `/dev/@name@<minor>` | placeholder |
"""

_FILES: Final = {"pack.yaml": _PACK, "tests/cards.yaml": _TESTS, "README.md": _README}


def manufacturer_files(name: str, *, folder: str, schema: Mapping[str, str]) -> dict[str, str]:
    """Texts by path inside the pack's folder. `folder` is as commands name it, `schema` the schema's path by file."""
    words = {"name": name, "upper": name.upper().replace("-", "_"), "title": name.capitalize(), "folder": folder}
    made: dict[str, str] = {}
    for path, template in _FILES.items():
        text = template
        for word, value in {**words, "schema": schema.get(path, "")}.items():
            text = text.replace(f"@{word}@", value)
        made[path] = text
    return made


def file_names() -> tuple[str, ...]:
    """The files of a new pack, by path inside its folder."""
    return tuple(_FILES)
