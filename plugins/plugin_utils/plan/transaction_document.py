# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transaction document: a plan in the form that the node's engine reads, with the Node for the health gate."""

from __future__ import annotations

import platform
import posixpath
import secrets
from datetime import datetime, timezone
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ...module_utils.errors import ColocationError
from ...module_utils.state.document_reader import require_absolute
from ...module_utils.state.plan_document import NODE_NAME
from ..facts.node_layout import RANCHER
from ..facts.node_state import DriverFacts, NodeFacts
from ..profile.kubelet_fields import CGROUP_DRIVER, CGROUP_ROOT
from ..profile.node_profile import Profile
from .change_set import Impact, Plan
from .containerd_changes import containerd_validation
from .crio_changes import crio_validation, drop_in
from .desired_state import drivers_after
from .file_edits import FileEdit
from .kubelet_impact import memory_policy_after, moved_checkpoints, policy_after
from .kubelet_location import flag_text, kubelet_unit, runtime_unit

KUBECONFIG = "--kubeconfig"
HOSTNAME_OVERRIDE = "--hostname-override"


def api_node_ref(facts: NodeFacts) -> dict[str, str] | None:
    """The Node's name and the path of kubelet's kubeconfig; None without a cluster, or if either is unknown.

    k8s.io/component-helpers node/util/hostname.go: the name is in lower case, without surrounding whitespace.
    """
    start = facts.kubelet.start
    flags = start.running or start.following or ()
    kubeconfig = flag_text(flags, KUBECONFIG) or _k3s_kubeconfig(facts)
    name = (flag_text(flags, HOSTNAME_OVERRIDE) or facts.hostname or "").strip().lower()
    if not kubeconfig or not NODE_NAME.match(name):
        return None
    try:
        return {"name": name, "kubeconfig": require_absolute(posixpath.normpath(kubeconfig), KUBECONFIG)}
    except ColocationError:
        # A relative path depends on the directory in which kubelet was started.
        return None


def _k3s_kubeconfig(facts: NodeFacts) -> str | None:
    """The kubeconfig of the kubelet inside k3s: pkg/agent/config/config.go. A custom --data-dir is not supported."""
    directory = RANCHER.get(facts.layout.kubelet_inside or "")
    return f"{directory}/kubelet.kubeconfig" if directory else None


SCHEMA = 1
PodTreeRoot = tuple[Driver | None, str]
"""kubelet's driver and its cgroupRoot."""


def new_id() -> str:
    """A name for one transaction, sortable by time with microseconds."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def service_action(plan: Plan, need: Impact) -> str:
    """The action for a service."""
    return "restart" if need in plan.needs else "leave"


def services(facts: NodeFacts, plan: Plan) -> dict[str, dict[str, str]]:
    """The units and their actions. If one unit runs both, restarting the runtime restarts kubelet too."""
    kubelet, runtime = kubelet_unit(facts), runtime_unit(facts)
    with_runtime = kubelet == runtime and Impact.RESTART_RUNTIME in plan.needs
    return {
        "kubelet": {
            "unit": kubelet,
            "action": "restart" if with_runtime else service_action(plan, Impact.RESTART_KUBELET),
        },
        "runtime": {"unit": runtime, "action": service_action(plan, Impact.RESTART_RUNTIME)},
    }


def files_only(summary: list[str], files: list[dict[str, Any]]) -> dict[str, Any]:
    """A new document that writes or removes files and restarts nothing: what every document has."""
    return {
        "schema": SCHEMA,
        "id": new_id(),
        "controller": platform.node() or None,
        "summary": summary,
        "files": files,
    }


def _written(plan: Plan, edits: tuple[FileEdit, ...]) -> dict[str, Any]:
    files = [
        {
            "path": edit.path,
            "before_sha256": edit.before_sha256,
            "after": edit.after,
            "mode": "0644",
            "section": edit.section,
        }
        for edit in edits
    ]
    return files_only([str(change) for change in plan.changes], files)


def _validation(facts: NodeFacts, plan: Plan, edits: tuple[FileEdit, ...]) -> list[dict[str, Any]]:
    """The runtime reads the new texts before anything stops, and must report the written values."""
    if facts.runtime.name == "cri-o":
        written = drop_in(facts.runtime) in {edit.path for edit in edits}
        return [crio_validation(facts.runtime, plan.changes)] if written else []
    return containerd_validation(facts.runtime, plan.changes, edits)


def _driver_after(facts: NodeFacts, plan: Plan, profile: Profile) -> DriverFacts:
    """The drivers after the plan is applied."""
    return facts.driver if plan.pending else drivers_after(facts, profile)


def pod_tree_root(facts: NodeFacts) -> PodTreeRoot:
    """The root of kubelet's pod cgroups."""
    setting = facts.kubelet.settings.get(CGROUP_ROOT.key)
    return facts.driver.kubelet, str(setting.value) if setting else "/"


def _tree_root_after(facts: NodeFacts, plan: Plan, profile: Profile) -> PodTreeRoot:
    """The root of kubelet's pod cgroups after the plan is applied."""
    driver, root = pod_tree_root(facts)
    changed = {change.keys[0] for change in plan.changes if change.keys}
    if {CGROUP_DRIVER.key, CGROUP_ROOT.key} & changed:
        driver = _driver_after(facts, plan, profile).kubelet
    return driver, (profile.cgroup_root if CGROUP_ROOT.key in changed else None) or root


def pod_trees(before: PodTreeRoot, after: PodTreeRoot) -> list[str]:
    """The pod cgroups before and after, one path if they are equal; empty if one is invalid."""
    try:
        return list(dict.fromkeys(KubeletTree(driver, root).pods() for driver, root in (before, after) if driver))
    except ColocationError:
        # kubelet does not start with this root, so it has no pod cgroups.
        return []


def moved_trees(before: PodTreeRoot, after: PodTreeRoot) -> tuple[list[str], list[str]]:
    """(stale, fresh) pod cgroups; both empty if they do not move."""
    trees = pod_trees(before, after)
    return (trees[:1], trees[1:]) if len(trees) > 1 else ([], [])


def _gate(facts: NodeFacts, plan: Plan, profile: Profile, timeout: int) -> dict[str, Any]:
    driver = _driver_after(facts, plan, profile).common
    policy = policy_after(facts, plan, profile)
    nri = profile.nri.enabled and facts.runtime.nri.supported
    path = facts.kubelet.checkpoint.path
    return {
        "timeout": timeout,
        "kubelet_healthz": facts.kubelet.healthz_url,
        "cri_endpoint": facts.runtime.endpoint,
        "runtime_handlers": {handler.name: driver is Driver.SYSTEMD for handler in facts.runtime.handlers if driver},
        "cpu_manager": {"path": path, "policy": policy} if policy else None,
        "memory_manager": _memory_manager(facts, plan, profile),
        "cgroup_driver": driver.value if driver else None,
        "nri_socket": profile.nri.settings.get("socket_path", facts.runtime.nri.socket_path) if nri else None,
        "pods": "return",
        "node": api_node_ref(facts),
    }


def _memory_manager(facts: NodeFacts, plan: Plan, profile: Profile) -> dict[str, str] | None:
    checkpoint, policy = facts.kubelet.memory_checkpoint, memory_policy_after(facts.kubelet, plan, profile)
    if checkpoint is None or policy is None or Impact.RESTART_KUBELET not in plan.needs:
        return None
    return {"path": checkpoint.path, "policy": policy}


def transaction_document(
    facts: NodeFacts, plan: Plan, profile: Profile, edits: tuple[FileEdit, ...], timeout: int
) -> dict[str, Any]:
    """The document for node_transaction: files, services, checkpoint, sandboxes and the gate."""
    before, after = pod_tree_root(facts), _tree_root_after(facts, plan, profile)
    stale, fresh = moved_trees(before, after)
    return {
        **_written(plan, edits),
        "validate": _validation(facts, plan, edits),
        "services": services(facts, plan),
        "checkpoints": moved_checkpoints(facts, plan, profile),
        "sandboxes": {
            "endpoint": facts.runtime.endpoint,
            "action": "stop" if Impact.DRAIN in plan.needs else "leave",
            "cgroups": pod_trees(before, after),
        },
        "stale_cgroups": stale,
        "fresh_cgroups": fresh,
        "gate": _gate(facts, plan, profile, timeout),
    }


def files_document(edits: tuple[FileEdit, ...], plan: Plan, facts: NodeFacts) -> dict[str, Any]:
    """A document that only writes files, for the modules that leave restarts to their caller."""
    leave = {"kubelet": kubelet_unit(facts), "runtime": runtime_unit(facts)}
    return {
        **_written(plan, edits),
        "validate": _validation(facts, plan, edits),
        "services": {side: {"unit": unit, "action": "leave"} for side, unit in leave.items()},
        "checkpoints": [],
        "sandboxes": {"endpoint": facts.runtime.endpoint, "action": "leave"},
        "stale_cgroups": [],
        "fresh_cgroups": [],
        "gate": None,
    }
