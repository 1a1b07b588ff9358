# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which properties of its own slices kubelet writes itself: the same table as for single settings."""

from __future__ import annotations

import re

from ..cgroup.names import Driver
from ..errors import ColocationError
from ..host import Host
from ..qos.knobs import KNOBS
from ..qos.ownership import Place, refusal
from .properties import Setting

CHECKPOINT = "/var/lib/kubelet/cpu_manager_state"
_NAME = re.compile(r"(?:.+-)?kubepods(?:-(burstable|besteffort))?(?:-(pod[0-9a-f].*))?\.slice")
"""kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ToSystemd, under any cgroupRoot."""
_STATIC = re.compile(r'"policyName"\s*:\s*"static"')


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
    for setting in wanted:
        for knob in KNOBS.values():
            if knob.name != _knob(setting, knob.property_names):
                continue
            static = static_cpus(host)
            reason = refusal(knob, place, qos, Driver.SYSTEMD.value, None, static_cpu=static, memory_qos=None)
            if reason:
                raise ColocationError(f"{setting.name} of {name} is kubelet's: {reason}")


def static_cpus(host: Host) -> bool:
    """Whether kubelet's CPU manager has the static policy, by its checkpoint."""
    try:
        return bool(_STATIC.search(host.read(CHECKPOINT)))
    except OSError:
        return False
