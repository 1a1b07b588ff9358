# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a restore: its transaction, the order of its phases, and its redacted result.

Settings come first, while their cgroups exist; then files; slices come last, because kubelet's file may name them until
it is restored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.node_state import NodeFacts
from ..node.transport import Node, NodeFailure
from ..plan.change_set import Change, Impact, Plan
from ..plan.kubelet_impact import moved_checkpoints
from ..plan.transaction_document import (
    api_node_ref,
    files_only,
    moved_trees,
    pod_tree_root,
    pod_trees,
    services,
)
from ..report.plan_result import failure_message
from ..report.redact import redact_text
from .ledger_evidence import FILE_SECTIONS, QOS, SLICES, Conflict, Evidence, Target
from .ledger_plan import FileRestores, RestorePlan
from .node_preview import REASON, profile_of


def restore_document(files: FileRestores, timeout: int) -> dict[str, Any]:
    """The document for node_transaction."""
    document: dict[str, Any] = {
        **files_only([f"restore {target.path}" for target in files.edits], [_file(target) for target in files.edits]),
        "forget": list(files.forget),
    }
    if files.before is None or files.after is None or files.before.image:
        return document
    return {**document, **_services(files, files.before, files.after, timeout)}


def _file(target: Target) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": target.path,
        "before_sha256": target.current.sha256 if target.current else None,
        "section": target.section,
    }
    if target.original is None:
        return {**entry, "remove": True}
    return {**entry, "after": target.original.text, "mode": target.original.mode, "nature": target.original.attributes}


def _services(files: FileRestores, before: NodeFacts, after: NodeFacts, timeout: int) -> dict[str, Any]:
    plan = _plan(files)
    if not plan.needs:
        return {}
    units = services(before, plan)
    checkpoints = moved_checkpoints(before, plan, profile_of(after))
    moves = (pod_tree_root(before), pod_tree_root(after))
    stale, fresh = moved_trees(*moves) if Impact.DRAIN in plan.needs else ([], [])
    return {
        "services": {
            "kubelet": units["kubelet"] if before.kubelet.running or Impact.RESTART_KUBELET in plan.needs else None,
            "runtime": units["runtime"],
        },
        "checkpoints": checkpoints,
        "sandboxes": {
            "endpoint": before.runtime.endpoint,
            "action": "stop" if Impact.DRAIN in plan.needs else "leave",
            "cgroups": pod_trees(*moves),
        },
        "stale_cgroups": stale,
        "fresh_cgroups": fresh,
        "gate": _gate(plan, before, after, timeout),
    }


def _plan(files: FileRestores) -> Plan:
    """A plan from which checkpoints and services are derived."""
    files_changes = [Change(section, "files", None, None, REASON, files.of(section)) for section in FILE_SECTIONS]
    # Their impact is part of the impact of their files.
    settings = [replace(change, needs=frozenset()) for change in files.settings]
    return Plan(changes=(*files_changes, *settings))


def _gate(plan: Plan, before: NodeFacts, after: NodeFacts, timeout: int) -> dict[str, Any]:
    """The health gate; if the restored node is misaligned, it does not require the pods to return."""
    driver = after.driver.common
    restarts = Impact.RESTART_KUBELET in plan.needs
    policy = after.kubelet.cpu_manager_policy if restarts and before.kubelet.checkpoint.exists else None
    nri = after.runtime.nri
    listens = nri.configured and nri.supported and before.runtime.running
    return {
        "timeout": timeout,
        "kubelet_healthz": after.kubelet.healthz_url if restarts or before.kubelet.healthy else None,
        "cri_endpoint": before.runtime.endpoint,
        "runtime_handlers": {
            handler.name: handler.configured is Driver.SYSTEMD
            for handler in after.runtime.handlers
            if handler.running is not None and handler.configured is not None
        },
        "cpu_manager": {"path": before.kubelet.checkpoint.path, "policy": policy} if policy else None,
        "cgroup_driver": driver.value if driver else None,
        "nri_socket": nri.socket_path if listens and nri.socket_path.startswith("/") else None,
        "pods": "return" if driver else "any",
        "node": api_node_ref(before) if before.kubelet.running else None,
    }


UNTOUCHED = ("refused", "rolled-back")

Progress = Callable[[Mapping[str, Any]], None]


def apply_restore(node: Node, restore: RestorePlan, timeout: int, progress: Progress) -> dict[str, Any]:
    """Apply the phases; returns the result without the plan. After a failed phase, the earlier ones stay applied."""
    done: list[str] = []
    result: dict[str, Any] = {}
    try:
        if QOS in restore.sections:
            node.restore_sections([QOS], clean=False)
            done.append(QOS)
        if restore.files.edits or restore.files.forget:
            transaction = node.transact(restore_document(restore.files, timeout), progress)
            result["transaction"] = transaction
            if transaction["state"] != "committed":
                touched = transaction["state"] not in UNTOUCHED
                return {**result, **_failure_result(failure_message(transaction), done, touched=touched)}
            done += dict.fromkeys(target.section for target in restore.files.edits)
        last = [section for section in (SLICES,) if section in restore.sections]
        if last or (restore.clean and restore.changes):
            node.restore_sections(last, clean=restore.clean)
    except NodeFailure as failure:
        return {**failure.result, **result, **_failure_result(str(failure), done, touched=False)}
    return result


def check_restore(node: Node, restore: RestorePlan, timeout: int) -> dict[str, Any]:
    """The result of check mode without the plan: why the transaction of the files would be refused."""
    if not restore.files.edits and not restore.files.forget:
        return {}
    transaction = node.check(restore_document(restore.files, timeout))
    if transaction["state"] not in UNTOUCHED:
        return {}
    return {"transaction": transaction, **_failure_result(failure_message(transaction), (), touched=False)}


def _failure_result(message: str, done: Sequence[str], *, touched: bool) -> dict[str, Any]:
    """The result of a failure; sections in ``done`` stay restored, and the next run continues after them."""
    if done:
        message = f"{message.rstrip('.')}. Sections that were restored before, and stay so: {', '.join(done)}."
    return {"failed": True, "changed": touched or bool(done), "diff": [], "msg": message}


NOTHING = "Nothing was changed"


def render_diffs(evidence: Evidence, restore: RestorePlan) -> list[dict[str, str]]:
    """Ansible's diff entries: files, slices, settings."""
    return [_redact_entry(entry) for entry in _entries(evidence, restore)]


def _entries(evidence: Evidence, restore: RestorePlan) -> Iterator[dict[str, str]]:
    if QOS in restore.sections and evidence.qos["before"] != evidence.qos["after"]:
        yield _entry("QoS settings", evidence.qos["before"], evidence.qos["after"])
    for target in restore.files.edits:
        before = target.current.text if target.current else ""
        yield _entry(target.path, before, target.original.text if target.original else "")
    if SLICES in restore.sections:
        for slice_ in evidence.slices["slices"]:
            yield from slice_["diff"]
        for stray in evidence.slices["strays"]:
            yield _entry(stray["path"], stray["text"], "")


def _entry(name: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": name, "after_header": name, "before": before, "after": after}


def _redact_entry(entry: Mapping[str, str]) -> dict[str, str]:
    return {**entry, "before": redact_text(entry["before"]), "after": redact_text(entry["after"])}


def restore_result(restore: RestorePlan) -> dict[str, Any]:
    """The result without ``changed`` and ``diff``."""
    return {
        "changes": [change.to_result() for change in restore.changes],
        "pending": [change.to_result() for change in restore.pending],
        "conflicts": [_conflict(conflict) for conflict in restore.conflicts],
        "permission": _conflict(restore.permission) if restore.permission else None,
        "notes": list(restore.notes),
    }


def _conflict(conflict: Conflict) -> dict[str, str]:
    return {
        "section": conflict.section,
        "target": conflict.target,
        "reason": conflict.reason,
        "remedy": conflict.remedy,
        "diff": conflict.diff,
    }


def conflict_message(restore: RestorePlan) -> str:
    """One message with everything that prevents the restore; each conflict has its diff."""
    reasons = [str(obstacle) for obstacle in restore.obstacles]
    if len(reasons) == 1:
        return f"{NOTHING}. {reasons[0]}"
    return "\n".join([f"{NOTHING}, for {len(reasons)} reasons:", *(f"- {reason}" for reason in reasons)])
