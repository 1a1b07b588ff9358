# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.debian_kubelet import linker_flags, release_of
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.kubernetes import obtain_kubelet, obtain_pause
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import install


@pytest.mark.parametrize(
    ("debian", "release"),
    [
        ("1.20.5+really1.20.2-1.1+deb12u1", "1.20.2"),
        ("1.20.2-1", "1.20.2"),
        ("1:1.28.10+ds-1", "1.28.10"),
    ],
)
def test_the_release_is_read_from_a_debian_version(debian: str, release: str) -> None:
    assert release_of(debian) == release


def test_a_version_without_kubernetes_is_refused() -> None:
    with pytest.raises(LabError, match="bookworm"):
        release_of("bookworm")


def program(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(mode)
    return path


def test_a_kubelet_by_path_reports_its_version(tmp_path: Path) -> None:
    kubelet = obtain_kubelet(Cache(tmp_path), str(program(tmp_path / "kubelet", "Kubernetes v1.35.1-rc.0")))
    assert kubelet
    assert (kubelet.version, kubelet.release) == ((1, 35), "1.35.1-rc.0")


def test_without_kubelet_none_is_built(tmp_path: Path) -> None:
    assert obtain_kubelet(Cache(tmp_path / "cache"), "none") is None
    assert not (tmp_path / "cache").exists()


def test_a_program_other_than_kubelet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="which is not the version of a kubelet"):
        obtain_kubelet(Cache(tmp_path), str(program(tmp_path / "ls", "ls (GNU coreutils)")))


def test_a_kubelet_must_be_executable(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="not executable"):
        obtain_kubelet(Cache(tmp_path), str(program(tmp_path / "kubelet", "v1.2.3", 0o644)))


def test_a_path_without_a_kubelet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no kubelet at"):
        obtain_kubelet(Cache(tmp_path), str(tmp_path / "kubelet"))


def test_a_release_that_the_lab_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no kubernetes 1\.30; it has 1\.34, 1\.35"):
        obtain_kubelet(Cache(tmp_path), "1.30")


def test_debians_kubelet_is_linked_with_its_version() -> None:
    package = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
    assert f"-X {package}.gitVersion=v1.20.2 -X {package}.gitMajor=1 -X {package}.gitMinor=20" in linker_flags("1.20.2")


def test_the_program_of_sandboxes_is_named_when_it_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch).write(failure="echo 'write /x: no space left on device' >&2; exit 1")
    with pytest.raises(LabError, match=r"pause\.go\): go build failed: write /x: .*; the disk is full"):
        obtain_pause(Cache(tmp_path / "cache"))
