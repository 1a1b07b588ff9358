# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which properties of its own slices kubelet writes itself: the same table as for single settings."""

from __future__ import annotations

from ..cgroup import slices
from ..cgroup.container_paths import KubeletCgroup, classify
from ..cgroup.names import Driver
from ..errors import ColocationError
from ..host import Host
from ..qos.knobs import KNOBS
from ..qos.kubelet import static_cpu
from ..qos.ownership import Place, place_of, refusal
from .properties import Setting

KUBELET_ROOT = "/var/lib/kubelet"


def is_kubelets(name: str) -> bool:
    """Whether kubelet makes a slice of this name, with StartTransientUnit, which must not find a unit file."""
    return _cgroup(name) is not None


def require_ours(host: Host, name: str, wanted: tuple[Setting, ...]) -> None:
    """ColocationError for a property that kubelet writes on this slice, with the way out.

    kubelet's version and gates are not known here, and what depends on them is refused.
    """
    found = _cgroup(name)
    if found is None:
        return
    place, qos = place_of(found), found.qos.value
    # A policy that is unknown is taken for static.
    static = static_cpu(host, KUBELET_ROOT) is not False
    for setting in wanted:
        knob = KNOBS.get(_knob(setting))
        if knob is None:
            continue
        reason = refusal(knob, place, qos, Driver.SYSTEMD.value, None, static_cpu=static, memory_qos=None)
        if reason:
            raise ColocationError(f"{setting.name} of {name} is kubelet's: {reason}")


def _cgroup(name: str) -> KubeletCgroup | None:
    """The cgroup of a slice of kubelet's, or of one in a pod's, under any cgroupRoot."""
    found = None if slices.problem(name) else classify(slices.expand(name))
    return None if found is None or place_of(found) is Place.OTHER else found


def _knob(setting: Setting) -> str:
    """The single setting that a property stands for; empty when there is none."""
    if setting.value.name == "CPUWeight":
        return "cpu_idle" if setting.value.value == 0 else "cpu_weight"
    return next((name for name, knob in KNOBS.items() if setting.value.name in knob.property_names), "")
