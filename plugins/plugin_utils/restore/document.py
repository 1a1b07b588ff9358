# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transaction that puts files back: the same engine, the same gate, the same roll-back as for aligning."""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.model import NodeFacts
from ..plan.checkpoints import moved_checkpoints
from ..plan.document import SCHEMA, Place, cgroup_root, new_id, pod_trees, services, trees
from ..plan.member import member
from ..plan.model import Change, Need, Plan
from .model import FILE_SECTIONS, Target
from .needs import REASON, agreed, profile_of
from .plan import Files


def restore_document(files: Files, timeout: int) -> dict[str, Any]:
    """The document for node_transaction."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "id": new_id(),
        "controller": platform.node() or None,
        "summary": [f"put back {each.path}" for each in files.edits],
        "files": [_file(each) for each in files.edits],
        "forget": list(files.forget),
    }
    if files.before is None or files.after is None or files.before.image:
        return document
    return {**document, **_services(files, files.before, files.after, timeout)}


def _file(target: Target) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": target.path,
        "before_sha256": target.found.sha256 if target.found else None,
        "section": target.section,
    }
    if target.original is None:
        return {**entry, "remove": True}
    return {**entry, "after": target.original.text, "mode": target.original.mode, "nature": target.original.attributes}


def _services(files: Files, before: NodeFacts, after: NodeFacts, timeout: int) -> dict[str, Any]:
    plan = _plan(files)
    if not plan.needs:
        return {}
    units = services(before, plan)
    checkpoints = moved_checkpoints(before, plan, profile_of(after))
    moves = (_place(before), _place(after))
    stale, fresh = trees(*moves) if Need.DRAIN in plan.needs else ([], [])
    return {
        "services": {
            "kubelet": units["kubelet"] if before.kubelet.running or Need.RESTART_KUBELET in plan.needs else None,
            "runtime": units["runtime"],
        },
        "checkpoints": checkpoints,
        "sandboxes": {
            "endpoint": before.runtime.endpoint,
            "action": "stop" if Need.DRAIN in plan.needs else "leave",
            "cgroups": pod_trees(*moves),
        },
        "stale_cgroups": stale,
        "fresh_cgroups": fresh,
        "gate": _gate(plan, before, after, timeout),
    }


def _place(facts: NodeFacts) -> Place:
    return facts.kubelet.cgroup_driver, cgroup_root(facts.kubelet)


def _plan(files: Files) -> Plan:
    """The plan as checkpoints and services are told from it."""
    sides = [Change(section, "files", None, None, REASON, files.of(section)) for section in FILE_SECTIONS]
    # What they take is among the needs of their files.
    settings = [replace(each, needs=frozenset()) for each in files.settings]
    return Plan(changes=(*sides, *settings))


def _gate(plan: Plan, before: NodeFacts, after: NodeFacts, timeout: int) -> dict[str, Any]:
    """Where the node was misaligned, as it is to be again, pods cannot be asked for."""
    driver = agreed(after)
    restarts = Need.RESTART_KUBELET in plan.needs
    policy = after.kubelet.cpu_manager_policy if restarts and before.kubelet.checkpoint.exists else None
    nri = after.runtime.nri
    listens = nri.configured and nri.supported and before.runtime.running
    return {
        "timeout": timeout,
        "kubelet_healthz": after.kubelet.healthz_url if restarts or before.kubelet.healthy else None,
        "cri_endpoint": before.runtime.endpoint,
        "runtime_handlers": {
            each.name: each.configured is Driver.SYSTEMD
            for each in after.runtime.handlers
            if each.running is not None and each.configured is not None
        },
        "cpu_manager": {"path": before.kubelet.checkpoint.path, "policy": policy} if policy else None,
        "cgroup_driver": driver.value if driver else None,
        "nri_socket": nri.socket_path if listens and nri.socket_path.startswith("/") else None,
        "pods": "return" if driver else "any",
        "node": member(before) if before.kubelet.running else None,
    }
