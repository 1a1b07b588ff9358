# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the first boot of an image does with its files; preparing the image does not test it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.quantity import format_cpu_list
from ..facts.containerd_layers import declared_handlers, systemd_cgroup_option
from ..facts.kubelet_layers import render_value
from ..facts.kubelet_state import Checkpoint, Setting
from ..facts.node_layout import RANCHER
from ..facts.node_state import NodeFacts
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    ENFORCE_NODE_ALLOCATABLE,
    KUBE_RESERVED_CGROUP,
    MEMORY_MANAGER_POLICY,
    SYSTEM_RESERVED_CGROUP,
    TOPOLOGY_MANAGER_POLICY,
)
from ..releases.containerd_schema import DEFAULT_HANDLER
from .change_set import Change
from .containerd_changes import nri_values
from .crio_changes import TARGET as CRIO
from .crio_changes import desired_settings as crio_settings
from .desired_state import settings_after
from .draft import PlanDraft
from .kubelet_location import ConfigLocation

REPORTED_FIELDS = (CGROUP_DRIVER, CPU_MANAGER_POLICY, TOPOLOGY_MANAGER_POLICY, MEMORY_MANAGER_POLICY)
STATIC_POLICIES = {CPU_MANAGER_POLICY: "static", MEMORY_MANAGER_POLICY: "Static"}
"""The policies whose checkpoints contain resources of the machine."""
RESERVED = (("system-reserved", SYSTEM_RESERVED_CGROUP), ("kube-reserved", KUBE_RESERVED_CGROUP))


@dataclass(frozen=True)
class FirstBoot:
    """``lines`` in the order of the boot; ``warnings`` are the lines that keep kubelet from starting."""

    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def kubelet_first_boot(draft: PlanDraft, changes: Sequence[Change]) -> FirstBoot:
    """The first boot of an image with this profile for kubelet; the profile already covers ``changes``."""
    facts, location = draft.facts, draft.kubelet_location
    after = settings_after(facts.kubelet.settings, draft.profile)
    files = ", ".join(location.paths) if isinstance(location, ConfigLocation) else facts.kubelet.config.path
    refused = tuple(line for line in _start_failures(facts, after) if line)
    lines = (*_slices(after), f"{_kubelet_unit(facts)} starts kubelet with {_reported_values(after)} ({files})")
    return FirstBoot((*lines, *refused, *_checkpoints(facts, after)), refused)


def _kubelet_unit(facts: NodeFacts) -> str:
    return facts.layout.name if facts.layout.name in RANCHER else "kubelet.service"


def _text(after: Mapping[str, Setting], field: KubeletField) -> str | None:
    return render_value(after[field.key].value) if field.key in after else None


def _reported_values(after: Mapping[str, Setting]) -> str:
    values = {field.key: _text(after, field) for field in REPORTED_FIELDS}
    return ", ".join(f"{key} {word}" for key, word in values.items() if word) or "its defaults"


def _slices(after: Mapping[str, Setting]) -> Iterator[str]:
    """kubelet requires these cgroups at its start and never creates them: validateNodeAllocatable."""
    enforced = after[ENFORCE_NODE_ALLOCATABLE.key].value if ENFORCE_NODE_ALLOCATABLE.key in after else None
    words = (
        {str(word).removesuffix("-compressible") for word in enforced or ()} if isinstance(enforced, list) else set()
    )
    for word, field in RESERVED:
        named = _text(after, field)
        if named and word in words:
            yield f"{named} ({field.key}) must exist before kubelet starts; create it in the image with systemd_slice"


def _managers(facts: NodeFacts) -> tuple[tuple[KubeletField, Checkpoint | None], ...]:
    return (
        (CPU_MANAGER_POLICY, facts.kubelet.checkpoint),
        (MEMORY_MANAGER_POLICY, facts.kubelet.memory_checkpoint),
    )


def _start_failures(facts: NodeFacts, after: Mapping[str, Setting]) -> Iterator[str]:
    """kubelet does not start with a checkpoint of another policy: pkg/kubelet/cm/{cpumanager,memorymanager}/state."""
    for field, checkpoint in _managers(facts):
        policy = _text(after, field)
        if checkpoint is None or not checkpoint.exists:
            continue
        if checkpoint.policy is None:
            yield f"kubelet does not start: {checkpoint.path} in the image cannot be read; delete it there"
        elif policy and checkpoint.policy != policy:
            yield (
                f"kubelet does not start: {checkpoint.path} in the image was made under {checkpoint.policy}, and"
                f" {field.key} is {policy}; delete it there"
            )


def _checkpoints(facts: NodeFacts, after: Mapping[str, Setting]) -> Iterator[str]:
    for field, checkpoint in _managers(facts):
        policy = _text(after, field)
        if checkpoint is None or policy is None:
            continue
        if not checkpoint.exists:
            yield f"kubelet makes {checkpoint.path} for {field.key} {policy}"
        elif checkpoint.policy == policy == STATIC_POLICIES[field]:
            of = f" (CPUs {format_cpu_list(checkpoint.cpus)})" if checkpoint.cpus else ""
            yield (
                f"kubelet takes over {checkpoint.path} of the machine that made it{of}, and does not start on another"
                " kind; delete it from the image"
            )


def containerd_first_boot(draft: PlanDraft, changes: Sequence[Change]) -> FirstBoot:
    after = draft.containerd_after
    tables: dict[str, Any] = {DEFAULT_HANDLER: {}, **declared_handlers(after.cri)}
    known = [handler.name for handler in draft.runtime.handlers] or [DEFAULT_HANDLER]
    words = [f"{name} {_driver(systemd_cgroup_option(tables.get(name)))}" for name in known]
    files = ", ".join(config.path for config in after.files)
    lines = [f"containerd.service starts containerd with the cgroup driver {', '.join(words)} ({files})"]
    disabled = nri_values(after).get("disable")
    if isinstance(disabled, bool):
        lines.append(f"NRI is {'off' if disabled else 'on'}")
    else:
        lines.append("NRI is on with containerd 2.0 and newer, off before")
    return FirstBoot(tuple(lines))


def _driver(word: Any) -> str:
    return (Driver.SYSTEMD if word is True else Driver.CGROUPFS).value


def crio_first_boot(draft: PlanDraft, changes: Sequence[Change]) -> FirstBoot:
    desired = {".".join(setting.keys): setting.desired for setting in crio_settings(draft.facts, draft.profile)}
    written = next((change.path for change in changes if change.target == CRIO and change.path), None)
    origin = f" ({written})" if written else ""
    listed = ", ".join(f"{name} {value}" for name, value in desired.items()) or "its files as they are"
    return FirstBoot((f"crio.service starts CRI-O with {listed}{origin}",))
