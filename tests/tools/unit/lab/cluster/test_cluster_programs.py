# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster.programs import FAMILIES, obtain
from ansible_collections.volcano.colocation.tests.lab.program_table import CONTROL_PLANE, family
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import install


def test_a_control_plane_has_kubernetes_and_etcd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    programs = obtain(Cache(tmp_path / "cache"))
    assert [name for name in CONTROL_PLANE if programs.path(name).is_file()] == list(CONTROL_PLANE)
    assert programs.etcd.read_text() == "go.etcd.io/etcd/server/v3\n"
    assert programs.kubernetes.name.startswith("kubernetes-1.35-control-plane-")
    assert programs.etcd_directory.name.startswith("etcd-3.6-etcd-")


@pytest.mark.parametrize("release", FAMILIES)
def test_a_control_plane_has_the_release_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    install(tmp_path, monkeypatch)
    programs = obtain(Cache(tmp_path / "cache"), release)
    assert programs.kubernetes.name.startswith(f"{FAMILIES[release]}-control-plane-")
    assert family(FAMILIES[release]).release.startswith(f"{release}.")
