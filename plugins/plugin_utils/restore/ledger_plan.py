# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans a restore from the evidence: changes and conflicts, for check mode, diff and the real run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...module_utils.cgroup.kubelet_names import slice_of
from ...module_utils.state.store import STATE_DIRECTORY
from ..facts.interpreter import interpret
from ..facts.kubelet_state import KubeletFacts, Setting
from ..facts.node_state import NodeFacts
from ..node.concurrent_edits import redacted_difference
from ..plan.change_set import Change as SettingChange
from ..plan.change_set import Impact
from ..profile.kubelet_fields import CGROUP_ROOT, ENFORCE_NODE_ALLOCATABLE, KUBE_RESERVED_CGROUP, SYSTEM_RESERVED_CGROUP
from .ledger_evidence import (
    FILE_SECTIONS,
    KUBELET,
    QOS,
    RUNTIME,
    SECTIONS,
    SLICES,
    SYSCTL,
    Conflict,
    Content,
    Evidence,
    FileStatus,
    RestoreChange,
    Target,
)
from .node_preview import kubelet_impact, preview_facts, runtime_impact, settings_changes

FORGET = f"remove its entry from {STATE_DIRECTORY}/ledger.json"


def find_conflicts(evidence: Evidence, sections: Collection[str]) -> tuple[Conflict, ...]:
    """All conflicts of the selected sections, in order."""
    conflicts = [
        conflict for target in evidence.targets if target.section in sections for conflict in _target_conflicts(target)
    ]
    if SLICES in sections:
        for slice_ in evidence.slices["slices"]:
            if slice_["error"]:
                conflicts.append(Conflict(SLICES, slice_["name"], slice_["error"], _without(SLICES)))
    if QOS in sections and evidence.qos["error"]:
        conflicts.append(Conflict(QOS, "the record", evidence.qos["error"], _without(QOS)))
    return tuple(conflicts)


def _without(section: str) -> str:
    other_sections = [name for name in (*FILE_SECTIONS, SLICES, QOS) if name != section]
    return f"You can restore the other sections ({', '.join(other_sections)}) by selecting them"


def _target_conflicts(target: Target) -> Iterator[Conflict]:
    section, path = target.section, target.path
    if target.error:
        yield Conflict(section, path, target.error, _without(section))
    elif target.earlier:
        names = ", ".join(transaction.id for transaction in target.earlier)
        backups = ", ".join(transaction.backups for transaction in target.earlier)
        reason = (
            f"{names} changed it and is not in the ledger (there was none, or the roll-back failed),"
            " so its original is unknown"
        )
        yield Conflict(
            section,
            path,
            reason,
            f"Compare it with {backups}, restore what you need by hand, then {FORGET}. {_without(section)}",
        )
    elif target.status is FileStatus.FOREIGN and not target.checkpoint:
        yield _foreign(target)


def _foreign(target: Target) -> Conflict:
    """The conflict of a foreign change, which is never overwritten; the remedy lists the options."""
    undo = f"remove {target.path}"
    if target.original is not None:
        undo = f"copy {target.original_file} over it, including its mode"
    return Conflict(
        target.section,
        target.path,
        f"{_describe_change(target.committed, target.current)} by someone else since transaction {target.last}",
        f"Undo that change, or {undo}, or {FORGET} to keep it; then run this again. {_without(target.section)}",
        redacted_difference(
            target.committed.text if target.committed else None,
            target.current.text if target.current else None,
            f"{target.path} as {target.last} left it",
            f"{target.path} now",
        ),
    )


def _describe_change(committed: Content | None, current: Content | None) -> str:
    if current is None:
        return "it was removed"
    if committed is None:
        return "it was created again"
    parts = ["it was changed"] if committed.text != current.text else []
    for name, one, other in (
        ("mode", committed.mode, current.mode),
        ("owner", committed.owner, current.owner),
        ("attributes", committed.xattrs, current.xattrs),
    ):
        if one != other:
            values = "" if name == "attributes" else f" from {one} to {other}"
            parts.append(f"its {name} {'were' if name == 'attributes' else 'was'} changed{values}")
    return ", ".join(parts)


NAMES_A_SLICE = {
    KUBE_RESERVED_CGROUP.key: "kube-reserved",
    SYSTEM_RESERVED_CGROUP.key: "system-reserved",
    CGROUP_ROOT.key: "",
}
"""Fields that name a cgroup, with the value of enforceNodeAllocatable that makes kubelet require it."""
UNIT_DIRECTORY = "/etc/systemd/system"
COLLECTION_SECTION = "collection"
"""The section of the collection's own files on the node."""


@dataclass(frozen=True)
class FileRestores:
    """The files to restore, and the facts before and after. ``needs``: impact by section.

    ``forget``: other targets that leave the ledger.
    """

    edits: tuple[Target, ...] = ()
    forget: tuple[str, ...] = ()
    before: NodeFacts | None = None
    after: NodeFacts | None = None
    settings: tuple[SettingChange, ...] = ()
    needs: tuple[tuple[str, frozenset[Impact]], ...] = ()

    def of(self, section: str) -> frozenset[Impact]:
        return dict(self.needs).get(section, frozenset())

    @property
    def disruptive(self) -> tuple[str, ...]:
        return tuple(section for section, needs in self.needs if Impact.DRAIN in needs)


@dataclass(frozen=True)
class RestorePlan:
    """``sections``: qos and slices, if they have something to restore. ``notes``: remarks for the user."""

    files: FileRestores
    sections: tuple[str, ...]
    changes: tuple[RestoreChange, ...]
    pending: tuple[RestoreChange, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    clean: bool = False
    permission: Conflict | None = None

    @property
    def obstacles(self) -> tuple[Conflict, ...]:
        """Everything that prevents the restore."""
        return (*self.conflicts, *((self.permission,) if self.permission else ()))


def plan_restore(evidence: Evidence, sections: Collection[str], *, allow_disruption: bool | None) -> RestorePlan:
    """Plan a restore. ``allow_disruption``: True: restore, False: report as pending, None: require permission."""
    file_sections = tuple(section for section in FILE_SECTIONS if section in sections)
    all_files = _files(evidence, file_sections)
    disruptive = all_files.disruptive
    files = all_files
    if disruptive and allow_disruption is False:
        files = _files(evidence, tuple(section for section in file_sections if section not in disruptive))
    direct = tuple(section for section in (QOS, SLICES) if section in sections and evidence.holds(section))
    conflicts = [
        *find_conflicts(evidence, sections),
        *_driver_conflicts(evidence, files),
        *_slice_conflicts(evidence, files, direct),
    ]
    permission = _missing_permission(all_files) if disruptive and allow_disruption is None else None
    pending = tuple(_changes_of_files(all_files, disruptive)) if allow_disruption is False else ()
    unselected = [section for section in SECTIONS if evidence.holds(section) and section not in sections]
    clean = not (unselected or pending)
    return RestorePlan(
        files,
        direct,
        tuple(_changes(evidence, files, direct, removable=evidence.removable if clean else ())),
        pending,
        tuple(conflicts),
        tuple(_notes(evidence, files, unselected)),
        clean,
        permission,
    )


def _files(evidence: Evidence, sections: tuple[str, ...]) -> FileRestores:
    selected = [target for section in sections for target in evidence.targets if target.section == section]
    edits = tuple(target for target in selected if not target.checkpoint and target.status is FileStatus.COMMITTED)
    forget = tuple(target.path for target in selected if target.checkpoint or target.status is FileStatus.ORIGINAL)
    if not edits or evidence.snapshot is None:
        return FileRestores(edits, forget)
    before = interpret(evidence.snapshot)
    after = preview_facts(
        evidence.snapshot, {target.path: target.original.text if target.original else None for target in edits}
    )
    if before.image:
        return FileRestores(edits, forget, before, after)
    settings = settings_changes(before, after)
    needs = []
    for section in sections:
        paths = {target.path for target in edits if target.section == section}
        if paths and section == KUBELET:
            impact = kubelet_impact(evidence.snapshot, paths, settings)
            stopped = _stays_stopped(before.kubelet, selected)
            needs.append((section, _actual_impact(before, impact, stopped=stopped)))
        elif paths and section == RUNTIME:
            impact = runtime_impact(before, after)
            needs.append((section, _actual_impact(before, impact, stopped=not before.runtime.running)))
    return FileRestores(edits, forget, before, after, settings, tuple(needs))


def _stays_stopped(kubelet: KubeletFacts, targets: list[Target]) -> bool:
    """Whether kubelet is not running, and no checkpoint prevents its start with the old policy: kubernetes#95041."""
    moved = any(target.checkpoint and target.current is not None for target in targets)
    return not (kubelet.running or moved or kubelet.unit_state in ("active", "activating", "reloading"))


def _actual_impact(facts: NodeFacts, needs: frozenset[Impact], *, stopped: bool) -> frozenset[Impact]:
    """Drop the drain if no pod runs, and restarts of a stopped service."""
    if not facts.pods.sandboxes:
        needs = needs - {Impact.DRAIN}
    return needs - {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME} if stopped and Impact.DRAIN not in needs else needs


def _driver_conflicts(evidence: Evidence, files: FileRestores) -> Iterator[Conflict]:
    """A restore of kubelet or the runtime alone would give them different drivers: no pod would start."""
    if files.before is None or files.after is None or files.before.driver.common is None or files.after.driver.common:
        return
    touched = {target.section for target in files.edits} & {KUBELET, RUNTIME}
    missing = [
        target
        for target in evidence.targets
        if target.section in {KUBELET, RUNTIME} - touched
        and not target.checkpoint
        and target.status is not FileStatus.ORIGINAL
    ]
    kubelet, runtime = files.after.driver.kubelet, files.after.driver.runtime
    if missing and kubelet and runtime:
        yield Conflict(
            "+".join(sorted(touched)),
            "cgroup driver",
            f"kubelet would have {kubelet.value} and {files.after.runtime.name or RUNTIME} {runtime.value}",
            f"Restore {KUBELET} and {RUNTIME} together",
        )


def _slice_conflicts(evidence: Evidence, files: FileRestores, direct: tuple[str, ...]) -> Iterator[Conflict]:
    """Slices that kubelet's configuration names: kubelet does not start without them."""
    facts = files.after or (interpret(evidence.snapshot) if evidence.snapshot else None)
    if SLICES not in direct or facts is None or facts.driver.kubelet is None:
        return
    named = {
        slice_of(cgroup, facts.driver.kubelet): key for key, cgroup in _required_cgroups(facts.kubelet.settings).items()
    }
    for slice_ in evidence.slices["slices"]:
        removed = any(entry["before_header"] == f"{UNIT_DIRECTORY}/{slice_['name']}" for entry in slice_["diff"])
        if removed and slice_["name"] in named:
            reason = f"kubelet's {named[slice_['name']]} names it, and kubelet does not start without it"
            yield Conflict(SLICES, slice_["name"], reason, f"Restore {KUBELET} as well, or do not select {SLICES}")


def _required_cgroups(settings: Mapping[str, Setting]) -> dict[str, str]:
    """The cgroups that kubelet needs to start, by field: validateNodeAllocatable, cgroupRoot."""
    enforced = settings.get(ENFORCE_NODE_ALLOCATABLE.key)
    words = enforced.value if enforced and isinstance(enforced.value, list) else []
    required = {}
    for key, word in NAMES_A_SLICE.items():
        setting = settings.get(key)
        if setting and setting.value and (not word or any(str(value).startswith(word) for value in words)):
            required[key] = str(setting.value)
    return required


def _missing_permission(files: FileRestores) -> Conflict:
    pods = files.before.pods.sandboxes if files.before else 0
    return Conflict(
        "+".join(files.disruptive),
        "pods",
        f"{pods} pod(s) run on this node, and the restore stops and recreates them",
        "Set colocation_allow_disruption to true to restore one node at a time,"
        " or to false to restore only what does not disrupt pods and report the remaining changes as pending",
    )


def _changes(
    evidence: Evidence, files: FileRestores, direct: tuple[str, ...], removable: tuple[str, ...]
) -> Iterator[RestoreChange]:
    if QOS in direct:
        yield from _changes_of_qos(evidence)
    yield from _changes_of_files(files, FILE_SECTIONS)
    if SLICES in direct:
        for slice_ in evidence.slices["slices"]:
            yield RestoreChange(
                SLICES, slice_["name"], "remove managed files", "systemd_slice created or configured it"
            )
        for stray in evidence.slices["strays"]:
            yield RestoreChange(SLICES, stray["path"], "remove", "it is managed and no longer belongs to a slice")
    for directory in removable:
        yield RestoreChange(COLLECTION_SECTION, directory, "remove", "everything is restored")


def _changes_of_qos(evidence: Evidence) -> Iterator[RestoreChange]:
    for setting in evidence.qos["settings"]:
        action = f"{setting['after']}" if setting["changed"] else "nothing to write"
        yield RestoreChange(
            QOS, f"{setting['cgroup']} {setting['knob']}", f"restore: {action}", f"it is {setting['before']} now"
        )
    for cgroup in evidence.qos["gone"]:
        yield RestoreChange(QOS, cgroup, "forget", "the cgroup and its settings no longer exist")
    if evidence.qos["unit"]:
        yield RestoreChange(QOS, evidence.qos["unit"], "remove", "no setting remains that it would apply again")


def _changes_of_files(files: FileRestores, sections: Collection[str]) -> Iterator[RestoreChange]:
    for target in files.edits:
        if target.section in sections:
            action = "remove" if target.original is None else "restore"
            previous = "did not exist" if target.original is None else "was different"
            yield RestoreChange(
                target.section,
                target.path,
                action,
                f"it {previous} before the collection",
                files.of(target.section),
            )


def _notes(evidence: Evidence, files: FileRestores, unselected: list[str]) -> Iterator[str]:
    for transaction in evidence.without_ledger:
        yield (
            f"transaction {transaction.id} is of a version of the collection without a ledger, and is not restored:"
            f" it wrote {', '.join(transaction.files) or 'no file'}; the previous content is in {transaction.backups}"
        )
    if any(target.section == SYSCTL for target in files.edits):
        yield "sysctl: the kernel keeps its current values until the next boot"
    if unselected:
        yield f"not selected and unchanged: {', '.join(unselected)}"
    after = files.after
    if after and not after.image and after.driver.common is None:
        drivers = (after.driver.kubelet, after.driver.runtime)
        names = [driver.value if driver else "unknown" for driver in drivers]
        yield f"the restored node is misaligned: kubelet has {names[0]}, the runtime {names[1]}; pods may not start"
