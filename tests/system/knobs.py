# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each setting of the registry on nodes of both cgroup versions: what is asked for, and what the kernel's files say.

tests/unit/project/test_node_cases.py compares this with the registry.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import SIZED, knob
from ansible_collections.volcano.colocation.tests.system.node import Node, ansible, lab

HERE = Path(__file__).parent
MI = 1 << 20
DEVICE = "DEVICE"
"""Stands for MAJOR:MINOR of the node's disk."""
HUGE_PAGES = SIZED.replace("<size>", "2MB")

SETTINGS: Mapping[str, Any] = {
    "cpu_weight": 300,
    "cpu_idle": True,
    "cpu_period": "50ms",
    "cpu_quota": "0.6",
    "cpu_burst": "20ms",
    "cpuset_cpus": "1",
    "cpuset_mems": "0",
    "cpuset_partition": "root",
    "memory_min": "4Mi",
    "memory_low": "8Mi",
    "memory_high": "64Mi",
    "memory_max": "96Mi",
    "memory_swap_max": "32Mi",
    "memory_oom_group": True,
    "pids_max": 700,
    "io_weight": 300,
    "io_max": {DEVICE: {"rbps": "10M", "wiops": 100}},
}

FILES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "v2": {
        "cpu_weight": {"cpu.weight": "300"},
        "cpu_idle": {"cpu.idle": "1"},
        "cpu_period": {"cpu.max": "30000 50000"},
        "cpu_quota": {"cpu.max": "30000 50000"},
        "cpu_burst": {"cpu.max.burst": "20000"},
        "cpuset_cpus": {"cpuset.cpus": "1"},
        "cpuset_mems": {"cpuset.mems": "0"},
        "cpuset_partition": {"cpuset.cpus.partition": "root"},
        "memory_min": {"memory.min": str(4 * MI)},
        "memory_low": {"memory.low": str(8 * MI)},
        "memory_high": {"memory.high": str(64 * MI)},
        "memory_max": {"memory.max": str(96 * MI)},
        "memory_swap_max": {"memory.swap.max": str(32 * MI)},
        "memory_oom_group": {"memory.oom.group": "1"},
        "pids_max": {"pids.max": "700"},
        # 100 + 200 * 900 / 9900: systemd src/basic/cgroup-util.h.
        "io_weight": {"io.weight": "default 300", "io.bfq.weight": "default 118"},
        "io_max": {"io.max": f"{DEVICE} rbps=10000000 wbps=max riops=max wiops=100"},
    },
    "v1": {
        # 300 * 1024 / 100: systemd src/core/cgroup.c.
        "cpu_weight": {"cpu.shares": "3072"},
        "cpu_idle": {"cpu.idle": "1"},
        "cpu_period": {"cpu.cfs_period_us": "50000"},
        "cpu_quota": {"cpu.cfs_quota_us": "30000"},
        "cpu_burst": {"cpu.cfs_burst_us": "20000"},
        "cpuset_cpus": {"cpuset.cpus": "1"},
        "cpuset_mems": {"cpuset.mems": "0"},
        "memory_max": {"memory.limit_in_bytes": str(96 * MI)},
        "memory_swap_max": {"memory.memsw.limit_in_bytes": str(128 * MI)},
        "pids_max": {"pids.max": "700"},
        "io_weight": {"blkio.bfq.weight": "118"},
        "io_max": {
            "blkio.throttle.read_bps_device": f"{DEVICE} 10000000",
            "blkio.throttle.write_iops_device": f"{DEVICE} 100",
        },
    },
}
"""{cgroup version: {setting: {kernel's file: its text}}}"""

BY_SYSTEMD = {"v1": {"blkio.bfq.weight": "181"}}
"""Where systemd writes another text: src/core/cgroup.c set_blkio_weight."""

_ANOLIS = "only kernels of Anolis have it on v1"
_OPEN_EULER = "only kernels of openEuler and Huawei Cloud EulerOS have it"
LACKING: Mapping[str, Mapping[str, str]] = {
    "v2": {
        "cpu_bvt_warp_ns": "only kernels of Anolis and Alibaba Cloud Linux have it",
        SIZED: "Linux for user mode has no huge pages: molecule/shared/tests/test_huge_pages.py",
    },
    "v1": {
        "memory_min": _ANOLIS,
        "memory_low": _ANOLIS,
        "memory_high": _ANOLIS,
        "cpu_qos_level": _OPEN_EULER,
        "memory_qos_level": _OPEN_EULER,
        "cpu_bvt_warp_ns": "only kernels of Anolis and Alibaba Cloud Linux have it",
        SIZED: "Linux for user mode has no huge pages: molecule/shared/tests/test_huge_pages.py",
    },
}
"""{cgroup version: {setting that no kernel of these nodes has: why, or where it is tested}}"""
ASKED = {"memory_min": "4Mi", "memory_low": "8Mi", "memory_high": "64Mi"}
"""What is asked for where it is lacking; 0 and for huge pages 2Mi otherwise."""

PINNED = ("cpuset_cpus", "cpuset_mems", "cpuset_partition")


@dataclass(frozen=True)
class Target:
    """``where``: options of the module. ``folder``: the cgroup below each mount point; pods are a pattern."""

    where: Mapping[str, Any]
    folder: str
    names: tuple[str, ...]
    systemd: bool


def targets(mode: str) -> tuple[Target, ...]:
    """Slices and a pod that systemd has, and cgroups that it has not: all settings on each, as far as they agree."""
    every = tuple(name for name in FILES[mode] if name not in ("cpu_idle", "cpuset_partition"))
    of_pod = tuple(name for name in every if name not in PINNED)
    below = "system.slice/knobs.service/" if mode == "v2" else ""
    plain, idle = (f"{below}plain", f"{below}idle") if below else ("knobs", "knobsidle")
    pod = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod*.slice"
    partition = Target(
        {"slice": "knobspartition.slice"}, "knobspartition.slice", ("cpuset_cpus", "cpuset_partition"), systemd=True
    )
    return (
        *((partition,) if mode == "v2" else ()),
        Target({"slice": "knobsidle.slice"}, "knobsidle.slice", ("cpu_idle",), systemd=True),
        Target({"path": idle}, idle, ("cpu_idle",), systemd=False),
        Target({"path": plain}, plain, every, systemd=False),
        Target({"qos_class": "burstable", "level": "pods"}, pod, of_pod, systemd=True),
        # Last: systemd takes memory_oom_group of a slice back when it writes a slice beside it.
        Target({"slice": "knobs.slice"}, "knobs.slice", every, systemd=True),
    )


def options(mode: str, device: str) -> list[dict[str, Any]]:
    """The module's, one for each target; what no kernel here has is asked for on a cgroup that is not systemd's."""
    given = json.loads(json.dumps(SETTINGS).replace(DEVICE, device))
    lacking = {_named(name): ASKED.get(name, "2Mi" if name == SIZED else 0) for name in LACKING[mode]}
    found = []
    for target in targets(mode):
        settings = {name: given[name] for name in target.names}
        more = lacking if not target.systemd and len(target.names) > 1 else {}
        found.append({**target.where, "settings": {**settings, **more}, "unsupported": "skip"})
    return found


def lacking(mode: str) -> list[str]:
    """Names of the settings that are left out."""
    return sorted(_named(name) for name in LACKING[mode])


def _named(name: str) -> str:
    return HUGE_PAGES if name == SIZED else name


def expected(mode: str, device: str) -> dict[str, str]:
    """{path of a kernel's file: its text} once all is set."""
    found = {}
    for target in targets(mode):
        for name in target.names:
            for file, text in FILES[mode][name].items():
                said = BY_SYSTEMD.get(mode, {}).get(file, text) if target.systemd else text
                found[_path(mode, target, name, file)] = said.replace(DEVICE, device)
    return found


def _path(mode: str, target: Target, name: str, file: str) -> str:
    controller = "" if mode == "v2" else f"{knob(name).controller(mode)}/"
    return f"/sys/fs/cgroup/{controller}{target.folder}/{file}"


READ = """import glob, json, sys
print(json.dumps({path: open(name).read().strip() for path in sys.argv[1:] for name in glob.glob(path)}))"""
REMOVE = """slices='knobs.slice knobsidle.slice knobspartition.slice'
systemctl stop knobs.service $slices; systemctl revert $slices
find /sys/fs/cgroup -depth -type d -name 'knobs*' -exec rmdir {} +"""


def kernel(node: Node, mode: str) -> dict[str, str]:
    """{path: text} of every file of every setting of the targets; systemd writes a moment after it has answered."""
    paths = {
        _path(mode, target, name, file)
        for target in targets(mode)
        for name in target.names
        for file in knob(name).files(mode)
    }
    words = " ".join(shlex.quote(path) for path in sorted(paths))
    found: dict[str, str] = json.loads(node.shell(f"sleep 1; python3 -c {shlex.quote(READ)} {words}"))
    return found


@dataclass(frozen=True)
class Outcome:
    """How many targets changed, and the settings that were left out."""

    changed: int
    left_out: list[str]


def attempt(node: Node, options: list[dict[str, Any]], *arguments: str) -> Outcome:
    run = ansible(str(HERE / "knobs.yml"), node.folder, "-i", node.inventory, *arguments, knobs_options=options)
    assert run.code == 0, run.output[-4000:]
    found = re.search(r"changed: (\d+); left out: ([^;]*);", run.output)
    assert found, run.output
    return Outcome(int(found[1]), found[2].split())


@contextmanager
def cgroups(node: Node, mode: str) -> Iterator[str]:
    """The cgroups of the targets while they are there; MAJOR:MINOR of the node's disk."""
    lab("ssh", node.name, "--", f"sh -s {mode}", text=(HERE / "knobs.sh").read_text())
    try:
        yield node.shell("findmnt --noheadings --output MAJ:MIN /").strip()
    finally:
        node.shell(f"( {REMOVE} ) 2>/dev/null || true")


def differing(now: Mapping[str, str], said: Mapping[str, str]) -> dict[str, tuple[str | None, str]]:
    """{path: (what the kernel says, what it should)}"""
    return {path: (now.get(path), text) for path, text in said.items() if now.get(path) != text}


def go_through(node: Node, mode: str) -> None:
    """Set all, again, put back, again; AssertionError where the kernel says something else."""
    with cgroups(node, mode) as device:
        wanted, said = options(mode, device), expected(mode, device)
        absent = [{**target.where, "state": "absent"} for target in targets(mode)]
        before = kernel(node, mode)
        assert differing(before, said).keys() == said.keys(), said.keys() - differing(before, said).keys()
        predicted = attempt(node, wanted, "--check")
        assert predicted == Outcome(len(wanted), lacking(mode)), predicted
        assert not differing(kernel(node, mode), before), differing(kernel(node, mode), before)

        done = attempt(node, wanted)
        assert done == predicted, done
        now = kernel(node, mode)
        assert not differing(now, said), differing(now, said)
        again = attempt(node, wanted)
        assert again.changed == 0, again
        assert not differing(kernel(node, mode), now), differing(kernel(node, mode), now)

        back = attempt(node, absent)
        assert back.changed == len(wanted), back
        now = kernel(node, mode)
        assert not differing(now, before), differing(now, before)
        again = attempt(node, absent)
        assert again.changed == 0, again
