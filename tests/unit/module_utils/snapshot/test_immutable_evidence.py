# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The write scope of each module: refused where a required path is read-only or volatile, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.immutable_systems import (
    IMAGES,
    MANAGED,
    SERVICES,
    UNIT_FILES,
    UNTIL_BOOT,
    WriteScope,
    require_changeable,
)

USES = {"services": SERVICES, "unit files": UNIT_FILES, "images": IMAGES, "until boot": UNTIL_BOOT}
DISK = "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
CLOSED = {
    "/usr/local": "29 28 8:2 / /usr ro - squashfs /dev/sda2 ro\n",
    "/etc": "29 28 8:2 / /etc ro - squashfs /dev/sda2 ro\n",
    "/var": "29 28 8:2 / /var ro - squashfs /dev/sda2 ro\n",
}
VOLATILE = {
    "/etc": "29 28 0:30 / /etc rw - tmpfs tmpfs rw\n",
    "/var": "29 28 0:30 / /var rw - tmpfs tmpfs rw\n",
    "/usr/local": "29 28 0:30 / /usr/local rw - tmpfs tmpfs rw\n",
}


def node(directory: Path, mounts: str = DISK, **release: str) -> Host:
    for path, text in {
        "proc/self/mountinfo": mounts,
        "usr/lib/os-release": "".join(f'{name}="{value}"\n' for name, value in release.items()),
    }.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Host(str(directory))


def refused(host: Host) -> set[str]:
    return {name for name, use in USES.items() if message(host, use)}


def message(host: Host, use: WriteScope) -> str:
    try:
        require_changeable(host, use)
    except ColocationError as error:
        return str(error)
    return ""


ALL = set(USES)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("debian", set()),
        ("talos", ALL),
        ("bottlerocket", ALL),
        ("ubuntu-core", ALL),
        ("flatcar", {"services"}),
        ("cos", {"services", "unit files"}),
        ("rhcos", {"services", "unit files"}),
        ("scos", {"services", "unit files"}),
        ("nixos", {"services", "unit files"}),
    ],
)
def test_a_managed_system_is_refused_to_what_it_has_no_place_for(
    tmp_path: Path, system: str, expected: set[str]
) -> None:
    host = node(tmp_path, ID=system)
    assert refused(host) == expected
    for name in expected:
        assert message(host, USES[name]).startswith(f"{MANAGED[system].name} is not changed by this collection: ")
        assert message(host, USES[name]).endswith(MANAGED[system].remedy)


def test_every_managed_system_is_refused_to_changes_of_services(tmp_path: Path) -> None:
    for number, system in enumerate(MANAGED):
        assert "services" in refused(node(tmp_path / str(number), ID=system)), system


@pytest.mark.parametrize(
    ("place", "expected"),
    [("/usr/local", {"services"}), ("/etc", {"services", "unit files"}), ("/var", ALL)],
)
def test_a_read_only_place_is_refused_to_what_writes_there(tmp_path: Path, place: str, expected: set[str]) -> None:
    host = node(tmp_path, DISK + CLOSED[place], ID="acme", PRETTY_NAME="Acme OS 4")
    assert refused(host) == expected
    assert message(host, SERVICES).startswith(f"Acme OS 4 is not changed by this collection: {place}")


def test_a_read_only_usr_stops_nothing_that_is_written_beside_it(tmp_path: Path) -> None:
    mounts = DISK + "29 28 8:2 / /usr ro - xfs /dev/sda2 ro\n30 29 8:3 / /usr/local rw - xfs /dev/sda3 rw\n"
    assert refused(node(tmp_path, mounts)) == set()


@pytest.mark.parametrize(
    ("place", "expected"),
    [("/etc", {"services", "unit files"}), ("/var", {"services", "images"}), ("/usr/local", {"services"})],
)
def test_a_place_in_memory_is_refused_to_what_has_to_last(tmp_path: Path, place: str, expected: set[str]) -> None:
    host = node(tmp_path, DISK + VOLATILE[place])
    assert refused(host) == expected
    assert "a reboot would keep one part of a change without the other" in message(host, SERVICES)


def test_a_node_without_a_disk_is_refused_to_nothing(tmp_path: Path) -> None:
    assert refused(node(tmp_path, "28 1 0:20 / / rw - tmpfs tmpfs rw\n")) == set()


def test_what_a_system_leaves_open_by_its_name_is_judged_by_its_mounts(tmp_path: Path) -> None:
    assert refused(node(tmp_path / "a", DISK + CLOSED["/etc"], ID="flatcar")) == {"services", "unit files"}
    assert refused(node(tmp_path / "b", DISK + VOLATILE["/etc"], ID="flatcar")) == {"services", "unit files"}
    assert refused(node(tmp_path / "c", DISK + CLOSED["/var"], ID="cos")) == ALL


def test_the_host_of_a_container_counts(tmp_path: Path) -> None:
    host = node(tmp_path, ID="amzn")
    outer: Any = tmp_path / ".bottlerocket/rootfs/usr/lib/os-release"
    outer.parent.mkdir(parents=True)
    outer.write_text("ID=bottlerocket\n")
    assert refused(host) == ALL
