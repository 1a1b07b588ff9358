# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which properties of its own slices kubelet writes itself: the same table as for single settings."""

from __future__ import annotations

import re

from ..cgroup.names import Driver
from ..errors import ColocationError
from ..host import Host
from ..qos.knobs import KNOBS
from ..qos.kubelet import static_cpu
from ..qos.ownership import Place, refusal
from .properties import Setting

KUBELET_ROOT = "/var/lib/kubelet"
_NAME = re.compile(r"(?:.+-)?kubepods(?:-(burstable|besteffort))?(?:-(pod[0-9a-f].*))?\.slice")
"""kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ToSystemd, under any cgroupRoot."""


def is_kubelets(name: str) -> bool:
    """Whether kubelet makes a slice of this name, with StartTransientUnit, which must not find a unit file."""
    return bool(_NAME.fullmatch(name))


def require_ours(host: Host, name: str, wanted: tuple[Setting, ...]) -> None:
    """ColocationError for a property that kubelet writes on this slice, with the way out.

    kubelet's version and gates are not known here, and what depends on them is refused.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return
    qos, pod = found[1], found[2]
    place = Place.POD if pod else Place.QOS_CLASS if qos else Place.ROOT
    # A policy that is unknown is taken for static.
    static = static_cpu(host, KUBELET_ROOT) is not False
    for setting in wanted:
        knob = KNOBS.get(_knob(setting))
        if knob is None:
            continue
        reason = refusal(knob, place, qos, Driver.SYSTEMD.value, None, static_cpu=static, memory_qos=None)
        if reason:
            raise ColocationError(f"{setting.name} of {name} is kubelet's: {reason}")


def _knob(setting: Setting) -> str:
    """The single setting that a property stands for; empty when there is none."""
    if setting.value.name == "CPUWeight":
        return "cpu_idle" if setting.value.value == 0 else "cpu_weight"
    return next((name for name, knob in KNOBS.items() if setting.value.name in knob.property_names), "")
