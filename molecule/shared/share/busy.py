# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""busy.py SECONDS POD...: keeps every CPU busy in the pods' containers; prints what each got of them, as JSON.

In CPUs: 0.5 is half of one; an empty object when a pod does not run, as where the drivers disagree so that none can.
The loops are ours, in the containers' cgroups: what the kernel gives them is what it would give a busy pod.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

SETTLE = 1.0
"""Seconds until the kernel's averages, and quotas of the first periods, do not count any more."""


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
    found = ["/sys/fs/cgroup/" + controllers + path for _id, controllers, path in lines if "=" not in controllers]
    return [folder for folder in found if os.path.exists(folder + "/cgroup.procs")]


def loop(where: list[str], seconds: float, answer: int) -> None:
    """In a process of its own: CPU seconds used after it has settled in."""
    for folder in where:
        with open(folder + "/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    begin = time.monotonic() + SETTLE
    while time.monotonic() < begin:
        pass
    used, end = time.process_time(), begin + seconds
    while time.monotonic() < end:
        pass
    os.write(answer, f"{time.process_time() - used}\n".encode())
    os._exit(0)


def main(seconds: float, pods: list[str]) -> None:
    processes = {pod: container(pod) for pod in pods}
    where = {pod: folders(process) for pod, process in processes.items() if process}
    if len(where) < len(pods):
        print("{}")
        return
    answers = {}
    for pod, below in where.items():
        read, write = os.pipe()
        for _cpu in range(os.cpu_count() or 1):
            if os.fork() == 0:
                loop(below, seconds, write)
        os.close(write)
        answers[pod] = read
    found = {}
    for pod, read in answers.items():
        with os.fdopen(read, encoding="utf-8") as file:
            found[pod] = round(sum(float(line) for line in file) / seconds, 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
