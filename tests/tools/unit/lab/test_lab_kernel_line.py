# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.volcano.colocation.tests.lab.kernel_line import kernel_line
from ansible_collections.volcano.colocation.tests.lab.spec import CgroupMode, Driver, Engine, NodeSpec, Suite

NODE = NodeSpec("node", Suite.BOOKWORM, CgroupMode.V1, Driver.SYSTEMD, Driver.SYSTEMD)


@pytest.mark.parametrize("engine", [Engine.QEMU, Engine.UML])
@pytest.mark.parametrize(
    ("suite", "cgroup", "expected"),
    [
        (
            Suite.BOOKWORM,
            CgroupMode.V1,
            {"systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=1"},
        ),
        (
            Suite.TRIXIE,
            CgroupMode.V1,
            {
                "systemd.unified_cgroup_hierarchy=0",
                "systemd.legacy_systemd_cgroup_controller=1",
                "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1",
            },
        ),
        (Suite.BOOKWORM, CgroupMode.HYBRID, {"systemd.unified_cgroup_hierarchy=0"}),
        (
            Suite.TRIXIE,
            CgroupMode.HYBRID,
            {"systemd.unified_cgroup_hierarchy=0", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"},
        ),
        (Suite.BOOKWORM, CgroupMode.V2, {"systemd.unified_cgroup_hierarchy=1"}),
        (Suite.TRIXIE, CgroupMode.V2, {"systemd.unified_cgroup_hierarchy=1"}),
    ],
)
def test_the_cgroup_mode_is_chosen_at_boot(
    suite: Suite, cgroup: CgroupMode, expected: set[str], engine: Engine
) -> None:
    words = kernel_line(dataclasses.replace(NODE, suite=suite, cgroup=cgroup), engine).split()
    assert {word for word in words if "cgroup" in word.lower()} == expected


def test_requested_parameters_come_last() -> None:
    words = kernel_line(dataclasses.replace(NODE, kernel_args=("loglevel=7", "psi=1")), Engine.QEMU).split()
    assert words[-2:] == ["loglevel=7", "psi=1"]
    assert words.index("loglevel=4") < words.index("loglevel=7")


def test_the_kernel_prints_on_the_serial_port() -> None:
    assert "console=ttyS0,115200" in kernel_line(NODE, Engine.QEMU).split()


def test_a_user_mode_kernel_gets_no_parameters_for_hardware() -> None:
    words = kernel_line(NODE, Engine.UML).split()
    assert not [word for word in words if "tty" in word or "tsc" in word]
    assert {"panic=10", "net.ifnames=0", "systemd.unified_cgroup_hierarchy=0"} <= set(words)
