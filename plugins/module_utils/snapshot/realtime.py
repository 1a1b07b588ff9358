# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about real-time threads: one outside the root cgroup keeps the cpu controller from being enabled on v2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..host import Host
from .files import kernel_text, names

REAL_TIME = {"1": "FIFO", "2": "RR"}
"""SCHED_FIFO and SCHED_RR of linux/sched.h."""
TASK_LIMIT = 20000
FOUND_LIMIT = 20
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of linux/sched.h in field 9; kernel threads stay in the root cgroup."""


def _fields(host: Host, path: str) -> list[str]:
    """Fields 3 and on of a stat file, proc(5); empty when the task is gone. The name may hold blanks and brackets."""
    fields = (kernel_text(host, path) or "").rpartition(")")[2].split()
    return fields if len(fields) > 38 else []


def _user_processes(host: Host) -> Iterator[tuple[str, int]]:
    for pid in names(host, "/proc"):
        fields = _fields(host, "/proc/%s/stat" % pid) if pid.isdigit() else []
        if fields and not int(fields[6]) & _KERNEL_THREAD:
            yield pid, int(fields[17])


def _thread(host: Host, pid: str, tid: str) -> dict[str, Any] | None:
    fields = _fields(host, "/proc/%s/task/%s/stat" % (pid, tid))
    if not fields or fields[38] not in REAL_TIME:
        return None
    cgroup = kernel_text(host, "/proc/%s/task/%s/cgroup" % (pid, tid)) or ""
    path = next((line[3:] for line in cgroup.splitlines() if line.startswith("0::")), "/")
    if path == "/":
        return None
    return {
        "pid": int(pid),
        "tid": int(tid),
        "comm": kernel_text(host, "/proc/%s/task/%s/comm" % (pid, tid)),
        "policy": REAL_TIME[fields[38]],
        "priority": int(fields[37]),
        "cgroup": path,
    }


def _walk(host: Host) -> tuple[list[dict[str, Any]], int]:
    found, seen = [], 0
    for pid, count in _user_processes(host):
        tids = [pid] if count == 1 else names(host, "/proc/%s/task" % pid)
        for tid in tids:
            seen += 1
            thread = _thread(host, pid, tid)
            if thread:
                found.append(thread)
            if seen >= TASK_LIMIT or len(found) >= FOUND_LIMIT:
                return found, seen
    return found, seen


def _group_scheduling(host: Host) -> str | None:
    """``y`` or ``n`` of CONFIG_RT_GROUP_SCHED by the kernel's own build file; None when there is none to read."""
    release = kernel_text(host, "/proc/sys/kernel/osrelease")
    for path in ("/boot/config-%s" % release, "/lib/modules/%s/config" % release):
        text = kernel_text(host, path)
        if text is not None:
            return "y" if re.search("^CONFIG_RT_GROUP_SCHED=y$", text, re.MULTILINE) else "n"
    return None


def realtime_threads(host: Host) -> dict[str, Any]:
    """``{threads, seen, group_scheduling}``; one read a thread of the node, so asked for only when cpu is missing."""
    threads, seen = _walk(host)
    return {"threads": threads, "seen": seen, "group_scheduling": _group_scheduling(host)}
