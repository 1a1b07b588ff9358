# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run on the node by its Python: the kernel's view of the running pods, as a few lines of text."""

from __future__ import annotations

import glob
import json
import re

CONTAINER = re.compile(r"[0-9a-f]{64}")
QOS = re.compile(r"kubepods[-/](burstable|besteffort)")
STATE = "/var/lib/kubelet/cpu_manager_state"


def text(path: str) -> str:
    """A file's text; empty when the process or the cgroup has ended."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def containers() -> dict[str, str]:
    """{cgroup path: name of its first process} of all container processes."""
    names: dict[str, str] = {}
    for path in glob.glob("/proc/[0-9]*/cgroup"):
        cgroup = text(path).splitlines()[-1:]
        if cgroup and CONTAINER.search(cgroup[0]):
            names.setdefault(cgroup[0].split(":", 2)[2], text(path.replace("cgroup", "comm")))
    return names


def main() -> None:
    for path, process in sorted(containers().items()):
        qos = QOS.search(path)
        cpus = text("/sys/fs/cgroup" + path + "/cpuset.cpus") or "-"
        short_path = CONTAINER.sub(lambda match: match.group()[:12] + "…", path)
        print("  %-10s %-8s cpuset %-4s %s" % (qos.group(1) if qos else "guaranteed", process, cpus, short_path))
    state = json.loads(text(STATE) or "{}")
    print(
        "  CPU manager's checkpoint: policy %s, shared CPUs %s" % (state.get("policyName"), state.get("defaultCpuSet"))
    )
    sockets = [line.split()[-1] for line in text("/proc/net/unix").splitlines() if line.endswith("nri.sock")]
    print("  NRI: %s" % (", ".join("listens at " + path for path in sockets) or "no process listens"))


if __name__ == "__main__":
    main()
