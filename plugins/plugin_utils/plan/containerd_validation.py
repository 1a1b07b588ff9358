# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node's own containerd must make of the new files before they count.

A file cannot be judged alone: what is in force is the merge of the main file and its imports. So the candidate main
file imports every file in force by its path, in merge order; those that change, by the path of their own candidate.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..containerd_schema import (
    CANDIDATES,
    CRI_V1,
    CRI_V2,
    NRI_ID,
    SCHEMAS,
    dump_is_wrong,
    newest_schema,
)
from ..edit.containerd_file import edit_containerd, spelled
from ..edit.errors import UneditableFile, UnsupportedEdit
from ..edit.template_splice import BASE, rendered_with
from ..facts.containerd_layers import runtimes
from ..facts.model import RuntimeFacts
from .containerd_after import layers_after
from .containerd_place import files_of, imports_of
from .containerd_rendered import TARGET
from .edits import FileEdit
from .model import Change

NAME = "containerd config dump"
ARGV = ("containerd", "--config", "{file}", "config", "dump")
OF_FILES = ("disabled_plugins", "imports", "version")
"""Settings of the dump's top that tell of the files and not of what they come to."""


def containerd_validation(
    runtime: RuntimeFacts, changes: tuple[Change, ...], edits: tuple[FileEdit, ...]
) -> list[dict[str, Any]]:
    """The section for containerd; none when no file of it changes."""
    ours = tuple(each for each in changes if each.target in ("containerd", TARGET) and each.path is not None)
    if not ours:
        return []
    after = layers_after(runtime, ours)
    believed = not dump_is_wrong(runtime.version, after.version)
    name = NAME if believed else f"{NAME} (only that it takes the files: its values are wrong, containerd#11600)"
    return [
        {
            "name": name,
            "argv": [_program(runtime), *ARGV[1:]],
            "file": runtime.config.path,
            "candidates": _candidates(runtime, ours, edits),
            "expect": list(_expectations(runtime, ours)) if believed else [],
            "compare": {"except": list(OF_FILES), "except_tables": _new_tables(runtime, ours)} if believed else None,
        }
    ]


def _candidates(
    runtime: RuntimeFacts, changes: tuple[Change, ...], edits: tuple[FileEdit, ...]
) -> list[dict[str, str | None]]:
    """The main file first. Without a text a candidate is the planned text of its path."""
    main, planned = runtime.config.path, {each.path: each.after for each in edits}
    after = layers_after(runtime, changes).files
    imported = [each.path for each in after if each.path != main]
    names = {path: f"{index}-{_plain(posixpath.basename(path))}" for index, path in enumerate((main, *imported))}
    places = [f"{CANDIDATES}/{names[path]}" if path in planned else path for path in imported]
    text = planned.get(main, _rendered(runtime, changes, edits))
    alone = main in planned and not imported and not imports_of(after[0].values)
    found: list[dict[str, str | None]] = [
        {"name": names[main], "path": main, "text": None if alone else edit_containerd(text, {("imports",): places})}
    ]
    for path in imported:
        if path in planned:
            flat = edit_containerd(planned[path], {("imports",): []}) if "imports" in planned[path].lower() else None
            found.append({"name": names[path], "path": path, "text": flat})
    return found


def _program(runtime: RuntimeFacts) -> str:
    """k3s and RKE2 have a containerd of their own, which is in no folder of PATH."""
    return runtime.program if runtime.program and "/rancher/" in runtime.program else ARGV[0]


def _rendered(runtime: RuntimeFacts, changes: Iterable[Change], edits: Iterable[FileEdit]) -> str:
    """The main file's text; of one that is rendered at the next start, what its new template will come to."""
    text = files_of(runtime)[runtime.config.path].text or ""
    templates = {each.path for each in changes if each.target == TARGET}
    for edit in edits:
        if edit.path in templates:
            found = rendered_with(text, BASE if edit.before is None else edit.before, edit.after)
            if found is None:
                reason = UnsupportedEdit("what will be rendered of it cannot be told", None, "Change it by hand")
                raise UneditableFile(edit.path, reason)
            text = found
    return text


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z_.-]", "_", name)


def _expectations(runtime: RuntimeFacts, changes: Iterable[Change]) -> Iterator[Mapping[str, Any]]:
    """Every value that was written, under the key that the dump has it."""
    seen = {
        in_dump(_dumped(runtime, each), runtime.version): each.after for each in changes if each.keys[0] == "plugins"
    }
    for keys, value in seen.items():
        word = str(value).lower() if isinstance(value, bool) else str(value)
        yield {"table": list(keys[:-1]), "key": keys[-1], "value": word}


def _dumped(runtime: RuntimeFacts, change: Change) -> tuple[str, ...]:
    """Options of a handler are dumped as the file spells them, every other field by its own name (run with 2.4.2)."""
    known = files_of(runtime).get(change.path or "")
    if known is None or "options" not in change.keys:
        return change.keys
    return (*change.keys[:-1], spelled(known.values, change.keys)[-1])


def in_dump(keys: tuple[str, ...], version: str | None) -> tuple[str, ...]:
    """A path of keys as ``containerd config dump`` names it, which migrates: 1.x to schema 2, 2.x to its newest."""
    cri = SCHEMAS[newest_schema(version) or 2].cri_table[1]
    renamed = {CRI_V1: cri, CRI_V2: cri, "nri": NRI_ID}
    return (keys[0], renamed.get(keys[1], keys[1]), *keys[2:])


def _new_tables(runtime: RuntimeFacts, changes: Iterable[Change]) -> list[list[str]]:
    """Tables of handlers that the plan declares: they take the place of built-in ones, defaults and all."""
    declared = runtimes(runtime.merged.cri)
    tables = [
        list(in_dump(each.keys[:-1], runtime.version))
        for each in changes
        if each.keys[-1] == "runtime_type" and each.keys[-2] not in declared
    ]
    return [table for index, table in enumerate(tables) if table not in tables[:index]]
