# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""record.py now|stable FILE...: print the state of kernel and services and the hash of each file as one JSON document.

stable: wait until kubelet responds and the unit that applies settings has run since kubelet started. The tests check
the values after the scenario. It is one program, because each command over ssh costs an emulated node a second;
moments.py sends it. If a value cannot be read, the text says why, and the test that reads it fails.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

TIMEOUT = 180.0
"""Seconds; after that the current state is recorded."""

PAUSE = 2.0
"""Seconds between two checks, each of which costs an emulated node a third of a second."""

ROOT = "/sys/fs/cgroup"
CONTAINER = re.compile(r"[0-9a-f]{64}")
TREES = ("kubepods", "kubepods.slice")
LEVELS = ("system.slice", "kubepods*", "kubepods*/*burstable*", "kubepods*/*besteffort*")
VALUES = (
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.max",
    "cpu.shares",
    "cpu.weight",
    "memory.high",
    "memory.limit_in_bytes",
    "memory.low",
    "memory.max",
    "pids.max",
)
KUBELET = "/var/lib/kubelet"
TEXTS = (f"{KUBELET}/config.yaml", f"{KUBELET}/cpu_manager_state", f"{KUBELET}/memory_manager_state")
WATCHED = ("/etc/kubernetes/manifests", "/etc/containerd", KUBELET)
NUMA = "/sys/devices/system/node/node"
HEALTH = "http://127.0.0.1:10248/healthz"


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        return f"{path}: {error.strerror}"


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False)
    return (done.stdout if done.returncode in (0, 3) else done.stderr).decode().strip()


def hierarchies() -> dict[str, str]:
    """Return {name: directory} of the mounted hierarchies: '.' on v2; on v1 each controller's and systemd's."""
    mounts = [line.split() for line in read("/proc/mounts").splitlines()]
    return {os.path.relpath(mount[1], ROOT): mount[1] for mount in mounts if mount[2] in ("cgroup", "cgroup2")}


def containers() -> dict[str, str]:
    """{process id: cgroup} of every container process, in the hierarchy that limits memory."""
    cgroups = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        for line in filter(re.compile(r"\d+:.*:").match, read(f"/proc/{process}/cgroup").splitlines()):
            _number, controllers, path = line.split(":", 2)
            if controllers in ("", "memory") and CONTAINER.search(path):
                cgroups[process] = path
    return cgroups


def processes(directory: str) -> list[str]:
    """Return the process ids in a tree of cgroups."""
    return [pid for path, _directories, _files in os.walk(directory) for pid in read(f"{path}/cgroup.procs").split()]


def levels() -> dict[str, dict[str, str]]:
    """{cgroup: {file: value}}; the files of v1's controllers have different names."""
    values: dict[str, dict[str, str]] = {}
    for root in hierarchies().values():
        for level in LEVELS:
            for name in VALUES:
                for path in glob.glob(f"{root}/{level}/{name}"):
                    cgroup = os.path.relpath(os.path.dirname(path), root)
                    values.setdefault(cgroup, {})[name] = read(path).strip()
    return values


def cpusets(name: str) -> dict[str, str]:
    """{cgroup: what a file of its cpuset has} of kubelet's tree; empty on the version that does not have the file."""
    root = hierarchies().get("cpuset", ROOT)
    paths = glob.glob(f"{root}/kubepods*/**/{name}", recursive=True)
    return {os.path.relpath(os.path.dirname(path), root): read(path).strip() for path in paths}


def numa_nodes() -> dict[str, dict[str, str]]:
    """{number: its CPUs and its memory} of each NUMA node."""
    return {
        directory[len(NUMA) :]: {"cpus": read(f"{directory}/cpulist").strip(), "memory": read(f"{directory}/meminfo")}
        for directory in glob.glob(f"{NUMA}[0-9]*")
    }


def health() -> str:
    try:
        with urllib.request.urlopen(HEALTH, timeout=30) as response:
            return str(response.read().decode())
    except OSError as error:
        return f"{HEALTH}: {error}"


def monotonic(unit: str, name: str) -> int:
    """Return a timestamp of a unit in microseconds, 0 for never."""
    return int(run("systemctl", "show", unit, "--property", name, "--value") or 0)


def is_stable() -> bool:
    """Whether kubelet responds, and settings were applied again after its start."""
    if health() != "ok":
        return False
    applied = monotonic("volcano-colocation-qos.service", "ExecMainExitTimestampMonotonic")
    return applied > monotonic("kubelet.service", "ExecMainStartTimestampMonotonic")


def digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return f"{path}: {error.strerror}"


def main(when: str, files: list[str]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while when == "stable" and not is_stable() and time.monotonic() < deadline:
        time.sleep(PAUSE)
    trees = {tree: {name: processes(f"{root}/{tree}") for name, root in hierarchies().items()} for tree in TREES}
    document = {
        "file_system": run("stat", "--file-system", "--format=%t", ROOT),
        "memory": read("/proc/meminfo"),
        "services": {name: run("systemctl", "is-active", name) for name in ("kubelet", "containerd")},
        "health": health(),
        "containers": containers(),
        "trees": trees,
        "levels": levels(),
        "cpusets": cpusets("cpuset.cpus"),
        # The file of v2, else of v1: on v2 cpuset.mems is empty if a cgroup has all nodes of its parent.
        "memory_nodes": cpusets("cpuset.mems.effective") or cpusets("cpuset.mems"),
        "numa": numa_nodes(),
        "texts": {path: read(path) for path in TEXTS},
        "containerd": {"version": run("containerd", "--version"), "config": run("containerd", "config", "dump")},
        "kubelet": run("kubelet", "--version"),
        "kernel": run("uname", "-a"),
        "sockets": read("/proc/net/unix"),
        "digests": {path: digest(path) for path in files},
        "names": {directory: os.listdir(directory) for directory in WATCHED},
    }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
