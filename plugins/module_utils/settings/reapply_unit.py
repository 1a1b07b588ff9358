# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit that applies the record again at boot and whenever kubelet starts; it is there while a setting is recorded.

kubelet makes its slices anew at boot, and what was set at runtime is gone with the old ones.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from enum import Enum

from ..errors import ColocationError
from ..host import Host
from ..state import atomic_file, files, installed_engine
from ..state.journal import unfinished_journals
from ..state.store import Store
from .cgroup_state import Node
from .record import Record, has_persistent

UNIT = "volcano-colocation-qos.service"
UNIT_FILE = f"/etc/systemd/system/{UNIT}"
LINK = f"{installed_engine.ENGINE_DIRECTORY}/{installed_engine.QOS_LINK}"
"""Where the unit finds the engine, whatever its version."""
TIMEOUT = 90.0

# Without -B: compiling all of the engine takes longer than all else that is done at boot.
# WantedBy=kubelet.service: systemd.unit(5), started whenever kubelet is, also by Restart= of kubelet's own unit.
_TEXT = """\
# Written by the Ansible collection volcano.colocation, which removes it with the last setting.
[Unit]
Description=Apply the recorded QoS settings of cgroups again (volcano.colocation)
After=kubelet.service containerd.service crio.service

[Service]
Type=oneshot
ExecStart={python} -I {engine} qos
SyslogIdentifier=volcano-colocation-qos

[Install]
WantedBy=multi-user.target kubelet.service
"""
_WANTING_UNITS = ("multi-user.target", "kubelet.service")


def render_unit() -> str:
    """The unit's text for the interpreter that runs this."""
    return _TEXT.format(python=sys.executable, engine=LINK)


class UnitAction(Enum):
    """What has to be done to the unit."""

    NONE = "none"
    INSTALL = "install"
    REMOVE = "remove"


def plan_unit_action(node: Node, record: Record) -> UnitAction:
    """What is to be done so that the unit is there just while it is needed; nothing where there is no systemd."""
    if node.bus is None:
        return UnitAction.NONE
    if has_persistent(record):
        return UnitAction.NONE if is_installed(node.host) else UnitAction.INSTALL
    return UnitAction.REMOVE if is_present(node.host) else UnitAction.NONE


def require_writable(host: Host, task: UnitAction) -> None:
    """FileRefused where the engine or the unit could not be written; nothing is made."""
    if task is UnitAction.INSTALL:
        for path in (LINK, UNIT_FILE):
            files.probe_write(host, path, b"")


def reconcile_unit(host: Host, task: UnitAction) -> None:
    """Do it."""
    if task is UnitAction.INSTALL:
        install_unit(host)
    elif task is UnitAction.REMOVE:
        remove_unit(host)


def is_installed(host: Host) -> bool:
    """Whether unit, links and engine are there as they should be."""
    try:
        same = host.read(UNIT_FILE) == render_unit()
    except OSError:
        return False
    return (
        same
        and all(host.lexists(path) for path in _links())
        and _engine(host) == installed_engine.engine_path(installed_engine.sources())
    )


def install_unit(host: Host) -> None:
    """Install the engine, write the unit, enable it; nothing is started."""
    engine = installed_engine.install_engine(host)
    _link(host, engine)
    target = host.path(UNIT_FILE)
    try:
        atomic_file.remove_if_present(target)
        atomic_file.create(target, render_unit().encode("utf-8"), lambda handle: os.fchmod(handle, 0o644))
    except OSError as error:
        raise files.file_error(error, UNIT_FILE, "write it") from error
    # It also makes systemd read the unit: the links in kubelet.service.wants count from the next start of kubelet.
    _systemctl(host, "enable", UNIT)


def remove_unit(host: Host) -> None:
    """Undo ``install_unit``; the engine of an open transaction stays. Whoever calls this holds ``node_lock``.

    The link goes last of what counts: while it is there, the next run takes the rest away.
    """
    if host.lexists(UNIT_FILE):
        _systemctl(host, "disable", "--no-reload", UNIT)
        atomic_file.remove_if_present(host.path(UNIT_FILE))
    _systemctl(host, "daemon-reload")
    engine = _engine(host)
    if engine is not None and not unfinished_journals(Store(host)):
        shutil.rmtree(host.path(engine), ignore_errors=True)
    for link in (_staged_link(host), host.path(LINK)):
        atomic_file.remove_if_present(link)
    with suppress(OSError):
        os.rmdir(host.path(installed_engine.ENGINE_DIRECTORY))


def is_present(host: Host) -> bool:
    """Whether anything of it is there."""
    return host.lexists(UNIT_FILE) or host.lexists(LINK)


def _links() -> list[str]:
    return [f"/etc/systemd/system/{wanting}.wants/{UNIT}" for wanting in _WANTING_UNITS]


def _engine(host: Host) -> str | None:
    """The installed engine that the link names."""
    try:
        target = host.readlink(LINK)
    except OSError:
        return None
    return (
        f"{installed_engine.ENGINE_DIRECTORY}/{target}"
        if host.is_directory(f"{installed_engine.ENGINE_DIRECTORY}/{target}")
        else None
    )


def _link(host: Host, engine: str) -> None:
    staged = _staged_link(host)
    atomic_file.remove_if_present(staged)
    os.symlink(os.path.basename(engine), staged)
    os.replace(staged, host.path(LINK))


def _staged_link(host: Host) -> str:
    """Path on this machine of the link for the moment before its rename."""
    return host.path(f"{LINK}.new")


def _systemctl(host: Host, *arguments: str) -> None:
    answer = host.run(["systemctl", *arguments], timeout=TIMEOUT)
    if answer.rc != 0:
        reason = " ".join(answer.stderr.split()) or f"exit status {answer.rc}"
        raise ColocationError(f"systemctl {' '.join(arguments)} failed: {reason}", "Check systemd on this node")
