# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which engine runs a node."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import accel, engines
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.errors import LabError, UnavailableError
from ansible_collections.volcano.colocation.tests.lab.progress import Progress
from ansible_collections.volcano.colocation.tests.lab.spec import CgroupMode, Driver, Engine, NodeSpec, Suite
from ansible_collections.volcano.colocation.tests.lab.uml import kernel
from ansible_collections.volcano.colocation.tests.lab.uml.availability import obstacle

NODE = NodeSpec("node", Suite.TRIXIE, CgroupMode.V2, Driver.SYSTEMD, Driver.SYSTEMD, kubelet="none")
SPEAKS = "#!/bin/sh\necho call >> {calls}\necho 'Linux version 7.2'\nexec sleep 60\n"
REFUSES = "#!/bin/sh\necho call >> {calls}\necho 'Checking that ptrace can change system call numbers...failed'\n"


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setattr(accel, "has_device", lambda: False)
    return Cache(tmp_path / "cache")


def build(cache: Cache, script: str) -> Path:
    """Install a fake kernel; returns the file with a line for each call."""
    calls = cache.root / "calls"

    def write(directory: Path, _log: Path) -> None:
        program = directory / "linux"
        program.write_text(script.format(calls=calls))
        program.chmod(0o755)

    cache.obtain(kernel.recipe(), write, Progress("test"))
    return calls


def test_a_kernel_that_starts_is_preferred_to_emulation(cache: Cache) -> None:
    calls = build(cache, SPEAKS)
    assert [engines.choose(cache, NODE) for _again in range(2)] == [Engine.UML] * 2
    assert calls.read_text() == "call\n"


def test_without_a_kernel_nodes_are_emulated(cache: Cache) -> None:
    assert obstacle(cache, NODE) == "its kernel is not built: python3 tests/lab build"
    assert engines.choose(cache, NODE) is Engine.QEMU


def test_a_kernel_that_does_not_start_is_not_used(cache: Cache) -> None:
    build(cache, REFUSES)
    assert engines.choose(cache, NODE) is Engine.QEMU
    assert obstacle(cache, NODE) == "its kernel does not start on this machine"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"numa": 2}, "it has no NUMA nodes"), ({"kubelet": "debian"}, "kubelet 1.20 reads the topology of CPUs")],
)
def test_unsupported_nodes_are_emulated_or_refused(cache: Cache, changes: dict[str, object], reason: str) -> None:
    build(cache, SPEAKS)
    spec = dataclasses.replace(NODE, **changes)  # type: ignore[arg-type]
    assert engines.choose(cache, spec) is Engine.QEMU
    with pytest.raises(LabError, match=f"user-mode Linux cannot run node node: {reason}") as error:
        engines.choose(cache, dataclasses.replace(spec, engine=Engine.UML))
    assert not isinstance(error.value, UnavailableError)


def test_a_requested_engine_is_used_or_refused(cache: Cache) -> None:
    build(cache, SPEAKS)
    assert engines.choose(cache, dataclasses.replace(NODE, engine=Engine.QEMU)) is Engine.QEMU
    assert engines.choose(cache, dataclasses.replace(NODE, engine=Engine.UML)) is Engine.UML
    with pytest.raises(UnavailableError, match="KVM does not work on this machine"):
        engines.choose(cache, dataclasses.replace(NODE, engine=Engine.KVM))


def test_a_missing_program_is_named_with_its_package(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    build(cache, SPEAKS)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("ansible_collections.volcano.colocation.tests.lab.requirements._SYSTEM", ())
    assert "slirp4netns" in obstacle(cache, NODE)
    with pytest.raises(UnavailableError, match="slirp4netns"):
        engines.choose(cache, dataclasses.replace(NODE, engine=Engine.UML))


def test_an_option_that_the_source_does_not_know_is_named(tmp_path: Path) -> None:
    written = tmp_path / ".config"
    shutil.copy(kernel.CONFIG, written)
    kernel._check_config(written)
    written.write_text(written.read_text().replace("CONFIG_SMP=y\n", "# CONFIG_SMP is not set\n"))
    with pytest.raises(LabError, match=r"does not know these options of kernel\.config: CONFIG_SMP=y"):
        kernel._check_config(written)
