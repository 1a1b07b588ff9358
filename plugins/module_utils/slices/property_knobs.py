# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of slices as the knobs they stand for: which of them kubelet writes, and what the kernel has.

Kernel and systemd part when somebody writes a file, and when systemd reads other values for a unit: systemd 257 was
seen to leave the files of a unit alone at a daemon-reload. A property that is set once more, to the same value, brings
them together.
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
    """Whether kubelet makes a slice of this name, with StartTransientUnit, which must not find a unit file."""
    return _cgroup(name) is not None


def require_not_kubelets(host: Host, name: str, wanted: tuple[Setting, ...]) -> None:
    """ColocationError for a property that kubelet writes on this slice, with the way out.

    kubelet's version and gates are not known here, and what depends on them is refused.
    """
    found = _cgroup(name)
    if found is None:
        return
    place, qos = cgroup_level(found), found.qos.value
    # A policy that is unknown is taken for static.
    static = has_static_cpu_policy(host, KUBELET_ROOT) is not False
    for setting in wanted:
        knob = KNOBS.get(_knob_name(setting))
        if knob is None:
            continue
        reason = refusal(knob, place, qos, Driver.SYSTEMD.value, None, static_cpu=static, memory_qos=None)
        if reason:
            raise ColocationError(f"{setting.name} of {name} is kubelet's: {reason}")


def _cgroup(name: str) -> KubeletCgroup | None:
    """The cgroup of a slice of kubelet's, or of one in a pod's, under any cgroupRoot."""
    found = None if slice_names.name_problem(name) else classify(slice_names.expand(name))
    return None if found is None or cgroup_level(found) is CgroupLevel.OTHER else found


def _knob_name(setting: Setting) -> str:
    """The single setting that a property stands for; empty when there is none."""
    if setting.value.name == "CPUWeight":
        return "cpu_idle" if setting.value.value == 0 else "cpu_weight"
    return next((name for name, knob in KNOBS.items() if setting.value.name in knob.property_names), "")


def kernel_differences(
    host: Host, tree: Hierarchies, unit: Mapping[str, Any], wanted: Sequence[Setting]
) -> dict[str, str]:
    """D-Bus name: what the kernel has instead, in words; of those of ``wanted`` that are one number in systemd."""
    found = {}
    for setting in wanted:
        knob = _knob(setting, tree.mode)
        if knob is not None and setting.holds(unit):
            said = _kernel_difference(knob, _texts(host, tree, unit.get("ControlGroup", ""), knob), tree.mode, setting)
            if said:
                found[setting.value.name] = said
    return found


def _knob(setting: Setting, mode: str) -> Knob | None:
    """The knob that is the property and nothing else; idle has the property of the weight and is left out."""
    held = setting.value
    if held.signature != "t" or (held.name == "CPUWeight" and held.value in (0, INFINITY)):
        return None
    for knob in KNOBS.values():
        if knob.property_names == (held.name,) and knob.unit_property and (mode == "v2" or knob.unit_property.on_v1):
            return knob if knob.unlimited or held.value != INFINITY else None
    return None


def _texts(host: Host, tree: Hierarchies, group: str, knob: Knob) -> dict[str, str]:
    """The knob's files that are there; none where the controller is not enabled."""
    if knob.controller(tree.mode) not in tree.points or not group:
        return {}
    folder = tree.directory(knob.controller(tree.mode), group.strip("/"))
    texts = {}
    for name in knob.files(tree.mode):
        try:
            texts[name] = host.read(f"{folder}/{name}")
        except OSError:
            continue
    return texts


def _kernel_difference(knob: Knob, texts: Mapping[str, str], mode: str, setting: Setting) -> str:
    if not knob.supported(mode, texts.keys()):
        return ""
    held = from_properties(knob, {setting.value.name: setting.value.value})
    wanted = rounded_value(knob, rounded_value(knob, held, mode, Backend.DBUS, texts), mode, Backend.FILE, texts)
    has = parse_texts(knob, mode, texts)
    return "" if has == wanted else f"{render_value(knob, has)} (by the kernel)"
