# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records all state of a node that a restore must restore, read on the node. cgroup v1 and v2."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.system.node import Node, lab

MANAGED = "ls -d /var/lib/volcano-colocation /usr/local/lib/volcano-colocation 2>/dev/null || true"
DIRECTORIES = "/etc /var/lib/kubelet"
# The pods directory has only volumes and logs, which new pods create again. The other files are checkpoints that
# kubelet was writing when it stopped; kubelet does not read them.
LEFT_OUT = "'(' -path /var/lib/kubelet/pods -o -regex '/var/lib/kubelet/[.][0-9]+' ')' -prune"
FILES = f"""find {DIRECTORIES} {LEFT_OUT} -o -printf '%y %m %U %G %p %l\\n' | sort
find {DIRECTORIES} {LEFT_OUT} -o -type f -exec sha256sum {{}} + | sort"""
ATTRIBUTES = f"""find {DIRECTORIES} {LEFT_OUT} -o -type f -print | sort | python3 -c '
import os, sys
for path in sys.stdin.read().splitlines():
    for name in os.listxattr(path):
        print(path, name, os.getxattr(path, name))'"""
UNITS = "kubelet containerd kubepods.slice kubepods-burstable.slice kubepods-besteffort.slice system.slice"
PROPERTIES = "CPUWeight,CPUQuotaPerSecUSec,MemoryMin,MemoryLow,MemoryHigh,MemoryMax,TasksMax,AllowedCPUs,ActiveState"
VALUES = (
    "cpu.weight cpu.max cpu.idle cpu.max.burst memory.min memory.low memory.high memory.max pids.max cpuset.cpus"
    " cpuset.mems cpu.shares cpu.cfs_quota_us cpu.cfs_period_us memory.limit_in_bytes memory.soft_limit_in_bytes"
)
CGROUPS = f"""find /sys/fs/cgroup -type d -regextype egrep \\
  -regex '.*/(system[.]slice|kubepods[.]slice(/kubepods-[a-z]+[.]slice)?|kubepods(/[a-z]+)?)' | sort |
while read dir; do
  for name in {VALUES}; do
    if [ -f $dir/$name ]; then echo $dir $name $(cat $dir/$name); fi
  done
done"""
AWAIT_KUBELET = Path(__file__).with_name("await_kubelet.py")


def await_kubelet(node: Node, driver: str) -> None:
    """Wait until kubelet has written all values of its QoS classes, within a minute of its start."""
    lab("ssh", node.name, "--", f"python3 - {driver}", text=AWAIT_KUBELET.read_text())


def cgroups(node: Node) -> str:
    """Return one line per setting: directory, name, value."""
    return node.shell(CGROUPS)


def state(node: Node) -> dict[str, str]:
    """Return the compared state by kind."""
    return {
        "files": node.shell(FILES),
        "attributes": node.shell(ATTRIBUTES),
        "units": node.shell(f"systemctl show --property {PROPERTIES} {UNITS}"),
        "cgroups": cgroups(node),
        "pods": node.shell("ctr -n k8s.io tasks ls -q | wc -l"),
    }
