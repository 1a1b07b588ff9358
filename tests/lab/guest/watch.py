# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node: says what has come up, until everything wanted has or the time is over.

Arguments: seconds to wait, comma-separated names of the pods that have to run. Prints a line per event and, last, one JSON document. One
program that stays is far cheaper in an emulated guest than one ssh command per question.
"""

import glob
import json
import os
import socket
import sys
import time
import urllib.request

TASKS = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/*/config.json"


def containers():
    """Containers with a living process: pod, kind (sandbox or container), pid, cgroup path."""
    for path in sorted(glob.glob(TASKS)):
        try:
            with open(path) as stream:
                notes = json.load(stream).get("annotations") or {}
            with open(os.path.join(os.path.dirname(path), "init.pid")) as stream:
                pid = int(stream.read())
            with open("/proc/%d/comm" % pid) as stream:
                starting = stream.read().startswith("runc")
            cgroup = cgroup_of(pid)
        except (OSError, ValueError):
            continue
        if not starting:
            pod = notes.get("io.kubernetes.cri.sandbox-name", "")
            kind = notes.get("io.kubernetes.cri.container-type", "")
            yield {"pod": pod, "kind": kind, "pid": pid, "cgroup": cgroup}


def cgroup_of(pid):
    """Path in the v2 hierarchy, or in that of v1's memory controller."""
    with open("/proc/%d/cgroup" % pid) as stream:
        rows = [line.rstrip("\n").split(":", 2) for line in stream]
    v1 = [path for _, controllers, path in rows if "memory" in controllers.split(",")]
    return (v1 + [path for number, _, path in rows if number == "0"] + [""])[0]


def runtime_answers():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2)
        try:
            connection.connect("/run/containerd/containerd.sock")
        except OSError:
            return False
    return True


def kubelet_answers():
    try:
        with urllib.request.urlopen("http://127.0.0.1:10248/healthz", timeout=5) as answer:
            return answer.read() == b"ok"
    except OSError:
        return False


def look(hostname):
    """Event text to nothing, in order; and the containers that run."""
    running = list(containers())
    events = []
    if runtime_answers():
        events.append("containerd answers")
    if os.path.exists("/var/lib/lab/images-imported"):
        events.append("container images are imported")
    if kubelet_answers():
        events.append("kubelet is healthy")
    for each in running:
        if each["kind"] == "container":
            events.append("pod %s runs in %s" % (each["pod"].replace("-" + hostname, ""), each["cgroup"]))
    return events, running


def main():
    deadline = time.monotonic() + float(sys.argv[1])
    wanted = {"containerd answers", "container images are imported", "kubelet is healthy"}
    pods = {name for name in sys.argv[2].split(",") if name}
    hostname = socket.gethostname()
    said = set()
    while True:
        events, running = look(hostname)
        for event in events:
            if event not in said:
                print(event, flush=True)
        said.update(events)
        started = {each["pod"].replace("-" + hostname, "") for each in running if each["kind"] == "container"}
        complete = wanted <= set(events) and pods <= started
        if complete or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    missing = sorted((wanted - set(events)) | {"pod %s runs" % name for name in pods - started})
    with open("/proc/sys/kernel/random/boot_id") as stream:
        boot_id = stream.read().strip()
    print(json.dumps({"complete": complete, "missing": missing, "containers": running, "boot_id": boot_id}))


main()
