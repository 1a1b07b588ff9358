# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each setting of the registry on nodes of both cgroup versions: the option, and the text of the kernel's files.

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

DIRECTORY = Path(__file__).parent
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
"""{cgroup version: {setting that these nodes' kernels lack: reason, or where it is tested}}"""
ASKED = {"memory_min": "4Mi", "memory_low": "8Mi", "memory_high": "64Mi"}
"""Values of lacking settings; others are 0, and 2Mi for huge pages."""

PINNED = ("cpuset_cpus", "cpuset_mems", "cpuset_partition")


@dataclass(frozen=True)
class Target:
    """``where``: options of the module. ``directory``: the cgroup below each mount point; pods are a pattern."""

    where: Mapping[str, Any]
    directory: str
    names: tuple[str, ...]
    systemd: bool


def targets(mode: str) -> tuple[Target, ...]:
    """Return slices and a pod of systemd, and cgroups outside of systemd: all compatible settings on each."""
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
        # Last: systemd resets memory_oom_group of a slice when it writes a sibling slice.
        Target({"slice": "knobs.slice"}, "knobs.slice", every, systemd=True),
    )


def options(mode: str, device: str) -> list[dict[str, Any]]:
    """Return module options for each target; settings that the kernels lack go to a cgroup outside of systemd."""
    values = json.loads(json.dumps(SETTINGS).replace(DEVICE, device))
    lacking = {_named(name): ASKED.get(name, "2Mi" if name == SIZED else 0) for name in LACKING[mode]}
    module_options = []
    for target in targets(mode):
        settings = {name: values[name] for name in target.names}
        more = lacking if not target.systemd and len(target.names) > 1 else {}
        module_options.append({**target.where, "settings": {**settings, **more}, "unsupported": "skip"})
    return module_options


def lacking(mode: str) -> list[str]:
    """Return names of the unsupported settings."""
    return sorted(_named(name) for name in LACKING[mode])


def _named(name: str) -> str:
    return HUGE_PAGES if name == SIZED else name


def expected(mode: str, device: str) -> dict[str, str]:
    """{path of a kernel's file: its text} once all is set."""
    texts = {}
    for target in targets(mode):
        for name in target.names:
            for file, text in FILES[mode][name].items():
                written = BY_SYSTEMD.get(mode, {}).get(file, text) if target.systemd else text
                texts[_path(mode, target, name, file)] = written.replace(DEVICE, device)
    return texts


def _path(mode: str, target: Target, name: str, file: str) -> str:
    controller = "" if mode == "v2" else f"{knob(name).controller(mode)}/"
    return f"/sys/fs/cgroup/{controller}{target.directory}/{file}"


READ = """import glob, json, sys
print(json.dumps({path: open(name).read().strip() for path in sys.argv[1:] for name in glob.glob(path)}))"""
REMOVE = """slices='knobs.slice knobsidle.slice knobspartition.slice'
systemctl stop knobs.service $slices; systemctl revert $slices
find /sys/fs/cgroup -depth -type d -name 'knobs*' -exec rmdir {} +"""


def kernel(node: Node, mode: str) -> dict[str, str]:
    """Return {path: text} of all files of the targets' settings; systemd writes shortly after its response."""
    paths = {
        _path(mode, target, name, file)
        for target in targets(mode)
        for name in target.names
        for file in knob(name).files(mode)
    }
    words = " ".join(shlex.quote(path) for path in sorted(paths))
    texts: dict[str, str] = json.loads(node.shell(f"sleep 1; python3 -c {shlex.quote(READ)} {words}"))
    return texts


@dataclass(frozen=True)
class Outcome:
    """How many targets changed, and the unsupported settings."""

    changed: int
    left_out: list[str]


def attempt(node: Node, options: list[dict[str, Any]], *arguments: str) -> Outcome:
    run = ansible(str(DIRECTORY / "knobs.yml"), node.directory, "-i", node.inventory, *arguments, knobs_options=options)
    assert run.code == 0, run.output[-4000:]
    match = re.search(r"changed: (\d+); left out: ([^;]*);", run.output)
    assert match, run.output
    return Outcome(int(match[1]), match[2].split())


@contextmanager
def cgroups(node: Node, mode: str) -> Iterator[str]:
    """Create the cgroups of the targets; yield MAJOR:MINOR of the node's disk."""
    lab("ssh", node.name, "--", f"sh -s {mode}", text=(DIRECTORY / "knobs.sh").read_text())
    try:
        yield node.shell("findmnt --noheadings --output MAJ:MIN /").strip()
    finally:
        node.shell(f"( {REMOVE} ) 2>/dev/null || true")


def differing(now: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, tuple[str | None, str]]:
    """Return {path: (kernel's text, expected text)} of differences."""
    return {path: (now.get(path), text) for path, text in texts.items() if now.get(path) != text}


def check_all(node: Node, mode: str) -> None:
    """Set all, again, restore, again; AssertionError if the kernel has other values."""
    with cgroups(node, mode) as device:
        desired, texts = options(mode, device), expected(mode, device)
        absent = [{**target.where, "state": "absent"} for target in targets(mode)]
        before = kernel(node, mode)
        assert differing(before, texts).keys() == texts.keys(), texts.keys() - differing(before, texts).keys()
        predicted = attempt(node, desired, "--check")
        assert predicted == Outcome(len(desired), lacking(mode)), predicted
        assert not differing(kernel(node, mode), before), differing(kernel(node, mode), before)

        done = attempt(node, desired)
        assert done == predicted, done
        now = kernel(node, mode)
        assert not differing(now, texts), differing(now, texts)
        again = attempt(node, desired)
        assert again.changed == 0, again
        assert not differing(kernel(node, mode), now), differing(kernel(node, mode), now)

        back = attempt(node, absent)
        assert back.changed == len(desired), back
        now = kernel(node, mode)
        assert not differing(now, before), differing(now, before)
        again = attempt(node, absent)
        assert again.changed == 0, again
