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
from ..transaction import durable, files, install
from ..transaction.journal import unfinished
from ..transaction.store import Store
from .observe import Node
from .record import Record, lasting

UNIT = "volcano-colocation-qos.service"
UNIT_FILE = f"/etc/systemd/system/{UNIT}"
LINK = f"{install.FOLDER}/{install.QOS_LINK}"
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
_WANTED_BY = ("multi-user.target", "kubelet.service")


def text() -> str:
    """The unit's text for the interpreter that runs this."""
    return _TEXT.format(python=sys.executable, engine=LINK)


class Upkeep(Enum):
    """What has to be done to the unit."""

    NONE = "none"
    INSTALL = "install"
    REMOVE = "remove"


def upkeep(node: Node, record: Record) -> Upkeep:
    """What is to be done so that the unit is there just while it is needed; nothing where there is no systemd."""
    if node.bus is None:
        return Upkeep.NONE
    if lasting(record):
        return Upkeep.NONE if in_place(node.host) else Upkeep.INSTALL
    return Upkeep.REMOVE if present(node.host) else Upkeep.NONE


def require_place(host: Host, task: Upkeep) -> None:
    """FileRefused where the engine or the unit could not be written; nothing is made."""
    if task is Upkeep.INSTALL:
        for path in (LINK, UNIT_FILE):
            files.probe(host, path, b"")


def see_to(host: Host, task: Upkeep) -> None:
    """Do it."""
    if task is Upkeep.INSTALL:
        put_in_place(host)
    elif task is Upkeep.REMOVE:
        take_away(host)


def in_place(host: Host) -> bool:
    """Whether unit, links and engine are there as they should be."""
    try:
        same = host.read(UNIT_FILE) == text()
    except OSError:
        return False
    return same and all(host.lexists(path) for path in _links()) and _engine(host) == install.path_of(install.sources())


def put_in_place(host: Host) -> None:
    """Install the engine, write the unit, enable it; nothing is started."""
    engine = install.install(host)
    _link(host, engine)
    target = host.path(UNIT_FILE)
    try:
        durable.unlink_if_there(target)
        durable.create(target, text().encode("utf-8"), lambda handle: os.fchmod(handle, 0o644))
    except OSError as error:
        raise files.refused(error, UNIT_FILE, "write it") from error
    # It also makes systemd read the unit: the links in kubelet.service.wants count from the next start of kubelet.
    _systemctl(host, "enable", UNIT)


def take_away(host: Host) -> None:
    """Undo ``put_in_place``; the engine of an open transaction stays. Whoever calls this has the ``turn``.

    The link goes last of what counts: while it is there, the next run takes the rest away.
    """
    if host.lexists(UNIT_FILE):
        _systemctl(host, "disable", "--no-reload", UNIT)
        durable.unlink_if_there(host.path(UNIT_FILE))
    _systemctl(host, "daemon-reload")
    engine = _engine(host)
    if engine is not None and not unfinished(Store(host)):
        shutil.rmtree(host.path(engine), ignore_errors=True)
    for link in (_staged(host), host.path(LINK)):
        durable.unlink_if_there(link)
    with suppress(OSError):
        os.rmdir(host.path(install.FOLDER))


def present(host: Host) -> bool:
    """Whether anything of it is there."""
    return host.lexists(UNIT_FILE) or host.lexists(LINK)


def _links() -> list[str]:
    return [f"/etc/systemd/system/{wanting}.wants/{UNIT}" for wanting in _WANTED_BY]


def _engine(host: Host) -> str | None:
    """The installed engine that the link names."""
    try:
        target = host.readlink(LINK)
    except OSError:
        return None
    return f"{install.FOLDER}/{target}" if host.is_folder(f"{install.FOLDER}/{target}") else None


def _link(host: Host, engine: str) -> None:
    staged = _staged(host)
    durable.unlink_if_there(staged)
    os.symlink(os.path.basename(engine), staged)
    os.replace(staged, host.path(LINK))


def _staged(host: Host) -> str:
    """Path on this machine of the link for the moment before its rename."""
    return host.path(f"{LINK}.new")


def _systemctl(host: Host, *arguments: str) -> None:
    answer = host.run(["systemctl", *arguments], timeout=TIMEOUT)
    if answer.rc != 0:
        reason = " ".join(answer.stderr.split()) or f"exit status {answer.rc}"
        raise ColocationError(f"systemctl {' '.join(arguments)} failed: {reason}", "Check systemd on this node")
