# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small image of a node, and whole trees as values that can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KUBELET = "var/lib/kubelet/config.yaml"
RUNTIME = "etc/containerd/config.toml"

KUBELET_TEXT = """# Settings of this site.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs # the old one
evictionHard:
    memory.available:   64Mi
staticPodURLHeader:
  X-Access: [hunter2-Zm9v]
"""
RUNTIME_TEXT = """version = 2
# Settings of this site.
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example".auth]
  password = "hunter2-Zm9v"
"""

FILES = {KUBELET: KUBELET_TEXT, RUNTIME: RUNTIME_TEXT, "usr/bin/kubelet": "", "usr/bin/containerd": ""}

STATE = "var/lib/volcano-colocation"


def grow(root: Path, changes: Mapping[str, str | None]) -> Path:
    """Write an image with some files changed, or omitted where the text is None."""
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return root


def contents(root: Path) -> dict[str, bytes | str]:
    """Every file, link and directory of a tree: text of files, target of links, mode of all."""
    entries: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        entries[name + ":mode"] = oct(path.lstat().st_mode)
        if path.is_symlink():
            entries[name] = str(path.readlink())
        elif path.is_file():
            entries[name] = path.read_bytes()
    return entries


def without_state(tree: Mapping[str, bytes | str]) -> dict[str, bytes | str]:
    """Return the tree without the state of transactions."""
    return {name: value for name, value in tree.items() if not name.startswith(STATE)}
