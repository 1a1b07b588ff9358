# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Service units: read their state, start and stop them with a timeout, and find failures in their log."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ..cri.node_access import Node
from ..errors import ColocationError
from ..host import CommandResult, Host
from ..safe_text import SIGNATURES, VENDORS

MAX_LOG_LINES = 400
MAX_EXCERPT_LINES = 8
MAX_LINE_WIDTH = 400

# klog marks errors E and fatal ones F, followed by the date; containerd uses logrus key=value.
FAILURE = re.compile(
    r"^[EF][0-9]{4} |level=(error|fatal)|Main process exited"
    r"|\b(fatal|panic|failed|cannot|error|invalid|unknown flag)\b",
    re.IGNORECASE,
)
KLOG_PREFIX = re.compile(r"^[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ ")
SECRET = re.compile(r"(?i)((?:token|password|passwd|secret|authorization|bearer|api-?key)[\"']?\s*[:= ]\s*)(\S+)")
# A run of base64 that is longer than any path component or container id, such as a key or a certificate.
OPAQUE = re.compile(r"[A-Za-z0-9+=_-]{80,}")
TOKEN = re.compile(VENDORS + "|" + SIGNATURES)
MASK = "********"


def mask_secrets(line: str) -> str:
    """The line with everything masked that looks like a credential."""
    return TOKEN.sub(MASK, OPAQUE.sub(MASK, SECRET.sub(lambda match: match.group(1) + MASK, line)))


def failure_lines(text: str) -> list[str]:
    """The last lines about a failure, without duplicates, masked and shortened."""
    lines: list[str] = []
    known_lines = set()
    for line in reversed(text.splitlines()):
        core = KLOG_PREFIX.sub("", line.strip())
        if FAILURE.search(line) and core not in known_lines:
            known_lines.add(core)
            lines.insert(0, mask_secrets(core)[:MAX_LINE_WIDTH])
        if len(lines) == MAX_EXCERPT_LINES:
            break
    return lines


def log_excerpt(host: Host, unit: str, since: float) -> str:
    """Failures in the unit's log since ``since`` (seconds since 1970), as text to append; may be empty."""
    span = ["--since", f"@{int(since)}", "--lines", str(MAX_LOG_LINES)]
    argv = ["journalctl", "--unit", unit, *span, "--output", "cat", "--no-pager", "--quiet"]
    result = host.run(argv, timeout=30.0)
    lines = failure_lines(result.stdout) if result.rc == 0 else []
    if not lines:
        return ""
    return f". The log of {unit} says: {' | '.join(lines)}"


# systemd ends a job itself, after 90 s by default (DefaultTimeoutStartSec, DefaultTimeoutStopSec). The units of K3s and
# RKE2 start without a timeout (TimeoutStartSec=0), and a server has not started before its etcd replies.
JOB_TIMEOUTS = {"start": 600.0, "stop": 180.0}
SHOW_TIMEOUT = 30.0
SHOW_TRIES = 3
"""Attempts, because a machine that was paused for longer than the timeout, such as a migrated VM, has not failed."""
MICROSECONDS = 1e6
PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "MainPID",
    "NRestarts",
    "KillMode",
    "ControlGroup",
    "ExecMainStartTimestampMonotonic",
)


class ServiceError(ColocationError):
    """A unit did not reach the requested state."""


CGROUP_ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified")
"""Roots of systemd's cgroups: on v2, on v1 and hybrid, and hybrid's second tree."""


@dataclass(frozen=True)
class UnitState:
    """Properties of a unit, from systemctl show.

    ``started``: start of its main process in seconds of the monotonic clock; None if unknown.
    """

    load: str
    active: str
    sub: str
    main_pid: int
    restarts: int
    kill_mode: str
    control_group: str
    started: float | None = None

    @property
    def runs(self) -> bool:
        """Whether the unit runs or should run: also true between restarts of a failing unit."""
        return self.active in ("active", "activating", "reloading", "deactivating")


def show(node: Node, unit: str) -> UnitState:
    """The unit's state; ServiceError if systemd does not reply."""
    result = _show(node, unit)
    if result.rc != 0:
        reason = result.stderr.strip() or f"exit status {result.rc}"
        raise ServiceError(f"systemd does not report the state of {unit}: {reason}", "Check systemd on this node")
    values = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    return UnitState(
        values.get("LoadState", ""),
        values.get("ActiveState", ""),
        values.get("SubState", ""),
        _integer(values.get("MainPID", "")),
        _integer(values.get("NRestarts", "")),
        values.get("KillMode", ""),
        values.get("ControlGroup", ""),
        _integer(values.get("ExecMainStartTimestampMonotonic", "")) / MICROSECONDS or None,
    )


def _show(node: Node, unit: str) -> CommandResult:
    argv = ["systemctl", "show", "--property", ",".join(PROPERTIES), unit]
    result = node.host.run(argv, timeout=SHOW_TIMEOUT)
    for _again in range(1, SHOW_TRIES):
        if result.rc is not None:
            break
        result = node.host.run(argv, timeout=SHOW_TIMEOUT)
    return result


def count_other_processes(node: Node, state: UnitState) -> int | None:
    """The number of processes besides the main one in the unit's cgroups; None if it is unknown.

    KillMode decides whether they end with the unit. CRI-O has its monitors in separate scopes or in the pods' cgroups
    (cri-o internal/config/cgmgr).
    """
    pids: set[str] = set()
    has_processes = False
    for root in CGROUP_ROOTS if state.control_group else ():
        for directory, _directories, names in os.walk(node.host.real_path(root + state.control_group)):
            if "cgroup.procs" not in names:
                continue
            try:
                with open(os.path.join(directory, "cgroup.procs")) as stream:
                    pids.update(stream.read().split())
            except OSError:
                return None
            has_processes = True
    return len(pids - {str(state.main_pid)}) if has_processes else None


def start(node: Node, unit: str) -> None:
    """Start the unit and wait until systemd reports it as started."""
    since = node.clock.wall()
    # systemd does not start a unit that failed too often until its counter is reset.
    node.host.run(["systemctl", "reset-failed", unit], timeout=SHOW_TIMEOUT)
    _job(node, "start", unit, since)


def stop(node: Node, unit: str) -> None:
    """Stop the unit and wait until the processes that its KillMode includes have ended."""
    _job(node, "stop", unit, node.clock.wall())
    state = show(node, unit)
    if state.active not in ("inactive", "failed"):
        raise ServiceError(
            f"{unit} was stopped, but is {state.active} again",
            f"Find the unit that starts it (systemctl list-dependencies --reverse {unit}) and disable that unit",
        )


def _job(node: Node, verb: str, unit: str, since: float) -> None:
    result = node.host.run(["systemctl", verb, unit], timeout=JOB_TIMEOUTS[verb])
    if result.rc == 0:
        return
    # Without systemctl's second sentence: its commands are in the remedy.
    reason = " ".join(result.stderr.split()).partition(" See ")[0].rstrip(".") or f"exit status {result.rc}"
    raise ServiceError(
        f"systemctl {verb} {unit} failed: {reason}{log_excerpt(node.host, unit, since)}",
        f"See journalctl --unit {unit} on the node",
    )


def _integer(text: str) -> int:
    return int(text) if text.isdigit() else 0
