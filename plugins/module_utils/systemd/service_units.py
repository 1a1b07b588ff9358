# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Service units: their state, start and stop with a time limit, and the lines of their log that tell a failure."""

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
    """``line`` without what looks like a credential."""
    return TOKEN.sub(MASK, OPAQUE.sub(MASK, SECRET.sub(lambda found: found.group(1) + MASK, line)))


def failure_lines(text: str) -> list[str]:
    """The last lines that speak of a failure, each once, masked and shortened."""
    lines: list[str] = []
    seen = set()
    for line in reversed(text.splitlines()):
        core = KLOG_PREFIX.sub("", line.strip())
        if FAILURE.search(line) and core not in seen:
            seen.add(core)
            lines.insert(0, mask_secrets(core)[:MAX_LINE_WIDTH])
        if len(lines) == MAX_EXCERPT_LINES:
            break
    return lines


def log_excerpt(host: Host, unit: str, since: float) -> str:
    """What the unit's log says of a failure since ``since`` (seconds since 1970), as text to append; may be empty."""
    span = ["--since", f"@{int(since)}", "--lines", str(MAX_LOG_LINES)]
    argv = ["journalctl", "--unit", unit, *span, "--output", "cat", "--no-pager", "--quiet"]
    answer = host.run(argv, timeout=30.0)
    lines = failure_lines(answer.stdout) if answer.rc == 0 else []
    if not lines:
        return ""
    return f". The log of {unit} says: {' | '.join(lines)}"


# systemd ends a job itself, after 90 s by default (DefaultTimeoutStartSec, DefaultTimeoutStopSec). The units of K3s and
# RKE2 start without a limit (TimeoutStartSec=0), and a server is not up before its etcd answers.
JOB_TIMEOUTS = {"start": 600.0, "stop": 180.0}
SHOW_TIMEOUT = 30.0
SHOW_TRIES = 3
"""A machine that was paused for longer than the limit, as a virtual one that is moved, has not failed to answer."""
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
    """A unit that does not do what was asked."""


CGROUP_ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified")
"""Where systemd keeps its units' processes: v2, v1 and hybrid, hybrid's second tree."""


@dataclass(frozen=True)
class UnitState:
    """Properties of a unit as systemctl show names them.

    ``started``: when its main process was, in seconds of the monotonic clock; None when that is not known.
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
        """True also between the attempts of a unit that fails and is restarted: it is meant to run."""
        return self.active in ("active", "activating", "reloading", "deactivating")


def show(node: Node, unit: str) -> UnitState:
    """The unit's state; ServiceError when systemd does not answer."""
    answer = _show(node, unit)
    if answer.rc != 0:
        reason = answer.stderr.strip() or f"exit status {answer.rc}"
        raise ServiceError(f"systemd does not tell the state of {unit}: {reason}", "Check systemd on this node")
    values = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
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
    answer = node.host.run(argv, timeout=SHOW_TIMEOUT)
    for _again in range(1, SHOW_TRIES):
        if answer.rc is not None:
            break
        answer = node.host.run(argv, timeout=SHOW_TIMEOUT)
    return answer


def count_other_processes(node: Node, state: UnitState) -> int | None:
    """How many processes beside the main one end with the unit, whose KillMode says so; None when that cannot be told.

    CRI-O has its monitors in scopes of their own or in the pods' cgroups (cri-o internal/config/cgmgr).
    """
    found: set[str] = set()
    seen = False
    for root in CGROUP_ROOTS if state.control_group else ():
        for folder, _folders, names in os.walk(node.host.real_path(root + state.control_group)):
            if "cgroup.procs" not in names:
                continue
            try:
                with open(os.path.join(folder, "cgroup.procs")) as stream:
                    found.update(stream.read().split())
            except OSError:
                return None
            seen = True
    return len(found - {str(state.main_pid)}) if seen else None


def start(node: Node, unit: str) -> None:
    """Start the unit and wait until systemd says that it is up."""
    since = node.clock.wall()
    # A unit that failed too often is not started again until its counter is cleared.
    node.host.run(["systemctl", "reset-failed", unit], timeout=SHOW_TIMEOUT)
    _job(node, "start", unit, since)


def stop(node: Node, unit: str) -> None:
    """Stop the unit and wait until its processes are gone, as far as its KillMode says."""
    _job(node, "stop", unit, node.clock.wall())
    state = show(node, unit)
    if state.active not in ("inactive", "failed"):
        raise ServiceError(
            f"{unit} was stopped and is {state.active} again",
            f"Find out what starts it (systemctl list-dependencies --reverse {unit}) and switch that off",
        )


def _job(node: Node, verb: str, unit: str, since: float) -> None:
    answer = node.host.run(["systemctl", verb, unit], timeout=JOB_TIMEOUTS[verb])
    if answer.rc == 0:
        return
    # Its second sentence names the commands that the remedy names.
    reason = " ".join(answer.stderr.split()).partition(" See ")[0].rstrip(".") or f"exit status {answer.rc}"
    raise ServiceError(
        f"systemctl {verb} {unit} failed: {reason}{log_excerpt(node.host, unit, since)}",
        f"See journalctl --unit {unit} on the node",
    )


def _integer(text: str) -> int:
    return int(text) if text.isdigit() else 0
