# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a kubelet and the profile: its files, and deprecated flags that override them.

Flags of environment files are taken out, never is one added.
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
    """A flag that beats a field at kubelet's next start. ``variable`` is that of the environment file ``path``."""

    field: KubeletField
    flag: Flag
    variable: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return self.flag.name if self.flag.value is None else f"{self.flag.name}={self.flag.value}"


def fields_of(desired: tuple[Desired, ...]) -> Mapping[KubeletField, tuple[tuple[str, ...], ...]]:
    """The fields that are set, each with the paths of keys that are set in it."""
    found: dict[KubeletField, tuple[tuple[str, ...], ...]] = {}
    for field, keys, _value in desired:
        found[field] = (*found.get(field, ()), keys)
    return found


def _overrides_field(field: KubeletField, flag: Flag, paths: tuple[tuple[str, ...], ...]) -> bool:
    """A flag replaces its whole field; feature gates are merged gate by gate (cmd/kubelet/app/server.go)."""
    if flag.name != field.flag:
        return False
    if field is not FEATURE_GATES:
        return True
    gates = flag_value(field, (flag,)) or {}
    return any(len(keys) == 1 or keys[1] in gates for keys in paths)


def find_overrides(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags of the next start that beat what is set; of the running kubelet's where no unit of it was seen."""
    start = kubelet.start
    found = start.running if start.following is None else start.following
    return tuple(
        _with_location(kubelet, field, flag)
        for field, paths in fields_of(desired).items()
        for flag in found
        if _overrides_field(field, flag, paths)
    )


def _with_location(kubelet: KubeletFacts, field: KubeletField, flag: Flag) -> Override:
    variable, _in, path = flag.source.partition(" in ")
    if kubelet.start.following is not None and kubelet.start.environment_files.get(path) == "regular":
        return Override(field, flag, variable, path)
    return Override(field, flag)


def outdated_flags(kubelet: KubeletFacts, desired: tuple[Desired, ...]) -> tuple[Override, ...]:
    """Flags that the running kubelet has over what is set, and that its unit would not give it again."""
    start = kubelet.start
    if start.following is None or not kubelet.running:
        return ()
    given = {flag.name for flag in start.following}
    return tuple(
        Override(field, flag)
        for field, paths in fields_of(desired).items()
        for flag in start.running
        if flag.name not in given and _overrides_field(field, flag, paths)
    )


def changed_entries(
    field: KubeletField, flags: tuple[Flag, ...], below: Any, paths: tuple[tuple[str, ...], ...]
) -> str:
    """Entries whose value would change with the flag gone although nobody set them, in words; "" where none would."""
    by_flag = flag_value(field, flags)
    if not isinstance(by_flag, Mapping) or any(len(keys) == 1 for keys in paths):
        return ""
    files = below if isinstance(below, Mapping) else {}
    named = {keys[1] for keys in paths}
    # Gates of the file are in force beside the flag's; of any other table the flag leaves nothing.
    others = set(by_flag) if field is FEATURE_GATES else {*by_flag, *files}
    changing = sorted(key for key in others - named if render_value(by_flag.get(key)) != render_value(files.get(key)))
    return ", ".join(f"{key}={by_flag.get(key, 'unset')}" for key in changing)


def flag_entry(field: KubeletField, flags: tuple[Flag, ...], keys: tuple[str, ...]) -> Any:
    """What flags say of one path of keys, in the shape of the file."""
    value = flag_value(field, flags)
    for key in keys[1:]:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def by_variable(found: tuple[Override, ...]) -> Iterator[tuple[str, str, tuple[Override, ...]]]:
    """(file, variable, overrides) of those that an environment file holds, by field."""
    groups: dict[tuple[str, str, KubeletField], tuple[Override, ...]] = {}
    for each in found:
        if each.path is not None and each.variable is not None:
            key = (each.path, each.variable, each.field)
            groups[key] = (*groups.get(key, ()), each)
    for (path, variable, _field), members in groups.items():
        yield path, variable, members


DIFFERS = "differs from the profile"


def is_as_desired(setting: KubeletField, found: Any, wanted: Any, version: Version | None) -> bool:
    """Whether a field that is merged of all files is as wanted."""
    return setting.means(found, wanted) or (found is None and _is_default(setting, wanted, version))


def _is_default(setting: KubeletField, wanted: Any, version: Version | None) -> bool:
    """Whether the wanted value holds where the field is not set, now and after an upgrade."""
    return not setting.later and render_value(wanted) == setting.default_in(version)


def reads_no_file(facts: NodeFacts) -> bool:
    """Whether a kubelet of its own has no main file, and other defaults therefore."""
    return not facts.layout.kubelet_inside and not reads_main(facts.kubelet)


def _changes_of_files(inputs: PlanInputs, place: ConfigLocation) -> Iterator[Change]:
    """What the files lack: where settings go, then the main file that agents parse."""
    kubelet, whole = inputs.kubelet, inputs.kubelet_document
    own, version = kubelet.config.values, minor(kubelet.version)
    for setting, keys, wanted in inputs.desired:
        name, now = ".".join(keys), value_at(whole, keys)
        right = is_as_desired(setting, now, wanted, version)
        if setting is READ_ONLY_PORT and now is None and reads_no_file(inputs.facts):
            right = render_value(wanted) == LEGACY_PORT
        running = right or _by_running_flag(kubelet, setting, keys, wanted)
        needed = RESTART if running else change_impact(keys, kubelet, inputs.profile)
        if not right:
            yield Change("kubelet", name, now, wanted, DIFFERS, needed, place.path, keys)
        parsed = setting.key in AGENT_KEYS and place.main is not None and (right or place.path != place.main)
        if parsed and not setting.means(value_at(own, keys), wanted):
            reason = DIFFERS if place.path == place.main else "agents read the main file, not drop-ins"
            yield Change("kubelet", name, value_at(own, keys), wanted, reason, needed, place.main, keys)


def _plain_lines(inputs: PlanInputs, found: tuple[Change, ...], place: ConfigLocation) -> Iterator[Change]:
    """The main file is written, or exists for agents only: then no quotes or comment hide these lines from them."""
    if place.main is None or (place.path == place.main and not found):
        return
    kubelet = inputs.kubelet
    odd = {CGROUP_DRIVER.key: kubelet.odd_driver_line, CPU_MANAGER_POLICY.key: kubelet.odd_policy_line}
    along = [change for change in found if change.path == place.main]
    written = {change.keys for change in along}
    # It comes with what is written anyway, and is no reason for a restart that disturbs less.
    needed = RESTART.union(*(change.needs for change in along))
    for _setting, keys, wanted in inputs.desired:
        if odd.get(keys[0]) is not None and keys not in written:
            reason = "agents that look for the plain line do not see it"
            before = f"{wanted} with quotes or a comment"
            yield Change("kubelet", keys[0], before, wanted, reason, needed, place.main, keys)


def _by_running_flag(facts: KubeletFacts, setting: KubeletField, keys: tuple[str, ...], wanted: Any) -> bool:
    """Whether a flag gives the running kubelet what the files do not: then nothing changes for its pods."""
    flags = tuple(flag for flag in facts.start.running if flag.name == setting.flag)
    said = flag_entry(setting, flags, keys)
    return said is not None and (render_value(said) == render_value(wanted) or setting.means(said, wanted))


def _flag_impact(override: Override, inputs: PlanInputs) -> frozenset[Impact]:
    """What it takes to be rid of a flag that kubelet runs with; nothing where it runs without."""
    if all(flag.name != override.field.flag for flag in inputs.kubelet.start.running):
        return frozenset()
    changing = [
        change_impact(keys, inputs.kubelet, inputs.profile)
        for setting, keys, wanted in inputs.desired
        if setting is override.field and not _by_running_flag(inputs.kubelet, setting, keys, wanted)
    ]
    return RESTART.union(*changing)


def _flag_changes(inputs: PlanInputs) -> Iterator[Change]:
    """Deprecated flags out of their environment files; systemd.exec(5): those are read anew at each start."""
    kubelet, desired = inputs.kubelet, inputs.desired
    for path, variable, members in by_variable(find_overrides(kubelet, desired)):
        field = members[0].field
        reason = f"it beats {field.key}"
        keys = (field.key, field.flag, variable)
        before = ", ".join(each.flag.value or "" for each in members)
        name = " ".join(map(str, members))
        yield Change("kubelet flag", name, before, None, reason, _flag_impact(members[0], inputs), path, keys)
    for each in outdated_flags(kubelet, desired):
        reason = f"kubelet still runs with {each}, which its unit no longer gives it and which beats {each.field.key}"
        yield Change("kubelet", "process", str(each), "without the flag", reason, _flag_impact(each, inputs))


def _edits(inputs: PlanInputs) -> Iterator[Change]:
    place = inputs.kubelet_location
    if isinstance(place, Refusal):
        return
    found = tuple(_changes_of_files(inputs, place))
    yield from found
    yield from _plain_lines(inputs, found, place)
    yield from _flag_changes(inputs)


def _restart_only(facts: KubeletFacts) -> Iterator[Change]:
    """The file is as wanted, and the running kubelet may be older than it: running must equal desired."""
    newer = [each.path for each in (facts.config, *facts.dropins) if each.changed_after_start]
    if facts.running and newer:
        reason = f"{', '.join(newer)} changed after kubelet started; what runs may differ"
        yield Change("kubelet", "process", "older than its file", "restarted", reason, RESTART)


def _checkpoints_of_another_policy(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    """The file is as wanted, and kubelet would not start with the checkpoint that lies there (kubernetes#95041)."""
    for checkpoint, wanted in (
        (facts.checkpoint, profile.cpu_manager_policy),
        (facts.memory_checkpoint, profile.memory_manager_policy),
    ):
        if wanted and checkpoint and checkpoint.exists and checkpoint.policy != wanted:
            state = f"was made under policy {checkpoint.policy}" if checkpoint.policy else "cannot be read"
            reason = f"{checkpoint.path} {state}; kubelet does not start with it under {wanted}"
            yield Change("kubelet", "checkpoint", checkpoint.policy, wanted, reason, DISRUPTIVE)


def _merge_restarts(found: tuple[Change, ...]) -> tuple[Change, ...]:
    """A restart that brings what an earlier edit still lacks disturbs pods whichever change asks for it."""
    if all(change.path or Impact.DRAIN not in change.needs for change in found):
        return found
    return tuple(replace(change, needs=change.needs | DISRUPTIVE) for change in found)


def kubelet_changes(inputs: PlanInputs) -> tuple[Change, ...]:
    """Edits of kubelet's files, or what an earlier edit still lacks: the restart, another checkpoint."""
    if not inputs.desired:
        return ()
    edits = _merge_restarts(tuple(_edits(inputs)))
    kubelet = inputs.kubelet
    return edits or (*_restart_only(kubelet), *_checkpoints_of_another_policy(kubelet, inputs.profile))
