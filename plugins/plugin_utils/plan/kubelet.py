# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a kubelet and the profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..edit.kubelet_file import AGENT_KEYS
from ..facts.config import nested
from ..facts.kubelet_layers import LEGACY_PORT, shown
from ..facts.model import KubeletFacts, NodeFacts
from ..kubelet_field_model import KubeletField
from ..kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, READ_ONLY_PORT
from ..profile import Profile
from ..versions import Version, minor
from .inputs import PlanInputs
from .kubelet_flags import Override, by_variable, entry, no_longer_given, overrides
from .kubelet_needs import DISRUPTIVE, RESTART, needs
from .kubelet_place import Place, reads_main
from .model import Change, Need, Refusal

DIFFERS = "differs from the profile"


def is_right(setting: KubeletField, found: Any, wanted: Any, version: Version | None) -> bool:
    """Whether a field that is merged of all files is as wanted."""
    return setting.means(found, wanted) or (found is None and _is_default(setting, wanted, version))


def _is_default(setting: KubeletField, wanted: Any, version: Version | None) -> bool:
    """Whether the wanted value holds where the field is not set, now and after an upgrade."""
    return not setting.later and shown(wanted) == setting.default_in(version)


def reads_no_file(facts: NodeFacts) -> bool:
    """Whether a kubelet of its own has no main file, and other defaults therefore."""
    return not facts.layout.kubelet_inside and not reads_main(facts.kubelet)


def _changes_of_files(inputs: PlanInputs, place: Place) -> Iterator[Change]:
    """What the files lack: where settings go, then the main file that agents parse."""
    kubelet, whole = inputs.kubelet, inputs.kubelet_document
    own, version = kubelet.config.values, minor(kubelet.version)
    for setting, keys, wanted in inputs.desired:
        name, now = ".".join(keys), nested(whole, keys)
        right = is_right(setting, now, wanted, version)
        if setting is READ_ONLY_PORT and now is None and reads_no_file(inputs.facts):
            right = shown(wanted) == LEGACY_PORT
        running = right or _by_running_flag(kubelet, setting, keys, wanted)
        needed = RESTART if running else needs(keys, kubelet, inputs.profile)
        if not right:
            yield Change("kubelet", name, now, wanted, DIFFERS, needed, place.path, keys)
        parsed = setting.key in AGENT_KEYS and place.main is not None and (right or place.path != place.main)
        if parsed and not setting.means(nested(own, keys), wanted):
            reason = DIFFERS if place.path == place.main else "agents read the main file, not drop-ins"
            yield Change("kubelet", name, nested(own, keys), wanted, reason, needed, place.main, keys)


def _plain_lines(inputs: PlanInputs, found: tuple[Change, ...], place: Place) -> Iterator[Change]:
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
    said = entry(setting, flags, keys)
    return said is not None and (shown(said) == shown(wanted) or setting.means(said, wanted))


def _flag_needs(override: Override, inputs: PlanInputs) -> frozenset[Need]:
    """What it takes to be rid of a flag that kubelet runs with; nothing where it runs without."""
    if all(flag.name != override.field.flag for flag in inputs.kubelet.start.running):
        return frozenset()
    changing = [
        needs(keys, inputs.kubelet, inputs.profile)
        for setting, keys, wanted in inputs.desired
        if setting is override.field and not _by_running_flag(inputs.kubelet, setting, keys, wanted)
    ]
    return RESTART.union(*changing)


def _flag_changes(inputs: PlanInputs) -> Iterator[Change]:
    """Deprecated flags out of their environment files; systemd.exec(5): those are read anew at each start."""
    kubelet, desired = inputs.kubelet, inputs.desired
    for path, variable, members in by_variable(overrides(kubelet, desired)):
        field = members[0].field
        reason = f"it beats {field.key}"
        keys = (field.key, field.flag, variable)
        before = ", ".join(each.flag.value or "" for each in members)
        name = " ".join(map(str, members))
        yield Change("kubelet flag", name, before, None, reason, _flag_needs(members[0], inputs), path, keys)
    for each in no_longer_given(kubelet, desired):
        reason = f"kubelet still runs with {each}, which its unit no longer gives it and which beats {each.field.key}"
        yield Change("kubelet", "process", str(each), "without the flag", reason, _flag_needs(each, inputs))


def _edits(inputs: PlanInputs) -> Iterator[Change]:
    place = inputs.kubelet_place
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


def _as_one_restart(found: tuple[Change, ...]) -> tuple[Change, ...]:
    """A restart that brings what an earlier edit still lacks disturbs pods whichever change asks for it."""
    if all(change.path or Need.DRAIN not in change.needs for change in found):
        return found
    return tuple(replace(change, needs=change.needs | DISRUPTIVE) for change in found)


def kubelet_changes(inputs: PlanInputs) -> tuple[Change, ...]:
    """Edits of kubelet's files, or what an earlier edit still lacks: the restart, another checkpoint."""
    if not inputs.desired:
        return ()
    edits = _as_one_restart(tuple(_edits(inputs)))
    kubelet = inputs.kubelet
    return edits or (*_restart_only(kubelet), *_checkpoints_of_another_policy(kubelet, inputs.profile))
