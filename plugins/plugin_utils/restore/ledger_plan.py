# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a restore changes and what conflicts with it: pure, from the evidence, for check mode, diff and the real run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...module_utils.state.store import STATE_DIRECTORY
from ..facts.interpreter import interpret
from ..facts.kubelet_state import KubeletFacts, Setting
from ..facts.node_state import NodeFacts
from ..node.concurrent_edits import redacted_difference
from ..plan.change_set import Change as SettingChange
from ..plan.change_set import Impact
from ..profile.kubelet_fields import CGROUP_ROOT, ENFORCE_NODE_ALLOCATABLE, KUBE_RESERVED_CGROUP, SYSTEM_RESERVED_CGROUP
from ..settings.kubelet_reservations import slice_of
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
    """All of the sections that are named, in their order."""
    found = [each for target in evidence.targets if target.section in sections for each in _of_target(target)]
    if SLICES in sections:
        for each in evidence.slices["slices"]:
            if each["error"]:
                found.append(Conflict(SLICES, each["name"], each["error"], _without(SLICES)))
    if QOS in sections and evidence.qos["error"]:
        found.append(Conflict(QOS, "the record", evidence.qos["error"], _without(QOS)))
    return tuple(found)


def _without(section: str) -> str:
    others = [each for each in (*FILE_SECTIONS, SLICES, QOS) if each != section]
    return f"The other sections ({', '.join(others)}) can be put back by naming them"


def _of_target(target: Target) -> Iterator[Conflict]:
    section, path = target.section, target.path
    if target.error:
        yield Conflict(section, path, target.error, _without(section))
    elif target.earlier:
        listed = ", ".join(each.id for each in target.earlier)
        places = ", ".join(each.backups for each in target.earlier)
        reason = (
            f"{listed} changed it and is not in the ledger (it kept none, or could not be undone),"
            " so that its original is not known"
        )
        yield Conflict(
            section,
            path,
            reason,
            f"Compare it with what is in {places}, put back by hand what you want, then {FORGET}. {_without(section)}",
        )
    elif target.status is FileStatus.FOREIGN and not target.checkpoint:
        yield _foreign(target)


def _foreign(target: Target) -> Conflict:
    """Nobody's change is overwritten; how to agree with it is said."""
    back = f"remove {target.path}" if target.original is None else f"copy {target.original_file} over it, mode and all"
    return Conflict(
        target.section,
        target.path,
        f"{_describe_change(target.committed, target.found)} by someone else since transaction {target.last}",
        f"Undo that change, or {back}, or {FORGET} to keep it; then run this again. {_without(target.section)}",
        redacted_difference(
            target.committed.text if target.committed else None,
            target.found.text if target.found else None,
            f"{target.path} as {target.last} left it",
            f"{target.path} now",
        ),
    )


def _describe_change(committed: Content | None, found: Content | None) -> str:
    if found is None:
        return "it was removed"
    if committed is None:
        return "it was made again"
    parts = ["it was changed"] if committed.text != found.text else []
    for name, one, other in (
        ("mode", committed.mode, found.mode),
        ("owner", committed.owner, found.owner),
        ("attributes", committed.xattrs, found.xattrs),
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
"""Fields that name a cgroup, with the word of enforceNodeAllocatable that makes kubelet look for it."""
UNIT_DIRECTORY = "/etc/systemd/system"
COLLECTION_SECTION = "collection"
"""The section of what the collection keeps on the node for itself."""


@dataclass(frozen=True)
class FileRestores:
    """Which files go back, and the node before and after; ``needs`` by section. ``forget``: other targets that go."""

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
    """``sections`` are those of qos and slices that have something; ``notes`` are for people."""

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
        """All that keeps the changes from being applied."""
        return (*self.conflicts, *((self.permission,) if self.permission else ()))


def plan_restore(evidence: Evidence, sections: Collection[str], *, allow_disruption: bool | None) -> RestorePlan:
    """``allow_disruption``: True do it, False leave it pending, None ask for permission."""
    wanted = tuple(section for section in FILE_SECTIONS if section in sections)
    whole = _files(evidence, wanted)
    disruptive = whole.disruptive
    files = whole
    if disruptive and allow_disruption is False:
        files = _files(evidence, tuple(section for section in wanted if section not in disruptive))
    others = tuple(section for section in (QOS, SLICES) if section in sections and evidence.holds(section))
    found = [*find_conflicts(evidence, sections), *_one_sided(evidence, files), *_named_slices(evidence, files, others)]
    permission = _not_allowed(whole) if disruptive and allow_disruption is None else None
    pending = tuple(_changes_of_files(whole, disruptive)) if allow_disruption is False else ()
    left = [section for section in SECTIONS if evidence.holds(section) and section not in sections]
    clean = not (left or pending)
    return RestorePlan(
        files,
        others,
        tuple(_changes(evidence, files, others, removable=evidence.removable if clean else ())),
        pending,
        tuple(found),
        tuple(_notes(evidence, files, left)),
        clean,
        permission,
    )


def _files(evidence: Evidence, sections: tuple[str, ...]) -> FileRestores:
    chosen = [target for section in sections for target in evidence.targets if target.section == section]
    edits = tuple(each for each in chosen if not each.checkpoint and each.status is FileStatus.COMMITTED)
    forget = tuple(each.path for each in chosen if each.checkpoint or each.status is FileStatus.ORIGINAL)
    if not edits or evidence.snapshot is None:
        return FileRestores(edits, forget)
    before = interpret(evidence.snapshot)
    after = preview_facts(
        evidence.snapshot, {each.path: each.original.text if each.original else None for each in edits}
    )
    if before.image:
        return FileRestores(edits, forget, before, after)
    settings = settings_changes(before, after)
    needs = []
    for section in sections:
        paths = {each.path for each in edits if each.section == section}
        if paths and section == KUBELET:
            found = kubelet_impact(evidence.snapshot, paths, settings)
            needs.append((section, _without_needless_impact(before, found, stopped=_stopped(before.kubelet, chosen))))
        elif paths and section == RUNTIME:
            found = runtime_impact(before, after)
            needs.append((section, _without_needless_impact(before, found, stopped=not before.runtime.running)))
    return FileRestores(edits, forget, before, after, settings, tuple(needs))


def _stopped(kubelet: KubeletFacts, targets: list[Target]) -> bool:
    """Whether nobody runs kubelet, and no checkpoint keeps it from starting with its old policy: kubernetes#95041."""
    moved = any(each.checkpoint and each.found is not None for each in targets)
    return not (kubelet.running or moved or kubelet.unit_state in ("active", "activating", "reloading"))


def _without_needless_impact(facts: NodeFacts, needs: frozenset[Impact], *, stopped: bool) -> frozenset[Impact]:
    """Without a pod there is nobody to disturb, and what does not run is not started."""
    if not facts.pods.sandboxes:
        needs = needs - {Impact.DRAIN}
    return needs - {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME} if stopped and Impact.DRAIN not in needs else needs


def _one_sided(evidence: Evidence, files: FileRestores) -> Iterator[Conflict]:
    """One side alone would get another driver than the other one has: no pod would start."""
    if files.before is None or files.after is None or files.before.driver.common is None or files.after.driver.common:
        return
    touched = {each.section for each in files.edits} & {KUBELET, RUNTIME}
    missing = [
        each
        for each in evidence.targets
        if each.section in {KUBELET, RUNTIME} - touched
        and not each.checkpoint
        and each.status is not FileStatus.ORIGINAL
    ]
    kubelet, runtime = files.after.driver.kubelet, files.after.driver.runtime
    if missing and kubelet and runtime:
        yield Conflict(
            "+".join(sorted(touched)),
            "cgroup driver",
            f"kubelet would have {kubelet.value} and {files.after.runtime.name or RUNTIME} {runtime.value}",
            f"Put {KUBELET} and {RUNTIME} back together",
        )


def _named_slices(evidence: Evidence, files: FileRestores, others: tuple[str, ...]) -> Iterator[Conflict]:
    """kubelet does not start without a cgroup that its configuration names."""
    facts = files.after or (interpret(evidence.snapshot) if evidence.snapshot else None)
    if SLICES not in others or facts is None or facts.driver.kubelet is None:
        return
    named = {
        slice_of(cgroup, facts.driver.kubelet): key for key, cgroup in _required_cgroups(facts.kubelet.settings).items()
    }
    for each in evidence.slices["slices"]:
        goes = any(entry["before_header"] == f"{UNIT_DIRECTORY}/{each['name']}" for entry in each["diff"])
        if goes and each["name"] in named:
            reason = f"kubelet's {named[each['name']]} names it, and kubelet does not start without it"
            yield Conflict(SLICES, each["name"], reason, f"Put {KUBELET} back as well, or leave {SLICES} out")


def _required_cgroups(settings: Mapping[str, Setting]) -> dict[str, str]:
    """The cgroups that kubelet does not start without, by field: validateNodeAllocatable, cgroupRoot."""
    enforced = settings.get(ENFORCE_NODE_ALLOCATABLE.key)
    words = enforced.value if enforced and isinstance(enforced.value, list) else []
    found = {}
    for key, word in NAMES_A_SLICE.items():
        setting = settings.get(key)
        if setting and setting.value and (not word or any(str(each).startswith(word) for each in words)):
            found[key] = str(setting.value)
    return found


def _not_allowed(files: FileRestores) -> Conflict:
    pods = files.before.pods.sandboxes if files.before else 0
    return Conflict(
        "+".join(files.disruptive),
        "pods",
        f"{pods} pod(s) run here, and putting this back stops and recreates them",
        "Set allow_disruption (colocation_allow_disruption) to true to do it one node at a time,"
        " or to false to put back only what disturbs no pod and have the rest reported as pending",
    )


def _changes(
    evidence: Evidence, files: FileRestores, others: tuple[str, ...], removable: tuple[str, ...]
) -> Iterator[RestoreChange]:
    if QOS in others:
        yield from _changes_of_qos(evidence)
    yield from _changes_of_files(files, FILE_SECTIONS)
    if SLICES in others:
        for each in evidence.slices["slices"]:
            yield RestoreChange(SLICES, each["name"], "remove what is ours", "systemd_slice made or set it")
        for each in evidence.slices["strays"]:
            yield RestoreChange(SLICES, each["path"], "remove", "it is ours and belongs to no slice any more")
    for directory in removable:
        yield RestoreChange(COLLECTION_SECTION, directory, "remove", "nothing is left to be put back")


def _changes_of_qos(evidence: Evidence) -> Iterator[RestoreChange]:
    for each in evidence.qos["settings"]:
        action = f"{each['after']}" if each["changed"] else "nothing to write"
        yield RestoreChange(
            QOS, f"{each['cgroup']} {each['knob']}", f"put back: {action}", f"it is {each['before']} now"
        )
    for cgroup in evidence.qos["gone"]:
        yield RestoreChange(QOS, cgroup, "forget", "the cgroup is gone with all that was set on it")
    if evidence.qos["unit"]:
        yield RestoreChange(QOS, evidence.qos["unit"], "remove", "no setting is left that it would apply again")


def _changes_of_files(files: FileRestores, sections: Collection[str]) -> Iterator[RestoreChange]:
    for each in files.edits:
        if each.section in sections:
            action = "remove" if each.original is None else "put back"
            was = "was not there" if each.original is None else "was another"
            yield RestoreChange(
                each.section, each.path, action, f"it {was} before the collection", files.of(each.section)
            )


def _notes(evidence: Evidence, files: FileRestores, left: list[str]) -> Iterator[str]:
    for each in evidence.without_ledger:
        yield (
            f"transaction {each.id} was done by a version of the collection that kept no ledger, and is not put back:"
            f" it wrote {', '.join(each.files) or 'no file'}, what it found is in {each.backups}"
        )
    if any(each.section == SYSCTL for each in files.edits):
        yield "sysctl: the kernel keeps the values that it has now until the next boot"
    if left:
        yield f"not named and left as it is: {', '.join(left)}"
    after = files.after
    if after and not after.image and after.driver.common is None:
        drivers = (after.driver.kubelet, after.driver.runtime)
        told = [each.value if each else "unknown" for each in drivers]
        yield f"as it was, the node is misaligned: kubelet has {told[0]}, the runtime {told[1]}; pods may not start"
