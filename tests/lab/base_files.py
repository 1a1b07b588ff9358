# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that every node has on top of Debian."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .cache import digest
from .containerd import Containerd
from .kubernetes import Kubelet
from .paths import CRI_CLIENT, GUEST

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
    "systemd-logind-varlink.socket",
    "systemd-logind.service",
    "systemd-pstore.service",
    "systemd-random-seed.service",
    "systemd-tmpfiles-clean.timer",
    "systemd-udev-load-credentials.service",
    "systemd-udev-trigger.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-update-utmp.service",
)
"""Units that take seconds in an emulated guest and do not affect a node's pods or cgroups."""

MASKED_GENERATORS = (
    "cryptsetup",
    "debug",
    "factory-reset",
    "fstab",
    "getty",
    "gpt-auto",
    "hibernate-resume",
    "integritysetup",
    "rc-local",
    "run",
    "ssh",
    "system-update",
    "sysv",
    "tpm2",
    "veritysetup",
)
"""Generators of systemd that make no unit on a node. At each reload and boot they take half a second of CPU time."""

WANTED_UNITS = {
    "lab-console.service": "/etc/systemd/system/lab-console.service",
    "lab-images.service": "/etc/systemd/system/lab-images.service",
}

RUNTIME_UNITS = {"lab-pods.service": "/etc/systemd/system/lab-pods.service"}
"""The unit that replaces kubelet's on nodes without kubelet."""

GENERATORS = "etc/systemd/system-generators"

CNI = {
    "cniVersion": "0.4.0",
    "name": "lab",
    "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/24"}]]}}],
}
"""A pod without hostNetwork reaches only its node. The lab's own pods use hostNetwork."""

NO_CNI = {"cniVersion": "0.4.0", "name": "lab", "plugins": [{"type": "host-local"}]}
"""Without a CNI configuration the runtime reports that its network is not ready."""

CNI_PROGRAMS, DEBIAN_CNI_PROGRAMS = "opt/cni/bin", "/usr/lib/cni"
"""containerd's default directory of CNI programs, and Debian's, which Debian's containerd configuration names."""

UPDATED = ("etc/.updated", "var/.updated")
"""Newer than /usr, so that systemd rebuilds no caches at boot (ConditionNeedsUpdate=, systemd.unit(5))."""

_END_OF_TIME = 2**31 - 1


@dataclass(frozen=True)
class BaseFiles:
    """Paths below the root: texts, symbolic links, and the large files."""

    texts: dict[str, str]
    links: dict[str, str]
    kubelet: Kubelet | None
    images: bytes
    containerd: Containerd | None = None

    @property
    def recipe(self) -> str:
        """A text that changes whenever the files of a node change."""
        programs = [self.kubelet and self.kubelet.digest, self.containerd and self.containerd.digest]
        return json.dumps([self.texts, self.links, *programs, digest(self.images)], sort_keys=True)

    def archive(self) -> bytes:
        """A tar file, owned by root."""
        large = [("usr/share/lab/images.tar", self.images, 0o644)]
        if self.kubelet:
            large.append(("usr/bin/kubelet", self.kubelet.path.read_bytes(), 0o755))
        for path in self.containerd.paths if self.containerd else ():
            large.append((f"usr/bin/{path.name}", path.read_bytes(), 0o755))
        return archive(self.texts, self.links, large)


def archive(texts: dict[str, str], links: dict[str, str], large: Iterable[tuple[str, bytes, int]] = ()) -> bytes:
    """A tar file owned by root: texts, symbolic links, and files with a mode; paths may begin with a slash."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path, content, mode in [*((path, text.encode(), 0o644) for path, text in texts.items()), *large]:
            _add(tar, path.lstrip("/"), content, mode)
        for path, target in links.items():
            member = tarfile.TarInfo(path.lstrip("/"))
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return stream.getvalue()


def base_files(kubelet: Kubelet | None, images: bytes, containerd: Containerd | None = None) -> BaseFiles:
    """The files of every node with this kubelet and these images. ``containerd`` replaces Debian's."""
    texts = {**_tree(GUEST / "root"), **({} if kubelet else _runtime_files())}
    texts["var/lib/lab/README"] = "Marks of the lab: what was done once on this node.\n"
    texts["etc/cni/net.d/10-lab.conflist"] = json.dumps(CNI if kubelet else NO_CNI, indent=2) + "\n"
    texts.update({path: "" for path in UPDATED})
    units = "etc/systemd/system"
    links = {f"{units}/{unit}": "/dev/null" for unit in MASKED_UNITS}
    links.update({f"{GENERATORS}/systemd-{name}-generator": "/dev/null" for name in MASKED_GENERATORS})
    enabled = WANTED_UNITS if kubelet else {**WANTED_UNITS, **RUNTIME_UNITS}
    links.update({f"{units}/multi-user.target.wants/{unit}": path for unit, path in enabled.items()})
    if containerd:
        links[CNI_PROGRAMS] = DEBIAN_CNI_PROGRAMS
    return BaseFiles(texts, links, kubelet, images, containerd)


def _tree(directory: Path, below: str = "") -> dict[str, str]:
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return {f"{below}{path.relative_to(directory)}": path.read_text() for path in files}


def _runtime_files() -> dict[str, str]:
    """The files that run pods without kubelet: a program of the lab and the collection's CRI client."""
    package = "usr/lib/lab/ansible_collections/volcano/colocation/plugins/module_utils"
    return {
        **_tree(GUEST / "runtime"),
        **_tree(CRI_CLIENT, f"{package}/cri/"),
        f"{package}/errors.py": (CRI_CLIENT.parent / "errors.py").read_text(),
        "usr/lib/lab/pods.py": (GUEST / "pods.py").read_text(),
    }


def _add(tar: tarfile.TarFile, path: str, content: bytes, mode: int) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode, member.mtime = len(content), mode, _END_OF_TIME if path in UPDATED else 0
    tar.addfile(member, io.BytesIO(content))
