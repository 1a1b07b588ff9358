# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a containerd and the profile, what containerd would read then, and how it validates that.

A file cannot be judged alone: what is in force is the merge of the main file and its imports. So the candidate main
file imports every file in force by its path, in merge order; those that change, by the path of their own candidate.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..edit.containerd_text import BASE, edit_containerd, predict_rendering, spell_path
from ..edit.text_errors import UneditableFile, UnsupportedEdit
from ..facts import containerd_tables
from ..facts.config_file import ConfigFile, value_at
from ..facts.containerd_layers import (
    Layers,
    Merge,
    declared_handlers,
    deprecated_handlers,
    own_table,
    read_layers,
    systemd_cgroup_option,
)
from ..facts.node_state import NodeFacts
from ..facts.runtime_state import Handler, RuntimeFacts
from ..profile.node_profile import Profile
from ..releases.containerd_schema import (
    CANDIDATES,
    CRI_V1,
    CRI_V2,
    DEFAULT_HANDLER,
    DEFAULT_RUNTIME_TYPE,
    NRI_ID,
    NRI_PLUGINS,
    SCHEMAS,
    Schema,
    cri_plugins,
    dump_is_wrong,
    newest_schema,
)
from .change_set import Change, Impact, Unsupported
from .containerd_location import (
    MAIN_FILE,
    TEMPLATE_TARGET,
    ContainerdLocation,
    containerd_location,
    files_of,
    imports_of,
    place_changes,
    preparations,
)
from .file_edits import FileEdit

RESTART = frozenset({Impact.RESTART_RUNTIME})
DISRUPTIVE = RESTART | {Impact.DRAIN}
DIFFERS = "differs from the profile"


def cri_table(schema: Schema) -> tuple[str, ...]:
    return schema.cri_table


def nri_table(schema: Schema) -> tuple[str, ...]:
    return schema.nri_table


def _change(path: str, keys: tuple[str, ...], in_force: Any, wanted: Any, needs: frozenset[Impact]) -> Change:
    return Change("containerd", ".".join(keys[-3:]), in_force, wanted, DIFFERS, needs, path, keys)


def _handler_edits(
    where: ContainerdLocation, name: str, table: Mapping[str, Any] | None, driver: Driver, layers: Layers
) -> Iterator[Change]:
    """``table`` is what the file, or all of them, have of the handler; None: it is not declared."""
    keys = (*where.schema.runtimes, name)
    replaced = layers.merge is Merge.REPLACING and name == DEFAULT_HANDLER and not (table or {}).get("runtime_type")
    if table is None or replaced:
        # A declared table replaces the built-in one whole, its type included (containerd#6964).
        yield _change(where.path, (*keys, "runtime_type"), None, DEFAULT_RUNTIME_TYPE, RESTART)
    wanted = driver is Driver.SYSTEMD
    if systemd_cgroup_option(table) is not wanted:
        yield _change(where.path, (*keys, "options", "SystemdCgroup"), systemd_cgroup_option(table), wanted, DISRUPTIVE)


def _driver_edits(runtime: RuntimeFacts, handler: Handler, profile: Profile, driver: Driver) -> Iterator[Change]:
    if handler.configured is driver:
        return
    layers, main = runtime.merged, runtime.config
    where = containerd_location(runtime, profile.containerd_strategy, cri_table)
    yield from _handler_edits(where, handler.name, declared_handlers(layers.cri).get(handler.name), driver, layers)
    of_main = declared_handlers(own_table(layers, main)).get(handler.name)
    if layers.merge is Merge.REPLACING and where.path != main.path and of_main is not None:
        # The copy that wins may be taken away or be made anew from the main file (NVIDIA toolkit PR 1311).
        yield from _handler_edits(ContainerdLocation(main.path, where.schema), handler.name, of_main, driver, layers)


def _driver_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    driver = profile.cgroup_driver
    if driver is None:
        return
    kept = deprecated_handlers(runtime.merged)
    for handler in runtime.handlers:
        if handler.name in kept:
            continue  # refused where it differs
        yield from _driver_edits(runtime, handler, profile, driver)
        if handler.configured is driver and handler.running not in (driver, None):
            reason = f"handler {handler.name} runs with {handler.running.value}, its file says {driver.value}"
            yield Change("containerd", "process", handler.running.value, driver.value, reason, DISRUPTIVE)


def nri_values(layers: Layers) -> Mapping[str, Any]:
    """NRI's table as containerd reads it; 1.x reads the bare name in schema 1, 2.x never does."""
    bare = layers.merge is Merge.REPLACING and layers.version == 1
    found = value_at(layers.values, SCHEMAS[1 if bare else 2].nri_table)
    return containerd_tables.nri_values(found, layers.letter_case) if isinstance(found, Mapping) else {}


def _nri_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    wanted = profile.nri
    if wanted.enabled is None:
        return
    where, found = containerd_location(runtime, profile.containerd_strategy, nri_table), nri_values(runtime.merged)
    settings: dict[str, Any] = dict(wanted.settings)
    # Of an image no version is known, hence no default: the key is written whatever the default may be.
    if wanted.enabled is not runtime.nri.configured or runtime.nri.supported is None:
        settings = {"disable": not wanted.enabled, **settings}
    for key, value in settings.items():
        if found.get(key) != value or type(found.get(key)) is not type(value):
            yield _change(where.path, (*where.schema.nri_table, key), found.get(key), value, RESTART)
    if runtime.running and wanted.enabled is runtime.nri.configured and wanted.enabled is not runtime.nri.running:
        state = {True: "on", False: "off"}
        said, runs = state[wanted.enabled], state[runtime.nri.running]
        reason = f"NRI is {said} in the file and {runs} in the running containerd"
        yield Change("containerd", "process", runs, said, reason, RESTART)


def _plugin_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    """Plugins taken out of every list that has them: lists of imports only grow, so none can take an entry back."""
    names = cri_plugins(runtime.version) | (NRI_PLUGINS if profile.nri.enabled else frozenset())
    for config in runtime.layers:
        before = config.values.get("disabled_plugins")
        if isinstance(before, list) and names & {each for each in before if isinstance(each, str)}:
            after = [each for each in before if each not in names]
            reason = "kubelet needs the CRI plugin, and NRI its own, which are switched off here"
            keys = ("disabled_plugins",)
            yield Change("containerd", "disabled_plugins", before, after, reason, RESTART, config.path, keys)


def containerd_nri_unsupported(facts: RuntimeFacts, profile: Profile) -> Unsupported | None:
    """NRI asked of a containerd that has none."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Unsupported("nri", f"containerd {facts.version} has no NRI; it came with 1.7")


def _with_preparations(facts: NodeFacts, found: list[Change]) -> tuple[Change, ...]:
    if facts.layout.regenerated:
        return place_changes(facts, found)
    return (*preparations(facts.runtime, [each.path for each in found if each.path]), *found)


def containerd_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of containerd's files, or the restart that an earlier edit still lacks."""
    runtime = facts.runtime
    if not profile.sets_runtime:
        return ()
    if facts.layout.regenerated:
        # What differs is told of the file that counts; where it is written is another matter.
        profile = replace(profile, containerd_strategy=MAIN_FILE)
    found = [*_plugin_changes(runtime, profile), *_driver_changes(runtime, profile)]
    if runtime.nri.supported is not False:
        found += _nri_changes(runtime, profile)
    changes = _with_preparations(facts, found)
    # The CRI and the NRI socket tell what runs; only NRI's paths and timeouts have nothing but the file.
    stale = [each.path for each in runtime.layers if each.changed_after_start]
    if not changes and profile.nri.settings and runtime.running and stale:
        reason = f"{', '.join(stale)} changed after containerd started; what runs may differ"
        return (Change("containerd", "process", "older than its file", "restarted", reason, RESTART),)
    return changes


def files_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> dict[str, ConfigFile]:
    """Every file by path, with the values it then has; what a template says is in the file rendered of it."""
    files = files_of(runtime)
    for change in changes:
        path = runtime.config.path if change.target == TEMPLATE_TARGET else change.path
        if path is None:
            continue
        config = files.get(path, ConfigFile(path, "missing"))
        values = _put_value(config.values, spell_path(config.values, change.keys), change.after)
        files[path] = replace(config, kind="regular", values=values)
    return files


def _put_value(values: Mapping[str, Any], keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, below = keys[0], keys[1:]
    inner = values.get(key)
    return {**values, key: _put_value(inner if isinstance(inner, Mapping) else {}, below, value) if below else value}


def layers_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> Layers:
    """The files then in force, in merge order, and what they come to."""
    files = files_after(runtime, changes)
    return read_layers(files[runtime.config.path], files, runtime.version)


NAME = "containerd config dump"
ARGV = ("containerd", "--config", "{file}", "config", "dump")
OF_FILES = ("disabled_plugins", "imports", "version")
"""Settings of the dump's top that tell of the files and not of what they come to."""


def containerd_validation(
    runtime: RuntimeFacts, changes: tuple[Change, ...], edits: tuple[FileEdit, ...]
) -> list[dict[str, Any]]:
    """The section for containerd; none when no file of it changes."""
    ours = tuple(each for each in changes if each.target in ("containerd", TEMPLATE_TARGET) and each.path is not None)
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
    text = planned.get(main, _main_file_text(runtime, changes, edits))
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


def _main_file_text(runtime: RuntimeFacts, changes: Iterable[Change], edits: Iterable[FileEdit]) -> str:
    """The main file's text; of one that is rendered at the next start, what its new template will come to."""
    text = files_of(runtime)[runtime.config.path].text or ""
    templates = {each.path for each in changes if each.target == TEMPLATE_TARGET}
    for edit in edits:
        if edit.path in templates:
            found = predict_rendering(text, BASE if edit.before is None else edit.before, edit.after)
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
        in_dump(_dumped_keys(runtime, each), runtime.version): each.after
        for each in changes
        if each.keys[0] == "plugins"
    }
    for keys, value in seen.items():
        word = str(value).lower() if isinstance(value, bool) else str(value)
        yield {"table": list(keys[:-1]), "key": keys[-1], "value": word}


def _dumped_keys(runtime: RuntimeFacts, change: Change) -> tuple[str, ...]:
    """Options of a handler are dumped as the file spells them, every other field by its own name (run with 2.4.2)."""
    known = files_of(runtime).get(change.path or "")
    if known is None or "options" not in change.keys:
        return change.keys
    return (*change.keys[:-1], spell_path(known.values, change.keys)[-1])


def in_dump(keys: tuple[str, ...], version: str | None) -> tuple[str, ...]:
    """A path of keys as ``containerd config dump`` names it, which migrates: 1.x to schema 2, 2.x to its newest."""
    cri = SCHEMAS[newest_schema(version) or 2].cri_table[1]
    renamed = {CRI_V1: cri, CRI_V2: cri, "nri": NRI_ID}
    return (keys[0], renamed.get(keys[1], keys[1]), *keys[2:])


def _new_tables(runtime: RuntimeFacts, changes: Iterable[Change]) -> list[list[str]]:
    """Tables of handlers that the plan declares: they take the place of built-in ones, defaults and all."""
    declared = declared_handlers(runtime.merged.cri)
    tables = [
        list(in_dump(each.keys[:-1], runtime.version))
        for each in changes
        if each.keys[-1] == "runtime_type" and each.keys[-2] not in declared
    ]
    return [table for index, table in enumerate(tables) if table not in tables[:index]]
