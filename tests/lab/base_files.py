# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that every node has on top of Debian."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass

from .cache import digest
from .kubernetes import Kubelet
from .node_files import kubelet_unit
from .paths import GUEST

MASKED_UNITS = (
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "dev-mqueue.mount",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "getty.target",
    "getty@tty1.service",
    "kmod-static-nodes.service",
    "modprobe@.service",
    "proc-sys-fs-binfmt_misc.automount",
    "serial-getty@.service",
    "sshd-keygen.service",
    "systemd-binfmt.service",
    "systemd-logind.service",
    "systemd-pstore.service",
    "systemd-random-seed.service",
    "systemd-tmpfiles-clean.timer",
    "systemd-udev-load-credentials.service",
    "systemd-udev-trigger.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-update-utmp.service",
)
"""Units that cost an emulated guest seconds and change nothing that a node's pods or cgroups depend on."""

WANTED_UNITS = {
    "kubelet.service": "/usr/lib/systemd/system/kubelet.service",
    "lab-console.service": "/etc/systemd/system/lab-console.service",
    "lab-images.service": "/etc/systemd/system/lab-images.service",
}

CNI = {
    "cniVersion": "0.4.0",
    "name": "lab",
    "plugins": [{"type": "host-local"}],
}
"""The lab's pods use the node's own network; without this one the runtime says that its network is not ready."""

UPDATED = ("etc/.updated", "var/.updated")
"""Newer than /usr, so that systemd rebuilds no caches at boot (ConditionNeedsUpdate=, systemd.unit(5))."""

_END_OF_TIME = 2**31 - 1


@dataclass(frozen=True)
class BaseFiles:
    """Paths below the root: texts, symbolic links, and the two large files."""

    texts: dict[str, str]
    links: dict[str, str]
    kubelet: Kubelet
    images: bytes

    @property
    def recipe(self) -> str:
        """A text that is another one whenever a node would be another one."""
        return json.dumps([self.texts, self.links, self.kubelet.digest, digest(self.images)], sort_keys=True)

    def archive(self) -> bytes:
        """A tar file of root's."""
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for path, text in self.texts.items():
                _add(tar, path, text.encode(), 0o644)
            _add(tar, "usr/bin/kubelet", self.kubelet.path.read_bytes(), 0o755)
            _add(tar, "usr/share/lab/images.tar", self.images, 0o644)
            for path, target in self.links.items():
                member = tarfile.TarInfo(path)
                member.type, member.linkname = tarfile.SYMTYPE, target
                tar.addfile(member)
        return stream.getvalue()


def base_files(kubelet: Kubelet, images: bytes) -> BaseFiles:
    """The files of every node with this kubelet and these container images."""
    tree = GUEST / "root"
    texts = {str(path.relative_to(tree)): path.read_text() for path in sorted(tree.rglob("*")) if path.is_file()}
    texts["usr/lib/systemd/system/kubelet.service"] = kubelet_unit(kubelet.version)
    texts["var/lib/lab/README"] = "Marks of the lab: what was done once on this node.\n"
    texts["etc/cni/net.d/10-lab.conflist"] = json.dumps(CNI, indent=2) + "\n"
    texts.update({path: "" for path in UPDATED})
    units = "etc/systemd/system"
    links = {f"{units}/{unit}": "/dev/null" for unit in MASKED_UNITS}
    links.update({f"{units}/multi-user.target.wants/{unit}": path for unit, path in WANTED_UNITS.items()})
    return BaseFiles(texts, links, kubelet, images)


def _add(tar: tarfile.TarFile, path: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode, member.mtime = len(content), mode, _END_OF_TIME if path in UPDATED else 0
    tar.addfile(member, io.BytesIO(content))
