# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import golang, programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.unit.lab.fake_go import FakeGo, install


@pytest.fixture(name="go")
def _go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    return install(tmp_path, monkeypatch)


@pytest.fixture(name="cache")
def _cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_what_is_pinned_stays_and_the_rest_goes(go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    etcd = programs.obtain(cache, "etcd-3.6").path("etcd")
    for kind, name in (("programs", "etcd-3.4-old"), ("control-plane", "debian-0123"), ("disk", "trixie-0123")):
        (cache.root / kind / name).mkdir(parents=True)
        (cache.root / kind / name / "file").write_bytes(b"x")
    (cache.scratch(golang.COMPILED) / "00").mkdir()
    assert main(["programs", "--prune"]) == 0
    assert etcd.is_file()
    assert [path.name for path in (cache.root / "programs").iterdir()] == [etcd.parent.name]
    assert not list((cache.root / "control-plane").iterdir())
    assert (cache.root / "disk" / "trixie-0123").exists()
    assert not list((cache.root / golang.COMPILED).glob("*"))
    assert "1 disks of nodes stay" in capsys.readouterr().err


def test_go_caches_stay_while_a_build_uses_them(go: FakeGo, cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    (cache.scratch(golang.COMPILED) / "00").mkdir()
    with golang.in_use(cache):
        assert main(["programs", "--prune"]) == 0
    assert (cache.root / golang.COMPILED / "00").exists()
    assert "a build uses it" in capsys.readouterr().err
