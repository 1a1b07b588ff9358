# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import CommandResult
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.bus import Bus, BusError, object_path
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import Property
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost, Refusal

UNIT = "/org/freedesktop/systemd1/unit/"


@pytest.mark.parametrize(
    ("unit", "path"),
    [
        ("-.slice", "_2d_2eslice"),
        ("kubepods-besteffort.slice", "kubepods_2dbesteffort_2eslice"),
        ("kubepods-pod1_2.slice", "kubepods_2dpod1_5f2_2eslice"),
        ("1a.slice", "_31a_2eslice"),
        (r"a\x2db.slice", "a_5cx2db_2eslice"),
    ],
)
def test_the_object_path_of_a_unit(unit: str, path: str) -> None:
    assert object_path(unit) == UNIT + path


def test_one_program_reads_all_known_properties(tmp_path: Path) -> None:
    host = AnsweringHost(tmp_path, lambda argv: 'a{sv} 2 "CPUWeight" t 300 "Slice" s "-.slice"\n')
    assert Bus(host).get("a.slice", "Slice", ["CPUWeight", "CPUSetPartition"]) == {"CPUWeight": 300}
    assert [" ".join(argv) for argv in host.commands] == [
        "busctl --system -- call org.freedesktop.systemd1 /org/freedesktop/systemd1/unit/a_2eslice"
        " org.freedesktop.DBus.Properties GetAll s org.freedesktop.systemd1.Slice"
    ]


def test_one_program_sets_all_properties(tmp_path: Path) -> None:
    host = AnsweringHost(tmp_path)
    Bus(host).set("-.slice", [Property("CPUWeight", "t", 5), Property("AllowedCPUs", "ay", b"\x03")])
    assert [" ".join(argv) for argv in host.commands] == [
        "busctl --system -- call org.freedesktop.systemd1 /org/freedesktop/systemd1"
        " org.freedesktop.systemd1.Manager SetUnitProperties sba(sv) -.slice true 2 CPUWeight t 5 AllowedCPUs ay 1 3"
    ]


@pytest.mark.parametrize(
    ("text", "version"), [("252.38-1~deb12u1", 252), ("239 (239-82.el8)", 239), ("v245.4-4ubuntu3", 245)]
)
def test_the_version_is_a_number(tmp_path: Path, text: str, version: int) -> None:
    assert Bus(AnsweringHost(tmp_path, lambda argv: f'v s "{text}"')).version() == version


def test_a_version_without_a_number_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BusError, match="instead of a version"):
        Bus(AnsweringHost(tmp_path, lambda argv: 'v s "unknown"')).version()


def test_an_error_has_the_reason_of_systemd(tmp_path: Path) -> None:
    def refuse(argv: Sequence[str]) -> str:
        raise Refusal("Call failed: Cannot set property Delegate, or unknown property.\n")

    with pytest.raises(BusError, match=r"SetUnitProperties of a.slice: Cannot set property Delegate, or unknown"):
        Bus(AnsweringHost(tmp_path, refuse)).set("a.slice", [Property("Delegate", "b", True)])


def test_without_a_bus_the_remedy_starts_it(tmp_path: Path) -> None:
    def refuse(argv: Sequence[str]) -> str:
        raise Refusal("Failed to connect to bus: No such file or directory\n")

    with pytest.raises(BusError, match="systemctl start dbus"):
        Bus(AnsweringHost(tmp_path, refuse)).get("a.slice", "Slice", [])


def test_without_busctl_the_remedy_names_it(tmp_path: Path) -> None:
    class Without(AnsweringHost):
        def run(self, argv: Sequence[str], timeout: float = 30.0) -> CommandResult:
            return CommandResult(tuple(argv), None, "", "No such file or directory: 'busctl'", 0.0)

    with pytest.raises(BusError, match="is part of systemd"):
        Bus(Without(tmp_path)).get("a.slice", "Slice", [])


@pytest.mark.parametrize("verb", ["start", "stop"])
def test_a_call_waits_for_its_job(tmp_path: Path, verb: str) -> None:
    host = AnsweringHost(tmp_path)
    getattr(Bus(host), verb)("-.slice")
    assert host.commands == [("systemctl", "--no-ask-password", verb, "--", "-.slice")]


def test_a_failed_job_and_a_failed_reload_are_errors(tmp_path: Path) -> None:
    def refuse(argv: Sequence[str]) -> str:
        raise Refusal('Job for a.slice failed. See "systemctl status a.slice" for details.\n')

    bus = Bus(AnsweringHost(tmp_path, refuse))
    with pytest.raises(BusError, match=r"Job for a\.slice failed\. See journalctl --unit a\.slice"):
        bus.start("a.slice")
    with pytest.raises(BusError, match="daemon-reload failed"):
        bus.reload()
