"""Files in, changes of a chain out: machines, InstanceType manifests, and the options that stand for more.

The only place where commands read machines and manifests. Nothing is planned here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import click

from engine.chain.chain import DEFAULT_NAMESPACES
from engine.chain.changes import Change, InstanceTypeSet, NodeSet, SettingsChanged
from engine.chain.node import NodeProgram
from engine.cli.packs import STDIN, standard_input
from engine.errors import InputError, UsageError
from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.reader import read
from engine.lang.render import render_text
from engine.lang.source import Source
from engine.lang.tree import Map, Node, Scalar, Seq, plain
from engine.machines.document import MachineDocument, check_names, read_machines
from engine.machines.model import KIND as MACHINE
from engine.rulefiles import read_source
from engine.worker.recorded import Recorded
from engine.worker.recorded import active_checks as recorded_checks
from engine.worker.recorded import changes as recorded_changes
from engine.worker.recording import read_recording

ENDINGS: Final = (".yaml", ".yml", ".json")
RECORDING: Final = ".jsonl"
"""A recording is given by its own name: what a folder holds is machines and manifests."""
TYPE_VERSIONS: Final = ("worker.gpustack.ai/v1", "worker.gpustack.ai/v1alpha1")
TYPE: Final = "InstanceType"


@dataclass(slots=True)
class Snapshot:
    """What some files hold. Shape: `notes` say what was skipped, a line each; a recording brings a whole cluster."""

    machines: list[MachineDocument] = field(default_factory=list)
    types: dict[str, InstanceTypeSet] = field(default_factory=dict)
    recording: Recorded | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """There is nothing to plan."""
        return not self.machines and not self.types and self.recording is None

    def changes(self, program: NodeProgram) -> list[Change]:
        """What was recorded, nodes by name, then types by name: the order of files does not matter."""
        recorded = [] if self.recording is None else recorded_changes(self.recording, program)
        nodes = sorted((NodeSet(each.facts) for each in self.machines), key=lambda one: one.facts.name)
        return [*recorded, *nodes, *(self.types[name] for name in sorted(self.types))]

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are taken to be there: a recording brings its own."""
        return DEFAULT_NAMESPACES if self.recording is None else ()

    def active_checks(self) -> tuple[str, ...] | None:
        """The admission checks that were active; None where nobody has observed any."""
        return None if self.recording is None else recorded_checks(self.recording)

    def unmanaged(self, names: Sequence[str], first: Sequence[Change]) -> list[Change]:
        """Changes that take nodes out of management, which `first` has put there.

        Raises: UsageError: a node that is not there.
        """
        known = {each.facts.name: each for each in first if isinstance(each, NodeSet)}
        for name in names:
            if name not in known:
                near = nearest(name, known)
                listed = ", ".join(sorted(known)) or "none"
                raise UsageError(
                    f"--unmanaged {name}: there is no such node",
                    remedy=f"did you mean {near}?" if near else f"known nodes: {listed}",
                )
        return [replace(known[name], managed_label="false") for name in dict.fromkeys(names)]


def settings_of(given: Sequence[str]) -> dict[str, object]:
    """The values of `--set KEY=VALUE`; the last of one key counts.

    Raises: UsageError: one without `=`.
    """
    made: dict[str, object] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {text}: there is no value", remedy="write --set KEY=VALUE")
        made[key.strip()] = value.strip()
    return made


def second_steps(
    snapshot: Snapshot, first: Sequence[Change], settings: dict[str, object], unmanaged: Sequence[str]
) -> list[Change]:
    """The changes that `--set` and `--unmanaged` stand for."""
    turned: list[Change] = [SettingsChanged(settings)] if settings else []
    return [*turned, *snapshot.unmanaged(unmanaged, first)]


def read_snapshot(paths: Sequence[str]) -> Snapshot:
    """Everything that files and folders hold.

    Raises: InputError: a path that cannot be read, or a document with errors; those are printed to standard error.
    """
    made = Snapshot()
    diagnostics = Diagnostics()
    for path in (each for each in paths if each.endswith(RECORDING)):
        if made.recording is not None:
            raise UsageError(f"{path} is a second recording", remedy="plan one cluster at a time")
        made.recording = read_recording_file(Path(path))
    for source in _sources([each for each in paths if not each.endswith(RECORDING)]):
        _read(source, made, diagnostics)
    diagnostics.extend(check_names(made.machines))
    if len(diagnostics):
        unique = list(dict.fromkeys(diagnostics.sorted()))
        click.echo(render_text(unique), err=True, nl=False)
    if diagnostics.has_errors:
        raise InputError("some of the files cannot be used", remedy="mend what is reported above")
    return made


def read_recording_file(path: Path) -> Recorded:
    """The recording that a file holds. Raises: InputError."""
    try:
        with path.open(encoding="utf-8") as lines:
            return read_recording(lines, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read", why=str(error), remedy="check the path and its rights") from error


def _sources(paths: Sequence[str]) -> Iterator[Source]:
    seen: set[Path] = set()
    for path in paths:
        if path == STDIN:
            yield standard_input()
            continue
        for file in _files(Path(path)):
            home = file.resolve()
            if home not in seen:
                seen.add(home)
                yield read_source(file)


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise InputError(f"{path} is not there", remedy="give machine files, or folders that hold them")
    if not path.is_dir():
        yield path
        return
    try:
        entries = sorted(path.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{path} cannot be read", why=error.strerror or "", remedy="check its rights") from error
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith("."):
            yield from _files(entry)
        elif entry.suffix.lower() in ENDINGS:
            yield entry


def _read(source: Source, made: Snapshot, diagnostics: Diagnostics) -> None:
    documents, found = read(source)
    roots = [root for document in documents for root in _items(document.root)]
    kinds = {_text(root, "kind") for root in roots}
    if found.has_errors or not roots or MACHINE in kinds or "" in kinds:
        machines, found = read_machines(source)
        diagnostics.extend(found)
        made.machines.extend(machines)
        return
    diagnostics.extend(found)
    for root in roots:
        assert isinstance(root, Map)
        _manifest(root, made, diagnostics)


def _manifest(root: Map, made: Snapshot, diagnostics: Diagnostics) -> None:
    kind, version, name = _text(root, "kind"), _text(root, "apiVersion"), _text(root, "metadata", "name")
    if kind != TYPE or version not in TYPE_VERSIONS:
        made.notes.append(f"{root.place}: skipped {version} {kind} {name}: only machines and InstanceTypes are planned")
        return
    if not name:
        diagnostics.error("RP202", "the InstanceType lacks metadata.name", root.place)
        return
    spec = root.get("spec")
    if not isinstance(spec, Map):
        diagnostics.error("RP202", f"InstanceType {name} lacks a spec", root.place)
        return
    if name in made.types:
        made.notes.append(f"{root.place}: InstanceType {name} is there twice; this one counts")
    made.types[name] = InstanceTypeSet(name, _quantities(plain(spec)))


def _quantities(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec with its amounts as texts: `cpu: 12` is as good as `cpu: "12"`, as the API has it."""
    unit = spec.get("unitResources")
    texts = {key: _as_text(value) for key, value in unit.items()} if isinstance(unit, dict) else unit
    made = {**spec, "unitResources": texts, "localStorage": _as_text(spec.get("localStorage"))}
    return {key: value for key, value in made.items() if value is not None}


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _items(root: Node) -> Iterable[Node]:
    """The objects of a document: itself, or the items of a `kind: List`."""
    if isinstance(root, Map) and _text(root, "kind").endswith("List"):
        items = root.get("items")
        return items.items if isinstance(items, Seq) else ()
    return (root,)


def _text(root: Node, *path: str) -> str:
    node = root.path(path) if isinstance(root, Map) else None
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
