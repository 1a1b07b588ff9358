# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether user-mode Linux can run a node on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .. import accel
from ..cache import Cache
from ..requirements import IP, NSENTER, SLIRP4NETNS, UNSHARE, find
from ..spec import DEBIAN_KUBELET, NodeSpec
from . import kernel, network

STARTS = "starts"


def obstacle(cache: Cache, spec: NodeSpec) -> str:
    """Why user-mode Linux cannot run the node on this machine, '' when it can. Builds nothing."""
    return unsupported(spec) or _obstacle_here(cache)


def unsupported(spec: NodeSpec) -> str:
    """Why user-mode Linux cannot run the node on any machine, '' when it can."""
    if spec.numa > 1:
        return "it has no NUMA nodes"
    if spec.kubelet == DEBIAN_KUBELET:
        return "kubelet 1.20 reads the topology of CPUs, which it does not have"
    return ""


def _obstacle_here(cache: Cache) -> str:
    missing = [tool.package for tool in (IP, NSENTER, SLIRP4NETNS, UNSHARE) if not find(tool)]
    if missing:
        return f"programs are missing: apt-get install {' '.join(missing)}"
    binary = kernel.find(cache)
    if binary is None:
        return "its kernel is not built: python3 tests/lab build"
    result = accel.remember(cache.root, binary, lambda: _probe(binary))
    return "" if result == STARTS else result


def _probe(kernel: Path) -> str:
    """A kernel that prints its version has passed its checks of the host (ptrace, seccomp, executable memory)."""
    with tempfile.TemporaryDirectory(prefix="lab-uml-") as directory:
        options = ["mem=64M", "con=null", "con0=null,fd:1", "seccomp=on", "panic=-1", f"uml_dir={directory}"]
        if accel.speaks([*network.new_namespace(), str(kernel), *options], (b"Linux version", b"Kernel panic")):
            return STARTS
    return "its kernel does not start on this machine"
