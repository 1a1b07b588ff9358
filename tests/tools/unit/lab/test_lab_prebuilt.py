# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``lab build`` on a machine that cannot build or run user-mode Linux: its nodes are emulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import accel, engines, nodes, prebuilt, requirements, root
from ansible_collections.volcano.colocation.tests.lab.cache import Cache, Recipe
from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.lab.kubernetes import pause_recipe
from ansible_collections.volcano.colocation.tests.lab.progress import Progress
from ansible_collections.volcano.colocation.tests.lab.spec import Engine, NodeSpec, Suite
from ansible_collections.volcano.colocation.tests.lab.uml import kernel
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import install


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache with root file systems and the pause program, on a machine whose only program is Go."""
    directory = install(tmp_path, monkeypatch).directory
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setattr(requirements, "_SYSTEM", ())
    monkeypatch.setattr(accel, "has_device", lambda: False)
    cache = Cache(tmp_path / "cache")
    for suite in Suite:
        put(cache, root.recipe(suite))
    put(cache, pause_recipe())
    return cache


@pytest.fixture(name="built")
def _built(monkeypatch: pytest.MonkeyPatch) -> list[NodeSpec]:
    """The nodes whose images are built."""
    specs: list[NodeSpec] = []
    monkeypatch.setattr(nodes, "build", specs.append)
    return specs


def put(cache: Cache, recipe: Recipe, name: str = "pause") -> None:
    cache.obtain(recipe, lambda directory, _log: (directory / name).touch(), Progress("test"))


def test_without_a_compiler_qemu_emulates_the_nodes(
    cache: Cache, built: list[NodeSpec], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "--suite", "trixie"]) == 0
    assert "QEMU emulates nodes, which takes longer: gcc is not installed: apt-get install gcc" in (
        capsys.readouterr().err
    )
    assert [spec.suite for spec in built] == [Suite.TRIXIE]
    assert engines.choose(cache, built[0]) is Engine.QEMU


def test_images_alone_can_be_built(cache: Cache, built: list[NodeSpec], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--suite", "trixie", "--no-kernel"]) == 0
    assert "user-mode Linux" not in capsys.readouterr().err
    assert [spec.suite for spec in built] == [Suite.TRIXIE]


def test_systems_alone_can_be_built(cache: Cache, built: list[NodeSpec], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--suite", "trixie", "--systems"]) == 0
    assert "QEMU emulates nodes" in capsys.readouterr().err
    assert built == []


def test_a_kernel_that_cannot_run_here_is_explained(
    cache: Cache, built: list[NodeSpec], capsys: pytest.CaptureFixture[str]
) -> None:
    put(cache, kernel.recipe(), "linux")
    assert main(["build", "--suite", "trixie"]) == 0
    assert "QEMU emulates nodes, which takes longer: programs are missing: apt-get install iproute2" in (
        capsys.readouterr().err
    )
    assert len(built) == 1


def test_the_images_of_the_tests_are_built_by_default(cache: Cache, built: list[NodeSpec]) -> None:
    assert main(["build"]) == 0
    assert [(spec.suite, spec.kubelet, spec.containerd) for spec in built][len(Suite) :] == list(prebuilt.FURTHER)
    assert [spec.suite for spec in built][: len(Suite)] == list(Suite)
