# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running process of the Volcano agent: whether it sees the cgroups of pods, and may write to them.

The agent reports itself healthy and offers resources also if it can do neither. A missing cgroup counts as no usage.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..host import Host
from ..snapshot.file_evidence import kernel_text

NAME = "vc-agent"
DAC_OVERRIDE = 1 << 1
"""CAP_DAC_OVERRIDE (linux/capability.h): cgroup files belong to root, and the agent's user is another one."""
DEFAULT_SYS_FS = "/sys/fs"
V1_CONTROLLER = "cpu"
"""The agent finds the root of a v1 hierarchy below the controller's name: pkg/agent/utils/cgroup/cgroup.go."""


@dataclass(frozen=True)
class AgentProcess:
    """``user``: effective; ``capabilities``: effective, as a number; ``sys_fs``: where it expects /sys/fs."""

    pid: int
    user: int
    capabilities: int
    sys_fs: str

    @property
    def may_write(self) -> bool:
        return self.user == 0 or bool(self.capabilities & DAC_OVERRIDE)


def find_process(host: Host, container: str) -> AgentProcess | None:
    """The agent's process in a container, by the container's id; None if it does not run."""
    for pid in sorted((name for name in host.list("/proc") if name.isdigit()), key=int):
        if (kernel_text(host, f"/proc/{pid}/comm") or "").strip() != NAME:
            continue
        if container in (kernel_text(host, f"/proc/{pid}/cgroup") or ""):
            return _process(host, pid)
    return None


def _process(host: Host, pid: str) -> AgentProcess | None:
    status = _fields(kernel_text(host, f"/proc/{pid}/status") or "")
    environ = kernel_text(host, f"/proc/{pid}/environ")
    if environ is None or not {"Uid", "CapEff"} <= status.keys():
        return None
    environment = dict(variable.partition("=")[::2] for variable in environ.split("\0") if variable)
    sys_fs = environment.get("SYS_FS_PATH") or DEFAULT_SYS_FS
    return AgentProcess(int(pid), int(status["Uid"].split()[1]), int(status["CapEff"], 16), sys_fs)


def _fields(status: str) -> dict[str, str]:
    """proc_pid_status(5)"""
    return {key: value.strip() for key, _colon, value in (line.partition(":") for line in status.splitlines())}


def problem(host: Host, process: AgentProcess | None, cgroup: str, *, writes: bool) -> str:
    """Why the agent cannot do its work; empty if nothing prevents it.

    ``cgroup``: the cgroup of pods below the root of a hierarchy. ``writes``: the agent has features that write.
    """
    if process is None:
        return "the agent's process was not found: it has ended, or this user, who must be root, may not read it"
    if not _sees(host, process, cgroup):
        return (
            f"the agent does not see the cgroup {cgroup} in {process.sys_fs}/cgroup of its container, and counts"
            " the usage of pods as 0. Check the volume sys-fs of its DaemonSet"
        )
    if writes and not process.may_write:
        return (
            f"the agent runs as user {process.user} without the capability DAC_OVERRIDE, so all its writes to cgroups"
            " fail. Its program in the image must have the file capability cap_dac_override=eip (getcap /vc-agent), and"
            " the file system of the runtime's images must store the attribute security.capability"
        )
    return ""


def _sees(host: Host, process: AgentProcess, cgroup: str) -> bool:
    base = f"/proc/{process.pid}/root{process.sys_fs}/cgroup"
    return any(host.is_directory(f"{root}/{cgroup}") for root in (f"{base}/{V1_CONTROLLER}", base))
