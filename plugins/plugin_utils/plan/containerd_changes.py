# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of containerd's files for a profile, the resulting configuration, and its validation by containerd.

A file cannot be validated alone: the effective configuration is the merge of the main file and its imports. So the
candidate main file imports every effective file by its path, in merge order; a changed file, by its candidate's path.
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
    nri_key,
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


def _change(path: str, keys: tuple[str, ...], current: Any, desired: Any, needs: frozenset[Impact]) -> Change:
    return Change("containerd", ".".join(keys[-3:]), current, desired, DIFFERS, needs, path, keys)


def _handler_edits(
    location: ContainerdLocation, name: str, table: Mapping[str, Any] | None, driver: Driver, layers: Layers
) -> Iterator[Change]:
    """``table`` is the handler's table in one file or in the merge of all; None if the handler is not declared."""
    keys = (*location.schema.runtimes, name)
    replaced = layers.merge is Merge.REPLACING and name == DEFAULT_HANDLER and not (table or {}).get("runtime_type")
    if table is None or replaced:
        # A declared table replaces the whole built-in one, including its type (containerd#6964).
        yield _change(location.path, (*keys, "runtime_type"), None, DEFAULT_RUNTIME_TYPE, RESTART)
    use_systemd = driver is Driver.SYSTEMD
    if systemd_cgroup_option(table) is not use_systemd:
        yield _change(
            location.path, (*keys, "options", "SystemdCgroup"), systemd_cgroup_option(table), use_systemd, DISRUPTIVE
        )


def _driver_edits(runtime: RuntimeFacts, handler: Handler, profile: Profile, driver: Driver) -> Iterator[Change]:
    if handler.configured is driver:
        return
    layers, main = runtime.merged, runtime.config
    location = containerd_location(runtime, profile.containerd_strategy, cri_table)
    yield from _handler_edits(location, handler.name, declared_handlers(layers.cri).get(handler.name), driver, layers)
    main_table = declared_handlers(own_table(layers, main)).get(handler.name)
    if layers.merge is Merge.REPLACING and location.path != main.path and main_table is not None:
        # The effective copy may be deleted or regenerated from the main file (NVIDIA toolkit PR 1311).
        yield from _handler_edits(
            ContainerdLocation(main.path, location.schema), handler.name, main_table, driver, layers
        )


def _driver_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    driver = profile.cgroup_driver
    if driver is None:
        return
    deprecated = deprecated_handlers(runtime.merged)
    for handler in runtime.handlers:
        if handler.name in deprecated:
            continue  # refused where it differs
        yield from _driver_edits(runtime, handler, profile, driver)
        if handler.configured is driver and handler.running not in (driver, None):
            reason = f"handler {handler.name} runs with {handler.running.value}, its file says {driver.value}"
            yield Change("containerd", "process", handler.running.value, driver.value, reason, DISRUPTIVE)


def nri_values(layers: Layers) -> Mapping[str, Any]:
    """NRI's table as containerd reads it; 1.x reads the short name in schema 1, 2.x never does."""
    bare = layers.merge is Merge.REPLACING and layers.version == 1
    table = value_at(layers.values, SCHEMAS[1 if bare else 2].nri_table)
    return containerd_tables.nri_values(table, layers.library) if isinstance(table, Mapping) else {}


def nri_connections_disabled_by(runtime: RuntimeFacts) -> str | None:
    """The file because of which containerd opens no NRI socket (run with 2.4.2); None if it opens one."""
    if nri_values(runtime.merged).get("disable_connections") is not True:
        return None
    key, library = nri_key(runtime.merged), runtime.merged.library
    for config in reversed(runtime.layers):
        table = value_at(config.values, ("plugins", key))
        if isinstance(table, Mapping) and "disable_connections" in containerd_tables.nri_values(table, library):
            return config.path
    return runtime.config.path


def _nri_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    desired = profile.nri
    if desired.enabled is None:
        return
    location, current = containerd_location(runtime, profile.containerd_strategy, nri_table), nri_values(runtime.merged)
    settings: dict[str, Any] = dict(desired.settings)
    # In an image the version, and so the default, is unknown: the key is always written.
    if desired.enabled is not runtime.nri.configured or runtime.nri.supported is None:
        settings = {"disable": not desired.enabled, **settings}
    for key, value in settings.items():
        if current.get(key) != value or type(current.get(key)) is not type(value):
            yield _change(location.path, (*location.schema.nri_table, key), current.get(key), value, RESTART)
    if runtime.running and desired.enabled is runtime.nri.configured and desired.enabled is not runtime.nri.running:
        state = {True: "on", False: "off"}
        desired_state, actual_state = state[desired.enabled], state[runtime.nri.running]
        reason = f"NRI is {desired_state} in the file and {actual_state} in the running containerd"
        yield Change("containerd", "process", actual_state, desired_state, reason, RESTART)


def _plugin_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    """Remove plugins from every list that has them: imports only add to a list, so no import can remove an entry."""
    names = cri_plugins(runtime.version) | (NRI_PLUGINS if profile.nri.enabled else frozenset())
    for config in runtime.layers:
        before = config.values.get("disabled_plugins")
        if isinstance(before, list) and names & {name for name in before if isinstance(name, str)}:
            after = [name for name in before if name not in names]
            reason = "kubelet needs the CRI plugin, and NRI its plugin; this list disables them"
            keys = ("disabled_plugins",)
            yield Change("containerd", "disabled_plugins", before, after, reason, RESTART, config.path, keys)


def containerd_nri_unsupported(facts: RuntimeFacts, profile: Profile) -> Unsupported | None:
    """The requested NRI if this containerd does not support it."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Unsupported("nri", f"containerd {facts.version} has no NRI; it was added in 1.7")


def _with_preparations(facts: NodeFacts, changes: list[Change]) -> tuple[Change, ...]:
    if facts.layout.regenerated:
        return place_changes(facts, changes)
    return (*preparations(facts.runtime, [change.path for change in changes if change.path]), *changes)


def containerd_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of containerd's files, or the restart that an earlier edit still requires."""
    runtime = facts.runtime
    if not profile.sets_runtime:
        return ()
    if facts.layout.regenerated:
        # Differences are found in the effective file; place_changes then decides where they are written.
        profile = replace(profile, containerd_strategy=MAIN_FILE)
    differences = [*_plugin_changes(runtime, profile), *_driver_changes(runtime, profile)]
    if runtime.nri.supported is not False:
        differences += _nri_changes(runtime, profile)
    changes = _with_preparations(facts, differences)
    # The CRI and the NRI socket report the running state; NRI's paths and timeouts are only in the file.
    stale = [config.path for config in runtime.layers if config.changed_after_start]
    if not changes and profile.nri.settings and runtime.running and stale:
        reason = f"{', '.join(stale)} changed after containerd started; what runs may differ"
        return (Change("containerd", "process", "older than its file", "restarted", reason, RESTART),)
    return changes


def files_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> dict[str, ConfigFile]:
    """Every file by path with its values after the changes; changes of a template are in the rendered file."""
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
    """The effective files after the changes, in merge order, and their merged values."""
    files = files_after(runtime, changes)
    return read_layers(files[runtime.config.path], files, runtime.version)


NAME = "containerd config dump"
ARGV = ("containerd", "--config", "{file}", "config", "dump")
OF_FILES = ("disabled_plugins", "imports", "version")
"""Top-level settings of the dump that describe the files and not their merged values."""


def containerd_validation(
    runtime: RuntimeFacts, changes: tuple[Change, ...], edits: tuple[FileEdit, ...]
) -> list[dict[str, Any]]:
    """The validation section for containerd; empty if none of its files changes."""
    edited = tuple(
        change for change in changes if change.target in ("containerd", TEMPLATE_TARGET) and change.path is not None
    )
    if not edited:
        return []
    after = layers_after(runtime, edited)
    values_correct = not dump_is_wrong(runtime.version, after.version)
    name = (
        NAME
        if values_correct
        else f"{NAME} (only whether it accepts the files: its values are wrong, containerd#11600)"
    )
    return [
        {
            "name": name,
            "argv": [_program(runtime), *ARGV[1:]],
            "file": runtime.config.path,
            "candidates": _candidates(runtime, edited, edits),
            "expect": list(_expectations(runtime, edited)) if values_correct else [],
            "compare": {"except": list(OF_FILES), "except_tables": _new_tables(runtime, edited)}
            if values_correct
            else None,
        }
    ]


def _candidates(
    runtime: RuntimeFacts, changes: tuple[Change, ...], edits: tuple[FileEdit, ...]
) -> list[dict[str, str | None]]:
    """The main file first. A candidate without a text has the planned text of its path."""
    main, planned = runtime.config.path, {edit.path: edit.after for edit in edits}
    after = layers_after(runtime, changes).files
    imported = [config.path for config in after if config.path != main]
    names = {path: f"{index}-{_plain(posixpath.basename(path))}" for index, path in enumerate((main, *imported))}
    places = [f"{CANDIDATES}/{names[path]}" if path in planned else path for path in imported]
    text = planned.get(main, _main_file_text(runtime, changes, edits))
    alone = main in planned and not imported and not imports_of(after[0].values)
    candidates: list[dict[str, str | None]] = [
        {"name": names[main], "path": main, "text": None if alone else edit_containerd(text, {("imports",): places})}
    ]
    for path in imported:
        if path in planned:
            flat = edit_containerd(planned[path], {("imports",): []}) if "imports" in planned[path].lower() else None
            candidates.append({"name": names[path], "path": path, "text": flat})
    return candidates


def _program(runtime: RuntimeFacts) -> str:
    """The bundled containerd of k3s and RKE2, which is not in PATH, or the usual name."""
    return runtime.program if runtime.program and "/rancher/" in runtime.program else ARGV[0]


def _main_file_text(runtime: RuntimeFacts, changes: Iterable[Change], edits: Iterable[FileEdit]) -> str:
    """The main file's text; if the next start renders it, the expected rendering of its new template."""
    text = files_of(runtime)[runtime.config.path].text or ""
    templates = {change.path for change in changes if change.target == TEMPLATE_TARGET}
    for edit in edits:
        if edit.path in templates:
            rendered = predict_rendering(text, BASE if edit.before is None else edit.before, edit.after)
            if rendered is None:
                reason = UnsupportedEdit("what it will render to is unknown", None, "Change it by hand")
                raise UneditableFile(edit.path, reason)
            text = rendered
    return text


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z_.-]", "_", name)


def _expectations(runtime: RuntimeFacts, changes: Iterable[Change]) -> Iterator[Mapping[str, Any]]:
    """Every written value, under its key in the dump."""
    expected = {
        in_dump(_dumped_keys(runtime, change), runtime.version): change.after
        for change in changes
        if change.keys[0] == "plugins"
    }
    for keys, value in expected.items():
        word = str(value).lower() if isinstance(value, bool) else str(value)
        yield {"table": list(keys[:-1]), "key": keys[-1], "value": word}


def _dumped_keys(runtime: RuntimeFacts, change: Change) -> tuple[str, ...]:
    """The dump has options of a handler in the file's spelling, other fields by their own name (tested with 2.4.2)."""
    known = files_of(runtime).get(change.path or "")
    if known is None or "options" not in change.keys:
        return change.keys
    return (*change.keys[:-1], spell_path(known.values, change.keys)[-1])


def in_dump(keys: tuple[str, ...], version: str | None) -> tuple[str, ...]:
    """A path of keys as in ``containerd config dump``, which migrates: 1.x to schema 2, 2.x to its newest schema."""
    cri = SCHEMAS[newest_schema(version) or 2].cri_table[1]
    renamed = {CRI_V1: cri, CRI_V2: cri, "nri": NRI_ID}
    return (keys[0], renamed.get(keys[1], keys[1]), *keys[2:])


def _new_tables(runtime: RuntimeFacts, changes: Iterable[Change]) -> list[list[str]]:
    """Tables of handlers that the plan declares: they replace the built-in ones, including their defaults."""
    declared = declared_handlers(runtime.merged.cri)
    tables = [
        list(in_dump(change.keys[:-1], runtime.version))
        for change in changes
        if change.keys[-1] == "runtime_type" and change.keys[-2] not in declared
    ]
    return [table for index, table in enumerate(tables) if table not in tables[:index]]
