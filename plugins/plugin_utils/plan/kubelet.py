# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a kubelet and the profile."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.config import nested
from ..facts.model import KubeletFacts, NodeFacts
from ..profile import Profile
from ..versions import minor
from .kubelet_after import desired_fields
from .kubelet_compare import default_in_force, is_default, same
from .kubelet_needs import DISRUPTIVE, RESTART, needs
from .model import Change


def _edits(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    version = minor(facts.version)
    for setting, keys, wanted in desired_fields(profile):
        found = nested(facts.config.values, keys)
        if same(setting, found, wanted) or default_in_force(setting, found, wanted, version):
            continue
        explicit = found is None and is_default(setting, wanted, version)
        needed = RESTART if explicit else needs(keys, facts, profile)
        yield Change(
            "kubelet", ".".join(keys), found, wanted, "differs from the profile", needed, facts.config.path, keys
        )


def _restart_only(facts: KubeletFacts) -> Iterator[Change]:
    """The file is as wanted, and the running kubelet may be older than it: running must equal desired."""
    if facts.running and facts.config.changed_after_start:
        reason = f"{facts.config.path} changed after kubelet started; what runs may differ"
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


def kubelet_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of kubelet's file, or what an earlier edit still lacks: the restart, another checkpoint.

    The profile is the node's own, as ``kubelet_after.resolved`` makes it.
    """
    if not any(True for _each in desired_fields(profile)):
        return ()
    edits = tuple(_edits(facts.kubelet, profile))
    return edits or (*_restart_only(facts.kubelet), *_checkpoints_of_another_policy(facts.kubelet, profile))
