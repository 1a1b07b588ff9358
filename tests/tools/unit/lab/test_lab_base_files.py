# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.base_files import BaseFiles, base_files
from ansible_collections.volcano.colocation.tests.lab.containerd import Containerd
from ansible_collections.volcano.colocation.tests.lab.kubernetes import Kubelet

KUBELET = Kubelet(Path("kubelet"), "digest", "1.20.2", (1, 20))


@pytest.fixture
def files(tmp_path: Path) -> BaseFiles:
    binary = tmp_path / "kubelet"
    binary.write_bytes(b"kubelet")
    return base_files(dataclasses.replace(KUBELET, path=binary), b"images")


def test_the_archive_holds_every_file_with_the_right_mode(files: BaseFiles) -> None:
    with tarfile.open(fileobj=io.BytesIO(files.archive())) as tar:
        members = {member.name: member for member in tar}
        assert members["usr/bin/kubelet"].mode == 0o755
        assert members["etc/systemd/system/apt-daily.timer"].linkname == "/dev/null"
        assert members["etc/ssh/sshd_config.d/lab.conf"].size > 0
        wants = "etc/systemd/system/multi-user.target.wants/"
        for name, member in members.items():
            if name.startswith(wants):
                assert member.linkname.lstrip("/") in members


def test_another_containerd_replaces_debians(tmp_path: Path) -> None:
    names = ("containerd", "containerd-shim-runc-v2", "ctr")
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    files = base_files(None, b"images", Containerd(tmp_path, "digest", "2.4.2", "version = 4\n"))
    with tarfile.open(fileobj=io.BytesIO(files.archive())) as tar:
        for name in names:
            program = tar.extractfile(f"usr/bin/{name}")
            assert program is not None
            assert program.read() == name.encode()
            assert tar.getmember(f"usr/bin/{name}").mode == 0o755
        assert tar.getmember("opt/cni/bin").linkname == "/usr/lib/cni"


def test_the_same_files_give_the_same_archive_and_recipe(files: BaseFiles) -> None:
    assert files.archive() == files.archive()
    assert files.recipe == dataclasses.replace(files).recipe


def test_whatever_changes_the_node_changes_the_recipe(files: BaseFiles) -> None:
    variants = [
        dataclasses.replace(files, images=b"other"),
        dataclasses.replace(files, links={}),
        dataclasses.replace(files, texts={**files.texts, "etc/motd": "x"}),
        dataclasses.replace(files, kubelet=dataclasses.replace(KUBELET, digest="other")),
        dataclasses.replace(files, kubelet=None),
        dataclasses.replace(files, containerd=Containerd(Path("x"), "digest", "2.4.2", "")),
        dataclasses.replace(files, containerd=Containerd(Path("x"), "other", "2.4.2", "")),
    ]
    assert len({variant.recipe for variant in [files, *variants]}) == len(variants) + 1


def test_without_kubelet_the_pod_starter_has_its_imports(tmp_path: Path) -> None:
    files = base_files(None, b"images")
    with tarfile.open(fileobj=io.BytesIO(files.archive())) as tar:
        names = tar.getnames()
        for member in tar:
            if member.name.startswith("usr/lib/lab/"):
                tar.extract(member, tmp_path)
    assert "usr/bin/kubelet" not in names
    program = tmp_path / "usr" / "lib" / "lab"
    # -S and -I: only modules of the standard library and of the archive can be imported.
    code = f"import sys; sys.path.insert(0, {str(program)!r}); import pods"
    imported = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=False)
    assert imported.returncode == 0, imported.stderr
    assert files.links["etc/systemd/system/multi-user.target.wants/lab-pods.service"].lstrip("/") in names
