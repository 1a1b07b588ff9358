# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a containerd and the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..containerd_schema import DEFAULT_HANDLER, DEFAULT_RUNTIME_TYPE, NRI_PLUGINS, SCHEMAS, Schema, cri_plugins
from ..facts import containerd_keys
from ..facts.config import nested
from ..facts.containerd_layers import Layers, Merge, deprecated_runtimes, driver_word, own_table, runtimes
from ..facts.model import Handler, NodeFacts, RuntimeFacts
from ..profile import Profile
from .containerd_place import MAIN_FILE, Place, place, preparations
from .containerd_rendered import placed
from .model import Change, Need, Skip

RESTART = frozenset({Need.RESTART_RUNTIME})
DISRUPTIVE = RESTART | {Need.DRAIN}
DIFFERS = "differs from the profile"


def cri_table(schema: Schema) -> tuple[str, ...]:
    return schema.cri_table


def nri_table(schema: Schema) -> tuple[str, ...]:
    return schema.nri_table


def _change(path: str, keys: tuple[str, ...], in_force: Any, wanted: Any, needs: frozenset[Need]) -> Change:
    return Change("containerd", ".".join(keys[-3:]), in_force, wanted, DIFFERS, needs, path, keys)


def _handler_edits(
    where: Place, name: str, table: Mapping[str, Any] | None, driver: Driver, layers: Layers
) -> Iterator[Change]:
    """``table`` is what the file, or all of them, have of the handler; None: it is not declared."""
    keys = (*where.schema.runtimes, name)
    replaced = layers.merge is Merge.REPLACING and name == DEFAULT_HANDLER and not (table or {}).get("runtime_type")
    if table is None or replaced:
        # A declared table replaces the built-in one whole, its type included (containerd#6964).
        yield _change(where.path, (*keys, "runtime_type"), None, DEFAULT_RUNTIME_TYPE, RESTART)
    wanted = driver is Driver.SYSTEMD
    if driver_word(table) is not wanted:
        yield _change(where.path, (*keys, "options", "SystemdCgroup"), driver_word(table), wanted, DISRUPTIVE)


def _driver_edits(runtime: RuntimeFacts, handler: Handler, profile: Profile, driver: Driver) -> Iterator[Change]:
    if handler.configured is driver:
        return
    layers, main = runtime.merged, runtime.config
    where = place(runtime, profile.containerd_strategy, cri_table)
    yield from _handler_edits(where, handler.name, runtimes(layers.cri).get(handler.name), driver, layers)
    of_main = runtimes(own_table(layers, main)).get(handler.name)
    if layers.merge is Merge.REPLACING and where.path != main.path and of_main is not None:
        # The copy that wins may be taken away or be made anew from the main file (NVIDIA toolkit PR 1311).
        yield from _handler_edits(Place(main.path, where.schema), handler.name, of_main, driver, layers)


def _driver_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    driver = profile.cgroup_driver
    if driver is None:
        return
    kept = deprecated_runtimes(runtime.merged)
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
    found = nested(layers.values, SCHEMAS[1 if bare else 2].nri_table)
    return containerd_keys.nri_values(found, layers.letter_case) if isinstance(found, Mapping) else {}


def _nri_changes(runtime: RuntimeFacts, profile: Profile) -> Iterator[Change]:
    wanted = profile.nri
    if wanted.enabled is None:
        return
    where, found = place(runtime, profile.containerd_strategy, nri_table), nri_values(runtime.merged)
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


def nri_skip(facts: RuntimeFacts, profile: Profile) -> Skip | None:
    """NRI asked of a containerd that has none."""
    if not profile.nri.enabled or facts.nri.supported is not False:
        return None
    return Skip("nri", f"containerd {facts.version} has no NRI; it came with 1.7")


def _prepared(facts: NodeFacts, found: list[Change]) -> tuple[Change, ...]:
    if facts.layout.regenerated:
        return placed(facts, found)
    return (*preparations(facts.runtime, [each.path for each in found if each.path]), *found)


def runtime_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of containerd's files, or the restart that an earlier edit still lacks."""
    runtime = facts.runtime
    if profile.cgroup_driver is None and profile.nri.enabled is None:
        return ()
    if facts.layout.regenerated:
        # What differs is told of the file that counts; where it is written is another matter.
        profile = replace(profile, containerd_strategy=MAIN_FILE)
    found = [*_plugin_changes(runtime, profile), *_driver_changes(runtime, profile)]
    if runtime.nri.supported is not False:
        found += _nri_changes(runtime, profile)
    changes = _prepared(facts, found)
    # The CRI and the NRI socket tell what runs; only NRI's paths and timeouts have nothing but the file.
    stale = [each.path for each in runtime.layers if each.changed_after_start]
    if not changes and profile.nri.settings and runtime.running and stale:
        reason = f"{', '.join(stale)} changed after containerd started; what runs may differ"
        return (Change("containerd", "process", "older than its file", "restarted", reason, RESTART),)
    return changes
