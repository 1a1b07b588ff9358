# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""busy.py SECONDS OFFLINE ONLINE REQUEST: keeps every CPU busy in the containers of two pods; prints what they got.

It waits until kubelet has given Burstable pods the weight of their requests, REQUEST thousandths of a CPU, which may
take it a minute after its start. The answer is JSON:

``alone``: what the offline pod got before the online one was busy too, in CPUs: 0.5 is half of one; ``throttled``: in
how many periods the kernel stopped it for a quota meanwhile; ``offline`` and ``online``: what each got when both were
busy; ``part``: the online pod's part of that; ``weights``: the part that kubelet's weights of their classes make, null
where the pods are not in kubelet's cgroups. An empty object when a pod does not run, as where the drivers disagree so
that none can.
The loops are ours, in the containers' cgroups: what the kernel gives them is what it would give a busy pod.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

ROOT = "/sys/fs/cgroup"

PATIENCE = 90.0
"""Seconds; kubelet writes its classes once a minute."""

CLASS = re.compile(r".*/(?:burstable|besteffort|kubepods-(?:burstable|besteffort)\.slice)(?=/)")
WEIGHTS = ("cpu.weight", "cpu.shares")

SETTLE = 1.0
"""Seconds until the kernel's averages, and quotas of the first periods, do not count any more."""

TIME = 32
"""Bytes of the text of a time."""


def container(pod: str) -> str | None:
    """Process id of a process of the pod's container; None when it does not run."""
    filters = f'labels."io.kubernetes.pod.name"=={pod},labels."io.kubernetes.container.name"==main'
    done = subprocess.run(["ctr", "-n", "k8s.io", "containers", "list", "-q", filters], check=True, capture_output=True)
    ids = done.stdout.decode().split()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        if any(each in text for each in ids):
            return process
    return None


def folders(process: str) -> list[str]:
    """Where the process is: its cgroup in each hierarchy, the one of systemd on v1 excepted."""
    with open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    found = [os.path.join(ROOT, controllers) + path for _id, controllers, path in lines if "=" not in controllers]
    return [folder for folder in found if os.path.exists(folder + "/cgroup.procs")]


def loop(where: list[str], seconds: float, ready: int, go: int, answer: int) -> None:
    """In a process of its own: CPU seconds used between two times that are the same for every loop."""
    for folder in where:
        with open(folder + "/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    os.write(ready, b".")
    begin = float(os.read(go, TIME))
    while time.monotonic() < begin:
        pass
    used, end = time.process_time(), begin + seconds
    while time.monotonic() < end:
        pass
    os.write(answer, f"{time.process_time() - used}\n".encode())
    os._exit(0)


def weight(where: list[str]) -> int | None:
    """That of the class that a container is in; None outside of kubelet's cgroups."""
    for folder in where:
        found = CLASS.match(folder)
        for name in WEIGHTS if found else ():
            path = f"{found.group(0)}/{name}" if found else ""
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    return int(file.read())
    return None


def kubelets(request: int) -> tuple[int, int]:
    """The weight and the shares of a request: pkg/kubelet/cm MilliCPUToShares, getCPUWeight."""
    shares = max(2, request * 1024 // 1000)
    return 1 + (shares - 2) * 9999 // 262142, shares


def await_weight(where: list[str], request: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while weight(where) not in (None, *kubelets(request)) and time.monotonic() < deadline:
        time.sleep(0.5)


def part(online: float | None, offline: float | None) -> float | None:
    """Of both together."""
    return None if online is None or offline is None else round(online / ((online + offline) or 1), 2)


def throttled(where: list[str]) -> int:
    """Periods in which a quota of the cgroup, or of one above it, was used up."""
    found = 0
    for folder in where:
        while len(folder) > len(ROOT):
            try:
                with open(folder + "/cpu.stat", encoding="utf-8") as file:
                    found += sum(int(line.split()[1]) for line in file if line.startswith("nr_throttled "))
            except FileNotFoundError:
                break
            folder = os.path.dirname(folder)
    return found


def shares(seconds: float, where: dict[str, list[str]]) -> dict[str, float]:
    """{pod: CPUs that it got} while all of them were busy.

    The loops begin once the last of them is in its cgroup: a node that is slow itself may need half a second for each.
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
    os.write(go, f"{time.monotonic() + SETTLE:<{TIME}}".encode() * loops)
    found = {}
    for pod, read in answers.items():
        with os.fdopen(read, encoding="utf-8") as file:
            found[pod] = round(sum(float(line) for line in file) / seconds, 2)
    for end in (arrived, start, go):
        os.close(end)
    return found


def main(seconds: float, offline: str, online: str, request: int) -> None:
    processes = {pod: container(pod) for pod in (offline, online)}
    where = {pod: folders(process) for pod, process in processes.items() if process}
    if len(where) < len(processes):
        print("{}")
        return
    await_weight(where[online], request)
    before = throttled(where[offline])
    alone = shares(seconds, {offline: where[offline]})[offline]
    stopped = throttled(where[offline]) - before
    both = shares(seconds, where)
    answer = {
        "alone": alone,
        "throttled": stopped,
        "offline": both[offline],
        "online": both[online],
        "part": part(both[online], both[offline]),
        "weights": part(weight(where[online]), weight(where[offline])),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
