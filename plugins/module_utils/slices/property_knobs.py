# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Map properties of slices to knobs: find those that kubelet writes, and those with another value in the kernel.

The kernel's value and systemd's property differ after a program wrote the file, or after systemd read other values for
a unit: systemd 257 did not write the files of a unit at a daemon-reload. Setting the property again to the same value
makes them equal.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..cgroup import slice_names
from ..cgroup.container_paths import KubeletCgroup, classify
from ..cgroup.hierarchy import Hierarchies
from ..cgroup.kubelet_names import Driver
from ..errors import ColocationError
from ..host import Host
from ..settings.codec import Backend, from_properties, parse_texts, rounded_value
from ..settings.knob import Knob
from ..settings.option_values import render_value
from ..settings.ownership import CgroupLevel, cgroup_level, has_static_cpu_policy, refusal
from ..settings.registry import KNOBS
from ..systemd.dbus_values import INFINITY
from .properties import Setting

KUBELET_ROOT = "/var/lib/kubelet"


def is_kubelet_slice(name: str) -> bool:
    """Whether kubelet makes a slice with this name: its StartTransientUnit must not find a unit file."""
    return _cgroup(name) is not None


def require_not_kubelets(host: Host, name: str, settings: tuple[Setting, ...]) -> None:
    """ColocationError with an alternative for a property that kubelet writes on this slice.

    kubelet's version and feature gates are unknown here, so properties that depend on them are refused.
    """
    cgroup = _cgroup(name)
    if cgroup is None:
        return
    level, qos = cgroup_level(cgroup), cgroup.qos.value
    # An unknown policy is treated as static.
    static = has_static_cpu_policy(host, KUBELET_ROOT) is not False
    for setting in settings:
        knob = KNOBS.get(_knob_name(setting))
        if knob is None:
            continue
        reason = refusal(knob, level, qos, Driver.SYSTEMD.value, None, static_cpu=static, memory_qos=None)
        if reason:
            raise ColocationError(f"{setting.name} of {name} belongs to kubelet: {reason}")


def _cgroup(name: str) -> KubeletCgroup | None:
    """The cgroup of a slice of kubelet or of a pod, with any cgroupRoot; None for other slices."""
    cgroup = None if slice_names.name_problem(name) else classify(slice_names.expand(name))
    return None if cgroup is None or cgroup_level(cgroup) is CgroupLevel.OTHER else cgroup


def _knob_name(setting: Setting) -> str:
    """The name of the property's knob; empty if it has none."""
    if setting.value.name == "CPUWeight":
        return "cpu_idle" if setting.value.value == 0 else "cpu_weight"
    return next((name for name, knob in KNOBS.items() if setting.value.name in knob.property_names), "")


def kernel_differences(
    host: Host, tree: Hierarchies, unit: Mapping[str, Any], desired: Sequence[Setting]
) -> dict[str, str]:
    """The kernel's value as text by D-Bus name, for settings of ``desired`` where it differs.

    Only properties that are a single number in systemd are compared.
    """
    differences = {}
    for setting in desired:
        knob = _knob(setting, tree.mode)
        if knob is not None and setting.holds(unit):
            difference = _kernel_difference(
                knob, _texts(host, tree, unit.get("ControlGroup", ""), knob), tree.mode, setting
            )
            if difference:
                differences[setting.value.name] = difference
    return differences


def _knob(setting: Setting, mode: str) -> Knob | None:
    """The knob that corresponds to exactly this property; None for cpu_idle, which shares the weight's property."""
    property_ = setting.value
    if property_.signature != "t" or (property_.name == "CPUWeight" and property_.value in (0, INFINITY)):
        return None
    for knob in KNOBS.values():
        if (
            knob.property_names == (property_.name,)
            and knob.unit_property
            and (mode == "v2" or knob.unit_property.on_v1)
        ):
            return knob if knob.unlimited or property_.value != INFINITY else None
    return None


def _texts(host: Host, tree: Hierarchies, group: str, knob: Knob) -> dict[str, str]:
    """Texts of the knob's existing files; empty if the controller is not enabled."""
    if knob.controller(tree.mode) not in tree.points or not group:
        return {}
    directory = tree.directory(knob.controller(tree.mode), group.strip("/"))
    texts = {}
    for name in knob.files(tree.mode):
        try:
            texts[name] = host.read(f"{directory}/{name}")
        except OSError:
            continue
    return texts


def _kernel_difference(knob: Knob, texts: Mapping[str, str], mode: str, setting: Setting) -> str:
    if not knob.supported(mode, texts.keys()):
        return ""
    value = from_properties(knob, {setting.value.name: setting.value.value})
    expected = rounded_value(knob, rounded_value(knob, value, mode, Backend.DBUS, texts), mode, Backend.FILE, texts)
    actual = parse_texts(knob, mode, texts)
    return "" if actual == expected else f"{render_value(knob, actual)} (by the kernel)"
