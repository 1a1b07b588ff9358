# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the folder that kubeadm is given as --patches: the files in it that patch kubelet's configuration."""

from __future__ import annotations

from typing import Any

from ..host import Host
from .files import describe
from .kubelet_files import captured, walk

TARGET = "kubeletconfiguration"
EXTENSIONS = (".json", ".yaml")
MAX_PATCHES = 64
_MAX_ENTRIES = 4096


def kubeadm_patches(host: Host, folder: str) -> dict[str, Any]:
    """``{folder, kind, paths, left_out, files}``, paths in the order in which kubeadm applies them.

    cmd/kubeadm/app/util/patches/patches.go: filepath.Walk, folders below included; the folder itself may be no link.
    """
    found: dict[str, Any] = {"folder": folder, "kind": describe(host, folder)["kind"], "paths": [], "left_out": 0}
    if found["kind"] == "directory":
        try:
            _list(host, folder, found)
        except OSError as error:
            found["error"] = str(error.strerror or error)
    found["files"] = captured(host, found["paths"])
    return found


def _list(host: Host, folder: str, found: dict[str, Any]) -> None:
    for seen, path in enumerate(walk(host, folder)):
        name = path.rpartition("/")[2]
        if not name.startswith(TARGET) or not name.endswith(EXTENSIONS):
            continue
        if len(found["paths"]) < MAX_PATCHES and seen < _MAX_ENTRIES:
            found["paths"].append(path)
        else:
            found["left_out"] += 1
