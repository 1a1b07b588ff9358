# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of a kubelet for a profile: in its files, and of deprecated flags that override them.

Flags are removed from environment files, but never added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..edit.kubelet_text import AGENT_KEYS
from ..facts.config_file import value_at
from ..facts.kubelet_command_line import flag_value
from ..facts.kubelet_layers import LEGACY_PORT, render_value
from ..facts.kubelet_state import Flag, KubeletFacts
from ..facts.node_state import NodeFacts
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, FEATURE_GATES, READ_ONLY_PORT
from ..profile.node_profile import Desired, Profile
from ..releases.versions import Version, minor
from .change_set import Change, Impact, Refusal
from .desired_state import PlanInputs
from .kubelet_impact import DISRUPTIVE, RESTART, change_impact
from .kubelet_location import ConfigLocation, reads_main


@dataclass(frozen=True)
class Override:
    """A flag that overrides a field at kubelet's next start, set by ``variable`` of the environment file ``path``."""

    field: KubeletField
    flag: Flag
    variable: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return self.flag.name if self.flag.value is None else f"{self.flag.name}={self.flag.value}"


def fields_of(desired: tuple[Desired, ...]) -> Mapping[KubeletField, tuple[tuple[str, ...], ...]]:
    """The fields that are set, each with the paths of keys that are set in it."""
    paths: dict[KubeletField, tuple[tuple[str, ...], ...]] = {}
    for field, keys, _value in desired:
        paths[field] = (*paths.get(field, ()), keys)
    return paths


def _overrides_field(field: KubeletField, flag: Flag, paths: tuple[tuple[str, ...], ...]) -> bool:
    """A flag replaces its whole field; feature gates are merged one by one (cmd/kubelet/app/server.go)."""
    if flag.name != field.flag:
        return False
    if field is not FEATURE_GATES:
        return True
    gates = flag_value(field, (flag,)) or {}
    return any(len(keys) == 1 or keys[1] in gates for keys in paths)


def find_overrides(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags of the next start that override desired fields; flags of the running kubelet if its unit is unknown."""
    start = kubelet.start
    flags = start.running if start.following is None else start.following
    return tuple(
        _with_location(kubelet, field, flag)
        for field, paths in fields_of(desired).items()
        for flag in flags
        if _overrides_field(field, flag, paths)
    )


def _with_location(kubelet: KubeletFacts, field: KubeletField, flag: Flag) -> Override:
    variable, _in, path = flag.source.partition(" in ")
    if kubelet.start.following is not None and kubelet.start.environment_files.get(path) == "regular":
        return Override(field, flag, variable, path)
    return Override(field, flag)


def outdated_flags(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags of the running kubelet that override desired fields, but that its unit no longer has."""
    start = kubelet.start
    if start.following is None or not kubelet.running:
        return ()
    names = {flag.name for flag in start.following}
    return tuple(
        Override(field, flag)
        for field, paths in fields_of(desired).items()
        for flag in start.running
        if flag.name not in names and _overrides_field(field, flag, paths)
    )


def changed_entries(
    field: KubeletField, flags: tuple[Flag, ...], below: Any, paths: tuple[tuple[str, ...], ...]
) -> str:
    """Entries not in ``paths`` whose value would change without the flag, as a text for messages; "" if none would."""
    by_flag = flag_value(field, flags)
    if not isinstance(by_flag, Mapping) or any(len(keys) == 1 for keys in paths):
        return ""
    files = below if isinstance(below, Mapping) else {}
    named = {keys[1] for keys in paths}
    # Feature gates of file and flag are merged; for any other table the flag replaces the file's table.
    unnamed = set(by_flag) if field is FEATURE_GATES else {*by_flag, *files}
    changing = sorted(key for key in unnamed - named if render_value(by_flag.get(key)) != render_value(files.get(key)))
    return ", ".join(f"{key}={by_flag.get(key, 'unset')}" for key in changing)


def flag_entry(field: KubeletField, flags: tuple[Flag, ...], keys: tuple[str, ...]) -> Any:
    """The value that flags set for one path of keys, in the form of the file."""
    value = flag_value(field, flags)
    for key in keys[1:]:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def by_variable(overrides: tuple[Override, ...]) -> Iterator[tuple[str, str, tuple[Override, ...]]]:
    """(file, variable, overrides) of flags in environment files, one for each field."""
    groups: dict[tuple[str, str, KubeletField], tuple[Override, ...]] = {}
    for override in overrides:
        if override.path is not None and override.variable is not None:
            key = (override.path, override.variable, override.field)
            groups[key] = (*groups.get(key, ()), override)
    for (path, variable, _field), members in groups.items():
        yield path, variable, members


DIFFERS = "differs from the profile"


def is_as_desired(setting: KubeletField, current: Any, desired: Any, version: Version | None) -> bool:
    """Whether a field, merged from all files, has the desired value."""
    return setting.means(current, desired) or (current is None and _is_default(setting, desired, version))


def _is_default(setting: KubeletField, desired: Any, version: Version | None) -> bool:
    """Whether the desired value is the default, now and after an upgrade."""
    return not setting.later and render_value(desired) == setting.default_in(version)


def reads_no_file(facts: NodeFacts) -> bool:
    """Whether a standalone kubelet has no main file, and therefore other defaults."""
    return not facts.layout.kubelet_inside and not reads_main(facts.kubelet)


def _changes_of_files(inputs: PlanInputs, location: ConfigLocation) -> Iterator[Change]:
    """Changes of the file that settings are written to, and of the main file, which agents parse."""
    kubelet, document = inputs.kubelet, inputs.kubelet_document
    own, version = kubelet.config.values, minor(kubelet.version)
    for setting, keys, desired in inputs.desired:
        name, current = ".".join(keys), value_at(document, keys)
        is_current = is_as_desired(setting, current, desired, version)
        if setting is READ_ONLY_PORT and current is None and reads_no_file(inputs.facts):
            is_current = render_value(desired) == LEGACY_PORT
        running = is_current or _by_running_flag(kubelet, setting, keys, desired)
        needed = RESTART if running else change_impact(keys, kubelet, inputs.profile)
        if not is_current:
            yield Change("kubelet", name, current, desired, DIFFERS, needed, location.path, keys)
        parsed = (
            setting.key in AGENT_KEYS and location.main is not None and (is_current or location.path != location.main)
        )
        if parsed and not setting.means(value_at(own, keys), desired):
            reason = DIFFERS if location.path == location.main else "agents read the main file, not drop-ins"
            yield Change("kubelet", name, value_at(own, keys), desired, reason, needed, location.main, keys)


def _plain_lines(inputs: PlanInputs, changes: tuple[Change, ...], location: ConfigLocation) -> Iterator[Change]:
    """Remove quotes and comments that hide lines from agents, if the main file is written or serves only agents."""
    if location.main is None or (location.path == location.main and not changes):
        return
    kubelet = inputs.kubelet
    decorated_lines = {CGROUP_DRIVER.key: kubelet.odd_driver_line, CPU_MANAGER_POLICY.key: kubelet.odd_policy_line}
    main_changes = [change for change in changes if change.path == location.main]
    written = {change.keys for change in main_changes}
    # This change only accompanies other changes, so it has the impact of those.
    needed = RESTART.union(*(change.needs for change in main_changes))
    for _setting, keys, desired in inputs.desired:
        if decorated_lines.get(keys[0]) is not None and keys not in written:
            reason = "agents that search for the plain line do not find it"
            before = f"{desired} with quotes or a comment"
            yield Change("kubelet", keys[0], before, desired, reason, needed, location.main, keys)


def _by_running_flag(facts: KubeletFacts, setting: KubeletField, keys: tuple[str, ...], desired: Any) -> bool:
    """Whether a flag already gives the running kubelet the desired value: then nothing changes for its pods."""
    flags = tuple(flag for flag in facts.start.running if flag.name == setting.flag)
    value = flag_entry(setting, flags, keys)
    return value is not None and (render_value(value) == render_value(desired) or setting.means(value, desired))


def _flag_impact(override: Override, inputs: PlanInputs) -> frozenset[Impact]:
    """The impact of removing a flag from the running kubelet; empty if it runs without the flag."""
    if all(flag.name != override.field.flag for flag in inputs.kubelet.start.running):
        return frozenset()
    changing = [
        change_impact(keys, inputs.kubelet, inputs.profile)
        for setting, keys, desired in inputs.desired
        if setting is override.field and not _by_running_flag(inputs.kubelet, setting, keys, desired)
    ]
    return RESTART.union(*changing)


def _flag_changes(inputs: PlanInputs) -> Iterator[Change]:
    """Remove deprecated flags from environment files; systemd reads these at each start (systemd.exec(5))."""
    kubelet, desired = inputs.kubelet, inputs.desired
    for path, variable, members in by_variable(find_overrides(kubelet, desired)):
        field = members[0].field
        reason = f"it overrides {field.key}"
        keys = (field.key, field.flag, variable)
        before = ", ".join(override.flag.value or "" for override in members)
        name = " ".join(map(str, members))
        yield Change("kubelet flag", name, before, None, reason, _flag_impact(members[0], inputs), path, keys)
    for override in outdated_flags(kubelet, desired):
        field = override.field
        reason = f"kubelet still runs with {override}, which its unit no longer sets and which overrides {field.key}"
        yield Change("kubelet", "process", str(override), "without the flag", reason, _flag_impact(override, inputs))


def _edits(inputs: PlanInputs) -> Iterator[Change]:
    location = inputs.kubelet_location
    if isinstance(location, Refusal):
        return
    changes = tuple(_changes_of_files(inputs, location))
    yield from changes
    yield from _plain_lines(inputs, changes, location)
    yield from _flag_changes(inputs)


def _restart_only(facts: KubeletFacts) -> Iterator[Change]:
    """The file is as desired, but the running kubelet may have started before it changed."""
    newer = [config.path for config in (facts.config, *facts.dropins) if config.changed_after_start]
    if facts.running and newer:
        reason = f"{', '.join(newer)} changed after kubelet started; what runs may differ"
        yield Change("kubelet", "process", "older than its file", "restarted", reason, RESTART)


def _checkpoints_of_another_policy(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    """The file is as desired, but kubelet would not start with the existing checkpoint (kubernetes#95041)."""
    for checkpoint, desired in (
        (facts.checkpoint, profile.cpu_manager_policy),
        (facts.memory_checkpoint, profile.memory_manager_policy),
    ):
        if desired and checkpoint and checkpoint.exists and checkpoint.policy != desired:
            state = f"was made under policy {checkpoint.policy}" if checkpoint.policy else "cannot be read"
            reason = f"{checkpoint.path} {state}; kubelet does not start with it under {desired}"
            yield Change("kubelet", "checkpoint", checkpoint.policy, desired, reason, DISRUPTIVE)


def _merge_restarts(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """If a change without a file needs a drain, the restart that it shares with the others disrupts pods."""
    if all(change.path or Impact.DRAIN not in change.needs for change in changes):
        return changes
    return tuple(replace(change, needs=change.needs | DISRUPTIVE) for change in changes)


def kubelet_changes(inputs: PlanInputs) -> tuple[Change, ...]:
    """Edits of kubelet's files, or what an earlier edit still requires: a restart, another checkpoint."""
    if not inputs.desired:
        return ()
    edits = _merge_restarts(tuple(_edits(inputs)))
    kubelet = inputs.kubelet
    return edits or (*_restart_only(kubelet), *_checkpoints_of_another_policy(kubelet, inputs.profile))
