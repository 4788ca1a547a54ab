"""Inject: what a container gets; environment, device nodes, mounts, files, preloads, CDI names.

Rendering is code: the agent resolves `lib`, `work` and `host`, holds the allow-list of host paths and writes files.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.alloc_input import Stage, alloc_notation

SECTION: Final = Section(
    name="inject",
    owner=Owner.MANUFACTURER,
    combine=Combine.MERGE,
    must=True,
    once_per="allocation",
    runs="N",
    input=alloc_notation(Stage.INJECT),
    emit=(
        "{env?: map<str>, envIfUnset?: map<str>, annotations?: map<str>, "
        "deviceNodes?: {path: str, required: bool = true, permissions: 'r'|'w'|'m'|'rw'|'rm'|'wm'|'rwm' = 'rw', minor?: int}[], "
        "mounts?: {lib?: str, work?: str, host?: str, at: str, rw: bool = false, required: bool = true, "
        "type: 'any'|'file'|'dir' = 'any', mode?: '0755'|'0777'}[], "
        "files?: {work: str, content: str, at?: str, mode: '0644'|'0755'|'0777' = '0644'}[], "
        "preload?: {lib: str, at: str}[], cdi?: {kind: str, name: str}[], notes?: str[]}"
    ),
    memo=False,
    help="the edits of one container; renders as soon as everything it looks at exists",
)

MOUNT_SOURCES: Final = ("lib", "work", "host")
"""A mount names exactly one of these; the notation has no alternatives inside a list, so code checks it."""
