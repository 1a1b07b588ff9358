# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be written so that cgroups are as asked. Nothing here reads or writes anything."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Collection, Mapping, Sequence

from ..errors import ColocationError
from ..systemd.dbus_values import Property
from .cgroup_state import State
from .codec import (
    COUNTED_IN,
    PAGE,
    UNWRITTEN,
    Backend,
    from_properties,
    render_texts,
    rounded_value,
    to_properties,
    value_written_by_systemd,
)
from .knob import Kind, Knob, Value
from .ownership import refusal
from .record import RecordedSetting
from .registry import KNOBS
from .registry import knob as knob_of
from .target_cgroups import Target


def find_forbidden_change(knob: Knob, before: Value, after: Value) -> str:
    """Why the kernel will not make this change; empty when it may."""
    if knob.name != "cpu_qos_level" or not isinstance(before, int) or not isinstance(after, int):
        return ""
    if before < 0 and after > before:
        return (
            "a cgroup that is offline stays offline: the kernel answers EINVAL to cpu.qos_level %d after %d "
            "(openEuler kernel/sched/core.c cpu_qos_write). Start the pod anew, then its cgroup is a new one"
            % (after, before)
        )
    return ""


@dataclass(frozen=True)
class Kubelet:
    """What the table of ownership asks; None is unknown, for which the strict answer is taken."""

    version: tuple[int, int] | None = None
    static_cpu: bool | None = None
    memory_qos: bool | None = None


@dataclass(frozen=True)
class Step:
    """One knob of one cgroup: what the files say now, what they will say, and how that is brought about.

    ``after`` is what was asked for, ``expected`` what reading back will give; ``stored`` is what systemd holds now.
    ``texts`` is what to write into which file, in this order; systemd gets ``back`` where it is to be as it was.
    ``changed``: something has to be written. ``checked``: reading back tells whether it worked. ``moved``: what
    systemd holds is not as wanted. ``late``: systemd takes it back whenever it writes the unit. ``cause``: why a
    setting of ours is not as we left it.
    """

    target: Target
    knob: Knob
    backend: Backend
    before: Value
    after: Value
    expected: Value
    stored: tuple[Property, ...] = ()
    back: tuple[Property, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    changed: bool = True
    checked: bool = True
    moved: bool = False
    late: bool = False
    cause: str = ""


@dataclass(frozen=True)
class Unsupported:
    """A knob that this node cannot have."""

    knob: str
    reason: str


def require_allowed(knobs: Sequence[Knob], target: Target, kubelet: Kubelet) -> None:
    """ColocationError that names every knob that is kubelet's, or would harm it, on this cgroup."""
    reasons = []
    for knob in knobs:
        reason = refusal(
            knob,
            target.place,
            target.qos.value if target.qos else None,
            target.driver.value if target.driver else "",
            kubelet.version,
            static_cpu=kubelet.static_cpu is not False,
            memory_qos=kubelet.memory_qos,
        )
        if reason:
            reasons.append(f"{knob.name}: {reason}{_unknown_policy_note(reason, kubelet)}")
    if reasons:
        raise ColocationError(f"{target.cgroup or 'the root cgroup'}: {'; '.join(reasons)}")


def _unknown_policy_note(reason: str, kubelet: Kubelet) -> str:
    if kubelet.static_cpu is None and "static" in reason:
        return (
            " (cpu_manager_state was not found, so that the policy is unknown: say with kubelet_root_dir where it is)"
        )
    return ""


def unsupported_knobs(knobs: Sequence[Knob], state: State) -> tuple[Unsupported, ...]:
    """The knobs that the cgroup cannot have, each with the reason."""
    return tuple(Unsupported(knob.name, state.missing[knob.name]) for knob in knobs if knob.name in state.missing)


@dataclass(frozen=True)
class AppliedSettings:
    """What we set on one cgroup before, by knob, and the boot that we are in."""

    entries: Mapping[str, RecordedSetting]
    boot: str


def plan_steps(
    wanted: Mapping[str, Value], back: Collection[str], state: State, past: AppliedSettings, page: int = PAGE
) -> tuple[Step, ...]:
    """What gives one cgroup the wanted values and puts the knobs of ``back`` back as they were before us.

    A knob that the cgroup does not have has no step, and neither has one to put back that we never set.
    """
    found: list[Step] = []
    current = dict(state.texts)
    names = [name for name in {*wanted, *(set(back) & past.entries.keys())} if name not in state.missing]
    for name in sorted(names, key=lambda each: (each not in COUNTED_IN, each)):
        knob, entry = knob_of(name), past.entries.get(name)
        if name in wanted:
            step = _set_step(knob, wanted[name], state, current, page)
            step = _with_weight(step, entry, state)
            if step.backend is Backend.DBUS and state.has(knob):
                step = _with_expected_value(step, _quota(step, wanted, back, state, past), state, current, page)
            cause = _cause(step, entry, wanted[name], past.boot)
            found.append(replace(step, cause=cause) if cause else step)
        elif entry:
            found.append(_restore_step(knob, entry, state, current))
        if state.has(knob):
            current.update(found[-1].texts or render_texts(knob, found[-1].expected, state.mode, current))
    return tuple(found)


def possible_steps(planned: Sequence[Step], wanted: Collection[str]) -> tuple[Step, ...]:
    """Without what the kernel never takes back and is to be put back; ColocationError where it is wanted."""
    found = []
    for step in planned:
        problem = find_forbidden_change(step.knob, step.before, step.expected)
        if not problem:
            found.append(step)
        elif step.knob.name in wanted:
            raise ColocationError(f"{step.target.cgroup}: {step.knob.name}: {problem}")
    return tuple(found)


def _set_step(knob: Knob, value: Value, state: State, current: Mapping[str, str], page: int) -> Step:
    backend, before = state.backend(knob), state.value(knob)
    held = rounded_value(knob, value, state.mode, backend, current, page)
    stored = stored_in_systemd(knob, state) if backend is Backend.DBUS else ()
    moved = backend is Backend.DBUS and from_properties(knob, state.unit or {}) != held
    return Step(
        *(state.target, knob, backend, before, held, held, stored),
        changed=before != held or moved,
        texts=render_texts(knob, held, state.mode, current) if backend is Backend.FILE else {},
        checked=state.has(knob),
        moved=moved,
        late=state.undone(knob),
    )


def _with_expected_value(step: Step, quota: Value, state: State, current: Mapping[str, str], page: int) -> Step:
    """With what the files will say once systemd has written the unit."""
    expected = value_written_by_systemd(step.knob, step.after, state.mode, current, page, quota)
    return replace(step, expected=expected, changed=step.before != expected or step.moved)


def _quota(
    step: Step, wanted: Mapping[str, Value], back: Collection[str], state: State, past: AppliedSettings
) -> Value:
    """The quota beside a period, after all steps; None for any other knob."""
    name = "cpu_quota"
    if step.knob.name != "cpu_period":
        return None
    if name in wanted:
        return wanted[name]
    entry = past.entries.get(name) if name in back else None
    return entry.before if entry else state.value(KNOBS[name])


def _with_weight(step: Step, entry: RecordedSetting | None, state: State) -> Step:
    """With the files that the kernel resets when an idle cgroup becomes another one again, as they were before us."""
    if step.backend is not Backend.FILE or entry is None or entry.before or not step.before or step.after:
        return step
    kept = {name: entry.texts[name] for name in step.knob.forgotten(state.mode) if name in entry.texts}
    return replace(step, texts={**step.texts, **kept}) if kept else step


def stored_in_systemd(knob: Knob, state: State) -> tuple[Property, ...]:
    """The knob's properties as systemd holds them, ready to be given back."""
    held, values = knob.unit_property, state.unit or {}
    return tuple(Property(name, held.signature, values[name]) for name in held.names) if held else ()


def _cause(step: Step, entry: RecordedSetting | None, value: Value, boot: str) -> str:
    """The likely reason why a setting of ours is not as we left it; empty when it is, or when it is a new one."""
    if not step.changed or entry is None or entry.wanted != value:
        return ""
    if entry.boot != boot:
        return "the node was booted"
    if step.backend is Backend.FILE:
        return "the cgroup was made anew, or another program wrote the file"
    if step.moved:
        return "the unit was made anew, or another program set its property (systemctl set-property, kubelet)"
    return "another program wrote the kernel's file past systemd"


def _restore_step(knob: Knob, entry: RecordedSetting, state: State, current: Mapping[str, str]) -> Step:
    backend, before = state.backend(knob), state.value(knob)
    if backend is Backend.FILE:
        kept = {name: text for name, text in entry.texts.items() if name in restorable_files(knob, state.mode, entry)}
        wrong = any(current.get(name) != text for name, text in kept.items())
        changed = wrong if kept else before != entry.before
        written = kept or render_texts(knob, entry.before, state.mode, current)
        step = Step(
            *(state.target, knob, backend, before, entry.before, entry.before),
            texts=written,
            changed=changed,
            late=state.undone(knob),
        )
        return _with_weight(step, entry, state)
    wanted = restoring_properties(entry.stored) or to_properties(knob, entry.before)
    stored = stored_in_systemd(knob, state)
    changed = stored != entry.stored or before != entry.before
    return Step(
        *(state.target, knob, backend, before, entry.before, entry.before, stored, wanted),
        changed=changed,
        checked=False,
    )


def restoring_properties(stored: Sequence[Property]) -> tuple[Property, ...]:
    """What makes systemd hold this again. Arrays add up (src/core/dbus-cgroup.c), so they are emptied."""
    found: list[Property] = []
    for each in stored:
        found += [replace(each, value=()), each] if each.signature == "a(st)" and each.value else [each]
    return tuple(found)


def restorable_files(knob: Knob, mode: str, entry: RecordedSetting) -> frozenset[str]:
    """The files whose recorded text says more than the knob's value: weights in another scale, a device's own weight.

    Not a file that holds another knob as well, and none that takes one device in a call or shows a state.
    """
    interface = knob.interface(mode)
    if interface is None or knob.kind not in (Kind.INTEGER, Kind.BYTES):
        return frozenset()
    shared = {name for other in KNOBS.values() if other.name != knob.name for name in _written_files(other, mode)}
    return _written_files(knob, mode) - shared


def _written_files(knob: Knob, mode: str) -> frozenset[str]:
    interface = knob.interface(mode)
    files = interface.files if interface else ()
    return frozenset(each.name for each in files if each.form not in UNWRITTEN)
