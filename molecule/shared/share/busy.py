# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""busy.py SECONDS OFFLINE ONLINE REQUEST: keep every CPU busy in the containers of two pods; print their CPU time.

It waits until kubelet has set the weight of Burstable pods from their requests, REQUEST thousandths of a CPU, up to a
minute after kubelet's start. The output is JSON:

``alone``: CPUs that the offline pod used while the online one was idle: 0.5 is half a CPU; ``throttled``: number of
periods in which a quota stopped it during that time; ``offline`` and ``online``: CPUs of each while both were busy;
``part``: the online pod's part of both; ``weights``: its part by kubelet's weights of the classes, null if the pods are
not in kubelet's cgroups. The object is empty if a pod does not run, for example because the drivers differ.
The busy loops run in the containers' cgroups, so the kernel treats them like a busy pod.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

ROOT = "/sys/fs/cgroup"

TIMEOUT = 90.0
"""Seconds; kubelet writes its classes once a minute."""

CLASS = re.compile(r".*/(?:burstable|besteffort|kubepods-(?:burstable|besteffort)\.slice)(?=/)")
WEIGHTS = ("cpu.weight", "cpu.shares")

WARM_UP = 1.0
"""Seconds until the kernel's averages and the first periods' quotas have no effect."""

TIME = 32
"""Bytes of the text of a time."""


def container(pod: str) -> str | None:
    """Return the id of a process of the pod's container; None if it does not run."""
    filters = f'labels."io.kubernetes.pod.name"=={pod},labels."io.kubernetes.container.name"==main'
    done = subprocess.run(["ctr", "-n", "k8s.io", "containers", "list", "-q", filters], check=True, capture_output=True)
    ids = done.stdout.decode().split()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        if any(container_id in text for container_id in ids):
            return process
    return None


def directories(process: str) -> list[str]:
    """Return the process's cgroup in each hierarchy, without systemd's on v1."""
    with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    paths = [os.path.join(ROOT, controllers) + path for _id, controllers, path in lines if "=" not in controllers]
    return [directory for directory in paths if os.path.exists(directory + "/cgroup.procs")]


def loop(where: list[str], seconds: float, ready: int, go: int, output: int) -> None:
    """Run in a separate process; write the CPU seconds used between two times that all loops share."""
    for directory in where:
        with open(directory + "/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    os.write(ready, b".")
    begin = float(os.read(go, TIME))
    while time.monotonic() < begin:
        pass
    used, end = time.process_time(), begin + seconds
    while time.monotonic() < end:
        pass
    os.write(output, f"{time.process_time() - used}\n".encode())
    os._exit(0)


def weight(where: list[str]) -> int | None:
    """Return the weight of a container's QoS class; None outside of kubelet's cgroups."""
    for directory in where:
        match = CLASS.match(directory)
        for name in WEIGHTS if match else ():
            path = f"{match.group(0)}/{name}" if match else ""
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    return int(file.read())
    return None


def kubelets(request: int) -> tuple[int, int]:
    """The weight and the shares of a request: pkg/kubelet/cm MilliCPUToShares, getCPUWeight."""
    shares = max(2, request * 1024 // 1000)
    return 1 + (shares - 2) * 9999 // 262142, shares


def await_weight(where: list[str], request: int) -> None:
    deadline = time.monotonic() + TIMEOUT
    while weight(where) not in (None, *kubelets(request)) and time.monotonic() < deadline:
        time.sleep(0.5)


def part(online: float | None, offline: float | None) -> float | None:
    """Return the online part of both."""
    return None if online is None or offline is None else round(online / ((online + offline) or 1), 2)


def throttled(where: list[str]) -> int:
    """Periods in which a quota of the cgroup, or of one above it, was used up."""
    periods = 0
    for directory in where:
        while len(directory) > len(ROOT):
            try:
                with open(directory + "/cpu.stat", encoding="utf-8") as file:
                    periods += sum(int(line.split()[1]) for line in file if line.startswith("nr_throttled "))
            except FileNotFoundError:
                break
            directory = os.path.dirname(directory)
    return periods


def shares(seconds: float, where: dict[str, list[str]]) -> dict[str, float]:
    """Return {pod: CPUs that it used} while all pods were busy.

    The loops begin after all are in their cgroups: a slow node may need half a second for each.
    """
    (arrived, ready), (start, go), answers = os.pipe(), os.pipe(), {}
    cpus = os.cpu_count() or 1
    for pod, below in where.items():
        read, write = os.pipe()
        for _cpu in range(cpus):
            if os.fork() == 0:
                os.close(arrived)
                loop(below, seconds, ready, start, write)
        os.close(write)
        answers[pod] = read
    os.close(ready)
    loops = cpus * len(where)
    if sum(len(os.read(arrived, 1)) for _loop in range(loops)) < loops:
        raise SystemExit("A loop could not be put into the container's cgroup.")
    os.write(go, f"{time.monotonic() + WARM_UP:<{TIME}}".encode() * loops)
    cpus_of_pods = {}
    for pod, read in answers.items():
        with os.fdopen(read, encoding="utf-8") as file:
            cpus_of_pods[pod] = round(sum(float(line) for line in file) / seconds, 2)
    for end in (arrived, start, go):
        os.close(end)
    return cpus_of_pods


def main(seconds: float, offline: str, online: str, request: int) -> None:
    processes = {pod: container(pod) for pod in (offline, online)}
    where = {pod: directories(process) for pod, process in processes.items() if process}
    if len(where) < len(processes):
        print("{}")
        return
    await_weight(where[online], request)
    before = throttled(where[offline])
    alone = shares(seconds, {offline: where[offline]})[offline]
    stopped = throttled(where[offline]) - before
    both = shares(seconds, where)
    result = {
        "alone": alone,
        "throttled": stopped,
        "offline": both[offline],
        "online": both[online],
        "part": part(both[online], both[offline]),
        "weights": part(weight(where[online]), weight(where[offline])),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
