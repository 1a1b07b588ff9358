# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Garbage in the files of the evidence is recorded, and never causes an error or a hang."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.collect import collect
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack, unpack

POD = "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-%s.scope" % ("ab" * 32)
TREE = {
    "proc/sys/kernel/hostname": "node\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/cmdline": "quiet root=/dev/vda1\n",
    "proc/1/comm": "systemd\n",
    "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n",
    "proc/net/unix": "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 00010000 0001 01 1 /run/nri/nri.sock\n",
    "proc/7/comm": "kubelet\n",
    "proc/7/cmdline": "/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0",
    "proc/7/cgroup": "0::/system.slice/kubelet.service\n",
    "proc/7/stat": "7 (kubelet) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 300 0 0\n",
    "proc/8/cgroup": POD + "\n",
    "sys/devices/system/cpu/online": "0-1\n",
    "etc/containerd/config.toml": "version = 2\n",
    "usr/bin/containerd": "",
    "var/lib/kubelet/config.yaml": "cgroupDriver: systemd\n",
    "var/lib/kubelet/cpu_manager_state": '{"policyName":"none"}',
}
CONTENT = st.binary(max_size=200) | st.text("0123456789:/-, \n\0\t()=kub{}[]", max_size=120).map(str.encode)


def build(directory: Path) -> Path:
    for name, text in TREE.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


@settings(max_examples=250, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(TREE)), CONTENT, min_size=1, max_size=5))
@example({"proc/self/mountinfo": b"x"})
@example({"proc/net/unix": b"\n0: 2 0 zz 0001 01 1 /run/nri/nri.sock"})
@example({"proc/7/cmdline": b"/usr/bin/kubelet\0--config=\0--root-dir=\xff\xfe\0"})
@example({"proc/7/cmdline": b"/usr/bin/kubelet\0--config=relative/path\0"})
@example({"proc/7/stat": b"kubelet)"})
def test_garbage_is_evidence(garbage: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = build(Path(name))
        for path, content in garbage.items():
            (directory / path).write_bytes(content)
        snapshot = collect(Host(name))
    assert json.dumps(unpack(pack(snapshot))) == json.dumps(snapshot)


@pytest.mark.parametrize("name", sorted(TREE))
@pytest.mark.parametrize("kind", ["fifo", "loop", "directory", "nothing"])
def test_what_is_no_file_is_evidence(name: str, kind: str, tmp_path: Path) -> None:
    path = build(tmp_path) / name
    path.unlink()
    if kind == "fifo":
        os.mkfifo(str(path))
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "directory":
        path.mkdir()
    assert collect(Host(str(tmp_path)))["schema"] == 1
