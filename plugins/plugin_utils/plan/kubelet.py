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
from ..kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, READ_ONLY_PORT, KubeletField, Version
from ..profile import Profile
from ..versions import minor
from .kubelet_after import desired_fields
from .kubelet_compare import is_default, same
from .kubelet_flags import Override, by_variable, entry, no_longer_given, overrides
from .kubelet_needs import DISRUPTIVE, RESTART, needs
from .kubelet_place import Place, Strategy, choose, document_in_force, reads_main
from .model import Change, Need, Refusal

DIFFERS = "differs from the profile"


def is_right(setting: KubeletField, found: Any, wanted: Any, version: Version | None) -> bool:
    """Whether a field that is merged of all files is as wanted."""
    return same(setting, found, wanted) or (found is None and is_default(setting, wanted, version))


def reads_no_file(facts: NodeFacts) -> bool:
    """Whether a kubelet of its own has no main file, and other defaults therefore."""
    return not facts.layout.kubelet_inside and not reads_main(facts.kubelet)


def _changes_of_files(facts: NodeFacts, profile: Profile, place: Place) -> Iterator[Change]:
    """What the files lack: where settings go, then the main file that agents parse."""
    whole = document_in_force(facts.kubelet)
    own, version = facts.kubelet.config.values, minor(facts.kubelet.version)
    for setting, keys, wanted in desired_fields(profile):
        name, now = ".".join(keys), nested(whole, keys)
        right = is_right(setting, now, wanted, version)
        if setting is READ_ONLY_PORT and now is None and reads_no_file(facts):
            right = shown(wanted) == LEGACY_PORT
        running = right or _by_running_flag(facts.kubelet, setting, keys, wanted)
        needed = RESTART if running else needs(keys, facts.kubelet, profile)
        if not right:
            yield Change("kubelet", name, now, wanted, DIFFERS, needed, place.path, keys)
        parsed = setting.key in AGENT_KEYS and place.main is not None and (right or place.path != place.main)
        if parsed and not same(setting, nested(own, keys), wanted):
            reason = DIFFERS if place.path == place.main else "agents read the main file, not drop-ins"
            yield Change("kubelet", name, nested(own, keys), wanted, reason, needed, place.main, keys)


def _plain_lines(kubelet: KubeletFacts, profile: Profile, found: tuple[Change, ...], place: Place) -> Iterator[Change]:
    """The main file is written, or exists for agents only: then no quotes or comment hide these lines from them."""
    if place.main is None or (place.path == place.main and not found):
        return
    odd = {CGROUP_DRIVER.key: kubelet.odd_driver_line, CPU_MANAGER_POLICY.key: kubelet.odd_policy_line}
    along = [change for change in found if change.path == place.main]
    written = {change.keys for change in along}
    # It comes with what is written anyway, and is no reason for a restart that disturbs less.
    needed = RESTART.union(*(change.needs for change in along))
    for _setting, keys, wanted in desired_fields(profile):
        if odd.get(keys[0]) is not None and keys not in written:
            reason = "agents that look for the plain line do not see it"
            before = f"{wanted} with quotes or a comment"
            yield Change("kubelet", keys[0], before, wanted, reason, needed, place.main, keys)


def _by_running_flag(facts: KubeletFacts, setting: KubeletField, keys: tuple[str, ...], wanted: Any) -> bool:
    """Whether a flag gives the running kubelet what the files do not: then nothing changes for its pods."""
    flags = tuple(flag for flag in facts.start.running if flag.name == setting.flag)
    said = entry(setting, flags, keys)
    return said is not None and (shown(said) == shown(wanted) or same(setting, said, wanted))


def _flag_needs(override: Override, facts: KubeletFacts, profile: Profile) -> frozenset[Need]:
    """What it takes to be rid of a flag that kubelet runs with; nothing where it runs without."""
    if all(flag.name != override.field.flag for flag in facts.start.running):
        return frozenset()
    changing = [
        needs(keys, facts, profile)
        for setting, keys, wanted in desired_fields(profile)
        if setting is override.field and not _by_running_flag(facts, setting, keys, wanted)
    ]
    return RESTART.union(*changing)


def _flag_changes(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    """Deprecated flags out of their environment files; systemd.exec(5): those are read anew at each start."""
    desired = tuple(desired_fields(profile))
    for path, variable, members in by_variable(overrides(facts, desired)):
        field = members[0].field
        reason = f"it beats {field.key}"
        keys = (field.key, field.flag, variable)
        before = ", ".join(each.flag.value or "" for each in members)
        name = " ".join(map(str, members))
        yield Change("kubelet flag", name, before, None, reason, _flag_needs(members[0], facts, profile), path, keys)
    for each in no_longer_given(facts, desired):
        reason = f"kubelet still runs with {each}, which its unit no longer gives it and which beats {each.field.key}"
        yield Change("kubelet", "process", str(each), "without the flag", reason, _flag_needs(each, facts, profile))


def _edits(facts: NodeFacts, profile: Profile) -> Iterator[Change]:
    place = choose(facts, Strategy(profile.kubelet_strategy))
    if isinstance(place, Refusal):
        return
    found = tuple(_changes_of_files(facts, profile, place))
    yield from found
    yield from _plain_lines(facts.kubelet, profile, found, place)
    yield from _flag_changes(facts.kubelet, profile)


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


def kubelet_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of kubelet's files, or what an earlier edit still lacks: the restart, another checkpoint.

    The profile is the node's own, as ``kubelet_after.resolved`` makes it.
    """
    if not any(True for _each in desired_fields(profile)):
        return ()
    edits = _as_one_restart(tuple(_edits(facts, profile)))
    return edits or (*_restart_only(facts.kubelet), *_checkpoints_of_another_policy(facts.kubelet, profile))
