# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of plain files: the layout of a node with one cgroup version and driver, whose counters a test moves.

The description begins with a recorded layout (``tests/unit/fixtures/hosts/_v1.yml`` and ``_v2.yml``).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, merged, snapshot_of

CGROUPS = "/sys/fs/cgroup"
KINDS = tuple((version, driver) for version in ("v1", "v2") for driver in ("systemd", "cgroupfs"))
CONTROLLERS = {
    "v1": ("cpu,cpuacct", "memory", "cpuset", "blkio", "pids", "net_cls,net_prio", "systemd"),
    "v2": ("",),
}
"""Directories of hierarchies below ``CGROUPS``; v2 has only one."""
TREES = {
    "systemd": {
        "pods": "kubepods.slice",
        "burstable": "kubepods.slice/kubepods-burstable.slice",
        "besteffort": "kubepods.slice/kubepods-besteffort.slice",
    },
    "cgroupfs": {"pods": "kubepods", "burstable": "kubepods/burstable", "besteffort": "kubepods/besteffort"},
}
"""kubelet's cgroups of pods and classes, as `tests/judges/test_cgroup_names.py` shows them."""

UNLIMITED = "9223372036854771712"
FILES = {
    "": {
        "cgroup.controllers": "cpuset cpu io memory pids",
        "cgroup.procs": "",
        "cpu.stat": "usage_usec 00000000000000000000\nuser_usec 0\nsystem_usec 0",
        "cpu.weight": "100",
        "cpu.max": "max 100000",
        "cpu.max.burst": "0",
        "memory.stat": "anon 00000000000000000000\nfile 0\nkernel 0\nshmem 0\nslab 0",
        "memory.min": "0",
        "memory.low": "0",
        "memory.high": "max",
        "memory.max": "max",
    },
    "cpu,cpuacct": {
        "cpuacct.usage": "00000000000000000000",
        "cpu.shares": "1024",
        "cpu.cfs_quota_us": "-1",
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_burst_us": "0",
    },
    "memory": {
        "memory.stat": "cache 0\nrss 0\ntotal_cache 0\ntotal_rss 00000000000000000000\ntotal_swap 0",
        "memory.limit_in_bytes": UNLIMITED,
    },
}
"""Files of a new cgroup by hierarchy, with the kernel's initial values. Counters have a fixed width."""
CPU_COUNTERS = {
    "v1": ("cpu,cpuacct", "cpuacct.usage", "{:020d}", 1),
    "v2": ("", "cpu.stat", "usage_usec {:020d}", 1000),
}
"""Hierarchy, file, form of its first bytes, and nanoseconds in its unit."""
MEMORY_COUNTERS = {
    "v1": ("memory", "memory.stat", "cache 0\nrss 0\ntotal_cache 0\ntotal_rss {:020d}"),
    "v2": ("", "memory.stat", "anon {:020d}"),
}
PROC_STAT = "cpu  {:020d} 0 0 0 0 0 0 0 0 0"
JIFFY = 10_000_000
"""Nanoseconds of the unit of /proc/stat."""
MEMINFO = "MemTotal:        {:020d} kB\nMemFree:         {:020d} kB\nMemAvailable:    {:020d} kB\n"
MEMORY = 8 << 30
TICK = 0.05
"""Seconds between two updates of the counters; an agent measures over one second."""


@dataclass(frozen=True)
class Load:
    """Thousandths of a CPU that Burstable and BestEffort pods use."""

    burstable: int = 0
    besteffort: int = 0

    def of(self, level: str) -> int:
        return {"pods": self.burstable + self.besteffort}.get(level, getattr(self, level, 0))


class Machine:
    """A machine whose files are below ``root``; ``snapshot`` is what `assess` records of it."""

    def __init__(self, directory: Path, name: str, version: str, driver: str) -> None:
        self.name, self.version, self.driver = name, version, driver
        self.root, self.snapshot = directory / "root", directory / "snapshot.json"
        self.machine_id, self.boot_id = name.encode().hex().ljust(32, "0")[:32], f"boot-{name}"
        host = merged(described(f"_{version}").host, description(name, version, driver, self.machine_id, self.boot_id))
        self.snapshot.write_text(json.dumps(snapshot_of(host, self.root)))
        self._load, self._since, self._used = Load(), time.monotonic_ns(), dict.fromkeys(TREES[driver], 0)
        self._lock = threading.Lock()

    def directory(self, cgroup: str, hierarchy: str = "") -> Path:
        """The directory of a cgroup."""
        return self.root / CGROUPS.lstrip("/") / hierarchy / cgroup

    def make_cgroup(self, cgroup: str) -> None:
        """Create a cgroup in each hierarchy, as the kernel does."""
        for hierarchy in CONTROLLERS[self.version]:
            directory = self.directory(cgroup, hierarchy)
            directory.mkdir()
            for name, text in FILES.get(hierarchy, {}).items():
                (directory / name).write_text(text + "\n")

    def load(self, load: Load) -> None:
        """Use this much CPU from now on."""
        with self._lock:
            self._count(time.monotonic_ns())
            self._load = load

    def use_memory(self, pods: int, system: int) -> None:
        """Bytes that all pods use, and those that are used outside of pods."""
        hierarchy, file, form = MEMORY_COUNTERS[self.version]
        overwrite(self.directory(TREES[self.driver]["pods"], hierarchy) / file, form.format(pods))
        overwrite(self.root / "proc/meminfo", meminfo(pods + system))

    def tick(self) -> None:
        """Bring the counters up to date."""
        with self._lock:
            if self._load != Load():
                self._count(time.monotonic_ns())

    def _count(self, now: int) -> None:
        hierarchy, file, form, unit = CPU_COUNTERS[self.version]
        for level, cgroup in TREES[self.driver].items():
            self._used[level] += (now - self._since) * self._load.of(level) // 1000
            overwrite(self.directory(cgroup, hierarchy) / file, form.format(self._used[level] // unit))
        overwrite(self.root / "proc/stat", PROC_STAT.format(self._used["pods"] // JIFFY))
        self._since = now


def meminfo(used: int) -> str:
    """The first lines of /proc/meminfo."""
    return MEMINFO.format(MEMORY >> 10, (MEMORY - used) >> 10, (MEMORY - used) >> 10)


def overwrite(path: Path, text: str) -> None:
    """Replace the first bytes of a file in one call, so that no reader sees a part of them."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(handle, text.encode(), 0)
    finally:
        os.close(handle)


class Clock:
    """Moves the counters of machines while it runs."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        self._machines = machines
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Clock:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(TICK):
            for machine in self._machines.values():
                machine.tick()


def description(name: str, version: str, driver: str, machine_id: str, boot_id: str) -> dict[str, Any]:
    """What a machine has beside the recorded layout, in the form of `described_hosts`."""
    files: dict[str, str | None] = {
        "/etc/machine-id": f"{machine_id}\n",
        "/proc/sys/kernel/hostname": f"{name}\n",
        "/proc/sys/kernel/random/boot_id": f"{boot_id}\n",
        "/proc/stat": PROC_STAT.format(0) + "\n",
        "/proc/meminfo": meminfo(0),
        **dict(_cgroup_files(version, driver)),
    }
    if driver == "systemd":
        return {"files": files}
    base = described(f"_{version}").host
    cgroupfs = {
        path: text.replace("cgroupDriver: systemd", "cgroupDriver: cgroupfs").replace(
            "SystemdCgroup = true", "SystemdCgroup = false"
        )
        for path, text in base["files"].items()
        if text and path.endswith(("kubelet/config.yaml", "containerd/config.toml"))
    }
    removed = {path: None for path in base["files"] if "/kubepods.slice/" in path}
    handlers = {"runc": {"type": "io.containerd.runc.v2", "systemd_cgroup": False}}
    return {
        "files": {**removed, **files, **cgroupfs},
        "processes": {"pause": {"cgroup": _under_cgroupfs(base["processes"]["pause"]["cgroup"])}},
        "live": {"runtime": {"cri": {"config": {"handlers": handlers}}}},
    }


def _under_cgroupfs(lines: str) -> str:
    """The lines of /proc/PID/cgroup of a Guaranteed pod's container under the other driver."""
    return (
        lines.replace("/kubepods.slice/kubepods-pod", "/kubepods/pod")
        .replace(".slice/cri-containerd-", "/")
        .replace(".scope", "")
    )


def _cgroup_files(version: str, driver: str) -> Iterator[tuple[str, str]]:
    for hierarchy in CONTROLLERS[version]:
        for cgroup in ("system.slice", *TREES[driver].values()):
            for name, text in FILES.get(hierarchy, {"cgroup.procs": ""}).items():
                yield "/".join(filter(None, (CGROUPS, hierarchy, cgroup, name))), text + "\n"
