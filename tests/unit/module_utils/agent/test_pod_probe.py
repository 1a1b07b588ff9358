# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod of the agent depends on, read from directory trees."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.agent.pod_probe import distribution, probe, selinux
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host


def test_a_tree_is_read(tmp_path: Path) -> None:
    for name, text in {
        "etc/machine-id": "abc\n",
        "etc/os-release": 'NAME="openEuler"\nVERSION="22.03 (LTS-SP2)"\n',
        "sys/fs/selinux/enforce": "1",
        "proc/sys/kernel/hostname": "n1\n",
        "proc/sys/kernel/random/boot_id": "b\n",
        "proc/sys/vm/memcg_qos_enable": "0\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert probe(Host.below(str(tmp_path)), ["/etc", "/etc/machine-id", "/opt/cni/bin"]) == {
        "hostname": "n1",
        "machine_id_sha256": hashlib.sha256(b"abc").hexdigest(),
        "boot_id": "b",
        "selinux": "enforcing",
        "os": {"name": "openEuler", "version": "22.03 (LTS-SP2)"},
        "sysctls": ["vm.memcg_qos_enable"],
        "paths": {"/etc": "directory", "/etc/machine-id": "regular", "/opt/cni/bin": "missing"},
    }


@pytest.mark.parametrize(("enforce", "mode"), [(None, "off"), ("0", "permissive"), ("1\n", "enforcing")])
def test_selinux_is_off_without_its_filesystem(enforce: str | None, mode: str) -> None:
    assert selinux(enforce) == mode


def test_a_distribution_without_os_release_is_unknown() -> None:
    assert distribution(None) == {"name": "", "version": ""}
    assert distribution("NAME=Arch\n# VERSION\n") == {"name": "Arch", "version": ""}
