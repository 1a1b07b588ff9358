# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of plain files as the kernel shows cgroups, with kubelet's pods in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Tuple

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos.setting_request import (
    kubelet_cgroups,
    parse_request,
    to_result,
)
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock, Host
from ansible_collections.volcano.colocation.plugins.module_utils.settings import workflow
from ansible_collections.volcano.colocation.plugins.module_utils.settings.cgroup_state import Node

ROOT = "/cgroups"
UIDS = {
    "guaranteed": "11111111-2222-3333-4444-555555555555",
    "burstable": "66666666-7777-8888-9999-aaaaaaaaaaaa",
    "besteffort": "0123456789abcdef0123456789abcdef",
}
"""The last is a static pod's."""

V2_CONTROLLERS = "cpuset cpu io memory hugetlb pids"
V2 = {
    "cgroup.controllers": V2_CONTROLLERS,
    "cgroup.procs": "",
    "cpu.weight": "100",
    "cpu.idle": "0",
    "cpu.max": "max 100000",
    "cpu.max.burst": "0",
    "cpuset.cpus": "",
    "cpuset.mems": "",
    "memory.min": "0",
    "memory.low": "0",
    "memory.high": "max",
    "memory.max": "max",
    "memory.swap.max": "max",
    "memory.oom.group": "0",
    "pids.max": "max",
    "io.max": "",
    "hugetlb.2MB.max": "max",
}
UNLIMITED = "9223372036854771712"
V1 = {
    "cpu": {
        "cpu.shares": "1024",
        "cpu.idle": "0",
        "cpu.cfs_quota_us": "-1",
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_burst_us": "0",
        "cpu.qos_level": "0",
    },
    "cpuset": {"cpuset.cpus": "0-1", "cpuset.mems": "0"},
    "memory": {"memory.limit_in_bytes": UNLIMITED, "memory.memsw.limit_in_bytes": UNLIMITED},
    "pids": {"pids.max": "max"},
    "blkio": {},
    "systemd": {},
}
"""As openEuler's kernel without BFQ and CFQ has them, without files that the tests do not read."""

CGROUPS = {
    "systemd": {
        "guaranteed": "kubepods.slice",
        "burstable": "kubepods.slice/kubepods-burstable.slice",
        "besteffort": "kubepods.slice/kubepods-besteffort.slice",
    },
    "cgroupfs": {
        "guaranteed": "kubepods",
        "burstable": "kubepods/burstable",
        "besteffort": "kubepods/besteffort",
    },
}
PODS = {
    "systemd": {
        "guaranteed": "kubepods.slice/kubepods-pod11111111_2222_3333_4444_555555555555.slice",
        "burstable": "kubepods.slice/kubepods-burstable.slice/"
        "kubepods-burstable-pod66666666_7777_8888_9999_aaaaaaaaaaaa.slice",
        "besteffort": "kubepods.slice/kubepods-besteffort.slice/"
        "kubepods-besteffort-pod0123456789abcdef0123456789abcdef.slice",
    },
    "cgroupfs": {
        "guaranteed": "kubepods/pod11111111-2222-3333-4444-555555555555",
        "burstable": "kubepods/burstable/pod66666666-7777-8888-9999-aaaaaaaaaaaa",
        "besteffort": "kubepods/besteffort/pod0123456789abcdef0123456789abcdef",
    },
}

OPTIONS: dict[str, Any] = {
    "qos_class": None,
    "level": "class",
    "slice": None,
    "pod": None,
    "path": None,
    "settings": None,
    "state": "present",
    "unsupported": "fail",
    "persistent": True,
    "cpus": None,
    "memory": None,
    "cgroup_driver": "auto",
    "kubelet_cgroup_root": "/",
    "kubelet_root_dir": "/var/lib/kubelet",
    "kubelet_version": "1.31",
    "memory_qos": None,
    "cgroup_root": ROOT,
}
"""The module's options with AnsibleModule's defaults."""

Snapshot = Dict[str, Tuple[int, str]]


class Tree:
    """A node whose files are below ``directory``."""

    def __init__(self, directory: Path, mode: str, driver: str) -> None:
        self.directory, self.mode, self.driver = directory, mode, driver
        self.host = Host(str(directory))
        self.top = directory / ROOT.lstrip("/")
        self.write("/proc/sys/kernel/random/boot_id", "first-boot\n")
        self.write("/var/lib/kubelet/cpu_manager_state", '{"policyName":"none","defaultCpuSet":"","checksum":1}')
        self.write("/sys/devices/system/cpu/online", "0-3\n")
        self.write("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:         1024 kB\n")
        self.make("")
        self.make("system.slice")
        for cgroup in (*CGROUPS[driver].values(), *PODS[driver].values()):
            self.make(cgroup)
        self.make(PODS[driver]["besteffort"] + "/container", "4711")

    def write(self, path: str, text: str) -> None:
        target = Path(self.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def make(self, cgroup: str, processes: str = "") -> None:
        """Make a cgroup as the kernel does."""
        if self.mode == "v2":
            self._fill(self.top / cgroup, {**V2, "cgroup.procs": processes})
            return
        for controller, files in V1.items():
            self._fill(self.top / controller / cgroup, {**files, "cgroup.procs": processes})

    def _fill(self, directory: Path, files: dict[str, str]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (directory / name).write_text(text + "\n")

    def file(self, cgroup: str, name: str) -> Path:
        """Return a file of a cgroup; on v1 its name begins with the name of its controller."""
        if self.mode == "v2":
            return self.top / cgroup / name
        return self.top / name.partition(".")[0] / cgroup / name

    def read(self, cgroup: str, name: str) -> str:
        return self.file(cgroup, name).read_text().rstrip("\n")

    def snapshot(self) -> Snapshot:
        """Return time and text of every file of the cgroups and of the record, so that any write is detected."""
        contents = {}
        for top in (self.top, self.directory / "var/lib/volcano-colocation"):
            for path in sorted(top.rglob("*")) if top.exists() else ():
                if path.is_file() and path.name not in ("lock", "qos.lock"):
                    contents[str(path.relative_to(self.directory))] = (path.stat().st_mtime_ns, path.read_text())
        return contents

    def texts(self) -> dict[str, str]:
        return {path: text for path, (_time, text) in self.snapshot().items()}

    def plan(self, **options: Any) -> workflow.Plan:
        filled = {**OPTIONS, **options}
        mounts = hierarchies(self.host, ROOT)
        tree = kubelet_cgroups(self.host, mounts, filled)
        return workflow.plan(
            self.node(), tree, parse_request(self.host, filled), lambda pod: UIDS.get(pod.partition("/")[2])
        )

    def node(self) -> Node:
        return Node(self.host, hierarchies(self.host, ROOT))

    def run(self, **options: Any) -> dict[str, Any]:
        """Run the module and return its result; check mode must predict the same result and write nothing."""
        before = self.snapshot()
        predicted = to_result(self.plan(**options))
        assert self.snapshot() == before
        plan = self.plan(**options)
        workflow.execute(self.node(), plan, Clock())
        assert to_result(plan) == predicted
        if not predicted["changed"]:
            assert self.snapshot() == before
        return predicted


def make_unwritable(path: Path) -> None:
    """Replace a file by a directory of its name, so that even root cannot write it."""
    path.unlink()
    os.mkdir(str(path))
