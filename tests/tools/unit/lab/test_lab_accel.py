# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.accel import Accelerator, choose

BOOTS = 'echo "[    0.000000] Linux version 6.12"; exec sleep 30'
FAILS = 'echo "KVM internal error. Suberror: 1" >&2; exec sleep 30'
REFUSES = 'echo "failed to initialize kvm: Permission denied" >&2; exit 1'


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "vmlinuz"
    path.write_text("kernel")
    return path


@pytest.fixture
def device(tmp_path: Path) -> Path:
    path = tmp_path / "kvm"
    path.write_text("")
    return path


def install_qemu(directory: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake QEMU; returns the file with a line for each call."""
    calls = directory / "calls"
    program = directory / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\necho call >> {calls}\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    return calls


@pytest.mark.parametrize(
    ("body", "expected"), [(BOOTS, Accelerator.KVM), (FAILS, Accelerator.TCG), (REFUSES, Accelerator.TCG)]
)
def test_kvm_is_chosen_only_when_a_kernel_boots(
    body: str, expected: Accelerator, tmp_path: Path, kernel: Path, device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_qemu(tmp_path, body, monkeypatch)
    assert choose(tmp_path, kernel, device) is expected


def test_the_probe_runs_once_for_each_kernel(
    tmp_path: Path, kernel: Path, device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = install_qemu(tmp_path, REFUSES, monkeypatch)
    other = tmp_path / "vmlinuz-other"
    other.write_text("another kernel")
    for image in (kernel, kernel, other, kernel, other):
        assert choose(tmp_path, image, device) is Accelerator.TCG
    assert calls.read_text().count("call") == 2


def test_without_the_device_nothing_is_booted(tmp_path: Path, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = install_qemu(tmp_path, BOOTS, monkeypatch)
    assert choose(tmp_path, kernel, tmp_path / "no-such-device") is Accelerator.TCG
    assert not calls.exists()


def test_a_malformed_result_file_is_replaced(
    tmp_path: Path, kernel: Path, device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = install_qemu(tmp_path, BOOTS, monkeypatch)
    choose(tmp_path, kernel, device)
    for memory in tmp_path.glob("engines-*.json"):
        memory.write_text("{")
    assert choose(tmp_path, kernel, device) is Accelerator.KVM
    assert calls.read_text().count("call") == 2


def test_emulation_disables_cmpxchg16b() -> None:
    assert "-cx16" in " ".join(Accelerator.TCG.arguments)
