# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the writes that give cgroups the requested values. Nothing is read or written here."""

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
    """The reason why the kernel refuses this change; empty if it does not."""
    if knob.name != "cpu_qos_level" or not isinstance(before, int) or not isinstance(after, int):
        return ""
    if before < 0 and after > before:
        return (
            "a cgroup that is offline stays offline: the kernel returns EINVAL for cpu.qos_level %d after %d "
            "(openEuler kernel/sched/core.c cpu_qos_write). Re-create the pod to get a new cgroup" % (after, before)
        )
    return ""


@dataclass(frozen=True)
class Kubelet:
    """What the table in ownership.py needs to know of kubelet; None is unknown, which is treated strictly."""

    version: tuple[int, int] | None = None
    static_cpu: bool | None = None
    memory_qos: bool | None = None


@dataclass(frozen=True)
class Step:
    """One knob of one cgroup: its current value, its future value, and the writes between them.

    ``after`` is the requested value, ``expected`` the value that will be read back, ``stored`` systemd's current
    properties. ``texts`` has the text to write by file, in this order; ``restoring`` has the properties to set when a
    knob of a unit is restored. ``changed``: something has to be written. ``checked``: reading back proves the write.
    ``property_differs``: systemd's property is not as desired. ``overwritten``: systemd resets the file whenever it
    writes the unit. ``cause``: why a recorded setting is not as it was applied.
    """

    target: Target
    knob: Knob
    backend: Backend
    before: Value
    after: Value
    expected: Value
    stored: tuple[Property, ...] = ()
    restoring: tuple[Property, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    changed: bool = True
    checked: bool = True
    property_differs: bool = False
    overwritten: bool = False
    cause: str = ""


@dataclass(frozen=True)
class Unsupported:
    """A knob that cannot be set on this node."""

    knob: str
    reason: str


def require_allowed(knobs: Sequence[Knob], target: Target, kubelet: Kubelet) -> None:
    """ColocationError with every knob that kubelet writes on this cgroup, or that would harm kubelet."""
    reasons = []
    for knob in knobs:
        reason = refusal(
            knob,
            target.level,
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
        return " (cpu_manager_state was not found, so the policy is unknown: set kubelet_root_dir to its directory)"
    return ""


def unsupported_knobs(knobs: Sequence[Knob], state: State) -> tuple[Unsupported, ...]:
    """The knobs that cannot be set on the cgroup, each with the reason."""
    return tuple(Unsupported(knob.name, state.missing[knob.name]) for knob in knobs if knob.name in state.missing)


@dataclass(frozen=True)
class AppliedSettings:
    """Recorded settings of one cgroup, by knob, and the current boot."""

    entries: Mapping[str, RecordedSetting]
    boot: str


def plan_steps(
    desired: Mapping[str, Value], to_restore: Collection[str], state: State, previous: AppliedSettings, page: int = PAGE
) -> tuple[Step, ...]:
    """The steps that set the ``desired`` values of one cgroup and restore the original values of ``to_restore``.

    A knob that the cgroup does not have gets no step, nor does a knob to restore that is not recorded.
    """
    steps: list[Step] = []
    current = dict(state.texts)
    names = [name for name in {*desired, *(set(to_restore) & previous.entries.keys())} if name not in state.missing]
    for name in sorted(names, key=lambda knob_name: (knob_name not in COUNTED_IN, knob_name)):
        knob, entry = knob_of(name), previous.entries.get(name)
        if name in desired:
            step = _set_step(knob, desired[name], state, current, page)
            step = _with_weight(step, entry, state)
            if step.backend is Backend.DBUS and state.has(knob):
                step = _with_expected_value(
                    step, _quota(step, desired, to_restore, state, previous), state, current, page
                )
            cause = _cause(step, entry, desired[name], previous.boot)
            steps.append(replace(step, cause=cause) if cause else step)
        elif entry:
            steps.append(_restore_step(knob, entry, state, current))
        if state.has(knob):
            current.update(steps[-1].texts or render_texts(knob, steps[-1].expected, state.mode, current))
    return tuple(steps)


def possible_steps(planned: Sequence[Step], required: Collection[str]) -> tuple[Step, ...]:
    """The steps without restores that the kernel refuses; ColocationError if it refuses a desired value."""
    possible = []
    for step in planned:
        problem = find_forbidden_change(step.knob, step.before, step.expected)
        if not problem:
            possible.append(step)
        elif step.knob.name in required:
            raise ColocationError(f"{step.target.cgroup}: {step.knob.name}: {problem}")
    return tuple(possible)


def _set_step(knob: Knob, value: Value, state: State, current: Mapping[str, str], page: int) -> Step:
    backend, before = state.backend(knob), state.value(knob)
    rounded = rounded_value(knob, value, state.mode, backend, current, page)
    stored = stored_in_systemd(knob, state) if backend is Backend.DBUS else ()
    property_differs = backend is Backend.DBUS and from_properties(knob, state.unit or {}) != rounded
    return Step(
        *(state.target, knob, backend, before, rounded, rounded, stored),
        changed=before != rounded or property_differs,
        texts=render_texts(knob, rounded, state.mode, current) if backend is Backend.FILE else {},
        checked=state.has(knob),
        property_differs=property_differs,
        overwritten=state.overwritten(knob),
    )


def _with_expected_value(step: Step, quota: Value, state: State, current: Mapping[str, str], page: int) -> Step:
    """The step with the value that the files will have after systemd has written the unit."""
    expected = value_written_by_systemd(step.knob, step.after, state.mode, current, page, quota)
    return replace(step, expected=expected, changed=step.before != expected or step.property_differs)


def _quota(
    step: Step, desired: Mapping[str, Value], to_restore: Collection[str], state: State, previous: AppliedSettings
) -> Value:
    """The quota that belongs to a period, after all steps; None for any other knob."""
    name = "cpu_quota"
    if step.knob.name != "cpu_period":
        return None
    if name in desired:
        return desired[name]
    entry = previous.entries.get(name) if name in to_restore else None
    return entry.before if entry else state.value(KNOBS[name])


def _with_weight(step: Step, entry: RecordedSetting | None, state: State) -> Step:
    """The step with the original texts of the files that the kernel resets when a cgroup stops being idle."""
    if step.backend is not Backend.FILE or entry is None or entry.before or not step.before or step.after:
        return step
    texts = {name: entry.texts[name] for name in step.knob.reset_files(state.mode) if name in entry.texts}
    return replace(step, texts={**step.texts, **texts}) if texts else step


def stored_in_systemd(knob: Knob, state: State) -> tuple[Property, ...]:
    """The knob's properties in systemd, as arguments for restoring them."""
    unit_property, values = knob.unit_property, state.unit or {}
    return (
        tuple(Property(name, unit_property.signature, values[name]) for name in unit_property.names)
        if unit_property
        else ()
    )


def _cause(step: Step, entry: RecordedSetting | None, value: Value, boot: str) -> str:
    """The likely reason why a recorded setting has another value now; empty without a difference, or if it is new."""
    if not step.changed or entry is None or entry.desired != value:
        return ""
    if entry.boot != boot:
        return "the node was booted"
    if step.backend is Backend.FILE:
        return "the cgroup was re-created, or another program wrote the file"
    if step.property_differs:
        return "the unit was re-created, or another program set its property (systemctl set-property, kubelet)"
    return "another program wrote the kernel's file without systemd"


def _restore_step(knob: Knob, entry: RecordedSetting, state: State, current: Mapping[str, str]) -> Step:
    backend, before = state.backend(knob), state.value(knob)
    if backend is Backend.FILE:
        restored_texts = {
            name: text for name, text in entry.texts.items() if name in restorable_files(knob, state.mode, entry)
        }
        differs = any(current.get(name) != text for name, text in restored_texts.items())
        changed = differs if restored_texts else before != entry.before
        written = restored_texts or render_texts(knob, entry.before, state.mode, current)
        step = Step(
            *(state.target, knob, backend, before, entry.before, entry.before),
            texts=written,
            changed=changed,
            overwritten=state.overwritten(knob),
        )
        return _with_weight(step, entry, state)
    restoring = restoring_properties(entry.stored) or to_properties(knob, entry.before)
    stored = stored_in_systemd(knob, state)
    changed = stored != entry.stored or before != entry.before
    return Step(
        *(state.target, knob, backend, before, entry.before, entry.before, stored, restoring),
        changed=changed,
        checked=False,
    )


def restoring_properties(stored: Sequence[Property]) -> tuple[Property, ...]:
    """Properties to set so that systemd has ``stored`` again.

    systemd appends to arrays (src/core/dbus-cgroup.c), so they are emptied first.
    """
    properties: list[Property] = []
    for stored_property in stored:
        properties += (
            [replace(stored_property, value=()), stored_property]
            if stored_property.signature == "a(st)" and stored_property.value
            else [stored_property]
        )
    return tuple(properties)


def restorable_files(knob: Knob, mode: str, entry: RecordedSetting) -> frozenset[str]:
    """Files whose recorded text has more than the knob's value: weights on another scale, a device's own weight.

    Not files that also hold another knob, accept one device in a call, or show a state.
    """
    interface = knob.interface(mode)
    if interface is None or knob.kind not in (Kind.INTEGER, Kind.BYTES):
        return frozenset()
    shared = {name for other in KNOBS.values() if other.name != knob.name for name in _written_files(other, mode)}
    return _written_files(knob, mode) - shared


def _written_files(knob: Knob, mode: str) -> frozenset[str]:
    interface = knob.interface(mode)
    files = interface.files if interface else ()
    return frozenset(file.name for file in files if file.form not in UNWRITTEN)
