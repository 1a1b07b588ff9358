# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the profile asks for and this kubelet, or this node, cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....module_utils.cgroup.kubelet_names import Driver, cgroup_path
from ....module_utils.errors import ColocationError
from ...facts.node_allocatable import NotComputable, compute_reserved_memory
from ...facts.node_state import CgroupMode, NodeFacts
from ...findings.rules.memory_qos import SOUND_KERNEL
from ...findings.rules.reservations import lacking
from ...findings.rules.resource_managers import COMPRESSIBLE, COMPRESSIBLE_SINCE
from ...profile.kubelet_fields import CGROUP_ROOT, ENFORCE_NODE_ALLOCATABLE, FEATURE_GATES, OLDEST, RESERVED_MEMORY
from ...profile.node_profile import Desired
from ...profile.validators import AUTO
from ...releases.kubelet_gates import GATES, MEMORY_QOS
from ...releases.versions import Version, minor
from ..change_set import Refusal
from ..desired_state import settings_after
from ..draft import PlanDraft
from .model import Rule


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def _too_old(draft: PlanDraft) -> Iterator[Refusal]:
    """An unknown field is no error to kubelet, pkg/kubelet/kubeletconfig/util/codec: it warns and goes on without."""
    version = minor(draft.kubelet.version)
    for field in dict.fromkeys(field for field, _keys, _value in draft.desired):
        if version and version < field.since:
            yield Refusal(
                "kubelet-too-old-for-field",
                f"kubelet {draft.kubelet.version} has no {field.key}, which came with {_text(field.since)};"
                " it would take no notice of it",
                f"Take {field.option} out for this node, or upgrade kubelet first.",
                variable=field.option,
            )


def _newer_than_oldest(desired: Iterable[Desired]) -> Iterator[tuple[str, str, Version]]:
    """(option, what, first version) of all in the profile that some supported version does not have."""
    for field, keys, value in desired:
        if field.since > OLDEST:
            yield field.option, field.key, field.since
        if field is ENFORCE_NODE_ALLOCATABLE:
            yield from ((field.option, each, COMPRESSIBLE_SINCE) for each in value if each in COMPRESSIBLE)
        if field is FEATURE_GATES and keys[1] in GATES:
            yield field.option, keys[1], GATES[keys[1]].since


def _version_unknown(draft: PlanDraft) -> Iterator[Refusal]:
    if minor(draft.kubelet.version) is not None or not draft.kubelet.installed:
        return
    for option, what, since in dict.fromkeys(_newer_than_oldest(draft.desired)):
        yield Refusal(
            "kubelet-version-unknown",
            f"{what} came with kubelet {_text(since)}, and this kubelet does not tell its version",
            f"Take {option} out for this node, or see why kubelet --version does not answer.",
            variable=option,
        )


def _reserved_memory(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.profile.reserved_memory != AUTO:
        return
    try:
        compute_reserved_memory(settings_after(draft.kubelet.settings, draft.profile), draft.facts.cpus)
    except NotComputable as error:
        yield Refusal(
            "reserved-memory-not-computable",
            f"{RESERVED_MEMORY.key} cannot be computed: {error}",
            "Write the list yourself, numaNode and limits an entry.",
            variable="reserved_memory",
        )


def _memory_qos(draft: PlanDraft) -> Iterator[Refusal]:
    """pkg/kubelet/cm/qos_container_manager_linux.go: the gate does nothing on v1."""
    if not draft.profile.feature_gates.get(MEMORY_QOS):
        return
    if draft.facts.cgroup.mode in (CgroupMode.V1, CgroupMode.HYBRID):
        yield Refusal(
            "memory-qos-on-v1",
            f"the gate {MEMORY_QOS} does nothing on cgroup v1, in any version of kubelet: {draft.facts.cgroup.reason}",
            "Boot the node with cgroup v2, or take the gate out for it.",
            variable="feature_gates",
        )
    kernel = minor(draft.facts.kernel)
    if kernel and kernel < SOUND_KERNEL:
        yield Refusal(
            "memory-qos-on-old-kernel",
            f"kernel {draft.facts.kernel} may stall a pod for good in memory.high, which the gate {MEMORY_QOS} sets;"
            f" {_text(SOUND_KERNEL)} does not (KEP-2570)",
            "Upgrade the kernel, or take the gate out for this node.",
            variable="feature_gates",
        )


def _root_reasons(facts: NodeFacts, root: str, driver: Driver | None) -> Iterator[str]:
    """Why kubelet would not start with this root."""
    if driver is None or not root.strip("/"):
        return
    wrong = [part for part in root.split("/") if part.endswith(".slice")]
    if driver is Driver.SYSTEMD and wrong:
        plain = root.replace(".slice", "")
        yield f"{wrong[0]} would become {wrong[0]}.slice, for the systemd driver adds the ending: write {plain}"
        return
    try:
        path = cgroup_path(root, driver)
    except ColocationError as error:
        yield str(error)
        return
    yield from lacking(facts, path)


def _cgroup_root(draft: PlanDraft) -> Iterator[Refusal]:
    """pkg/kubelet/cm/container_manager_linux.go: cgroupRoot is parsed as a path under both drivers, and must exist."""
    driver = draft.profile.cgroup_driver or draft.kubelet.cgroup_driver
    root = draft.profile.cgroup_root
    if not root or CGROUP_ROOT.means(draft.kubelet.config.values.get(CGROUP_ROOT.key), root):
        return
    reasons = tuple(_root_reasons(draft.facts, root, driver))
    if reasons:
        yield Refusal(
            "cgroup-root-refused",
            f"no kubelet starts with cgroupRoot {root}: {'; '.join(reasons)}",
            "Make the cgroup first, as a persistent slice that is started before kubelet.service.",
            variable="cgroup_root",
        )


RULES: tuple[Rule, ...] = (_too_old, _version_unknown, _reserved_memory, _memory_qos, _cgroup_root)
