# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: reports services and pods as they start, until all expected ones run or their starter fails.

It also ends at the timeout. Arguments: seconds to wait, comma-separated names of the expected pods, and `kubelet` or
`none`. Prints a line for each event and, last, one JSON document. In an emulated guest one program is much cheaper than
an ssh command for each check.
"""

from __future__ import annotations

import glob
import json
import os
import socket
import subprocess
import sys
import time

TASKS = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/*/config.json"
STARTER_FAILED = "/run/lab-pods-failed"
RUNTIME, IMAGES, KUBELET = "containerd answers", "container images are imported", "kubelet is healthy"


def cgroup_of(pid: int) -> str:
    """Path in the v2 hierarchy, or in that of v1's memory controller."""
    with open(f"/proc/{pid}/cgroup") as stream:
        rows = [line.rstrip("\n").split(":", 2) for line in stream]
    v1 = [path for _number, controllers, path in rows if "memory" in controllers.split(",")]
    return (v1 + [path for number, _controllers, path in rows if number == "0"] + [""])[0]


def container(config: str) -> dict[str, str]:
    """Pod, kind (sandbox or container) and cgroup of a running container; OSError when it does not run."""
    with open(config) as stream:
        notes = json.load(stream).get("annotations") or {}
    with open(os.path.join(os.path.dirname(config), "init.pid")) as stream:
        pid = int(stream.read())
    with open(f"/proc/{pid}/comm") as stream:
        if stream.read().startswith("runc"):
            raise ProcessLookupError("the container's own program has not started")
    pod = notes.get("io.kubernetes.cri.sandbox-name", "")
    # kubelet adds the node's name to that of a static pod.
    name = pod.rsplit("-" + socket.gethostname(), 1)[0]
    return {"pod": name, "kind": notes.get("io.kubernetes.cri.container-type", ""), "cgroup": cgroup_of(pid)}


def containers() -> list[dict[str, str]]:
    """All running containers."""
    running = []
    for config in sorted(glob.glob(TASKS)):
        try:
            running.append(container(config))
        except (OSError, ValueError):
            continue
    return running


def runtime_answers() -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2)
        try:
            connection.connect("/run/containerd/containerd.sock")
        except OSError:
            return False
    return True


def kubelet_answers() -> bool:
    """Ask without a library: importing one takes a slow node longer than all checks."""
    with socket.socket() as connection:
        connection.settimeout(5)
        try:
            connection.connect(("127.0.0.1", 10248))
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            return connection.recv(64).startswith(b"HTTP/1.0 200 ")
        except OSError:
            return False


def services() -> list[str]:
    """The node's services that are up, in the order in which they start."""
    states = {
        RUNTIME: runtime_answers(),
        IMAGES: os.path.exists("/var/lib/lab/images-imported"),
        KUBELET: kubelet_answers(),
    }
    return [event for event, true in states.items() if true]


def refused() -> bool:
    """True when runc uses systemd scopes and kubelet passes it the paths of the cgroupfs driver."""
    argv = ["journalctl", "--boot", "--unit=kubelet", "--unit=containerd", "--quiet", "--lines=1"]
    return bool(subprocess.run([*argv, "--grep=expected cgroupsPath"], stdout=subprocess.PIPE, check=False).stdout)


def main(timeout: float, pods: list[str], events: list[str]) -> None:
    deadline = time.monotonic() + timeout
    reported: list[str] = []
    while True:
        up, running = services(), containers()
        started = [item for item in running if item["kind"] == "container"]
        for event in [*up, *("pod {pod} runs in {cgroup}".format(**item) for item in started)]:
            if event not in reported:
                print(event, flush=True)
                reported.append(event)
        missing = [event for event in events if event not in up]
        missing += [f"pod {pod}" for pod in pods if pod not in [item["pod"] for item in started]]
        # Read the journal only while a healthy kubelet has no pod: it takes a second of an emulated CPU.
        no_pods = KUBELET in up and not started and timeout > 0 and refused()
        if no_pods or not missing or os.path.exists(STARTER_FAILED) or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    with open("/proc/sys/kernel/random/boot_id") as stream:
        boot_id = stream.read().strip()
    print(json.dumps({"missing": missing, "refused": no_pods, "containers": running, "boot_id": boot_id}))


main(
    float(sys.argv[1]),
    [name for name in sys.argv[2].split(",") if name],
    [RUNTIME, IMAGES, *([KUBELET] if sys.argv[3] == "kubelet" else [])],
)
