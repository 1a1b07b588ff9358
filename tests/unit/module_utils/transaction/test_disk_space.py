# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health.runtime_checks import count_connections
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.preflight import (
    NoDiskSpace,
    require_free_space,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation import Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction


def disk(**values: int) -> os.statvfs_result:
    fields = {"f_bsize": 4096, "f_frsize": 4096, "f_blocks": 1000, "f_bfree": 10, "f_bavail": 0}
    fields.update(f_files=100, f_ffree=5, f_favail=5, f_flag=0, f_namemax=255)
    fields.update(values)
    return os.statvfs_result(tuple(fields.values()))


@pytest.mark.parametrize(
    ("values", "size", "words"),
    [
        ({}, 50000, "50000 bytes are needed and 40960 are free, so 9040 are missing"),
        ({"f_flag": os.ST_RDONLY}, 1, "its file system is mounted read-only"),
        ({"f_ffree": 0}, 1, "no free inode"),
        ({}, 40960, ""),
        ({"f_files": 0, "f_ffree": 0}, 1, ""),
        ({"f_blocks": 0, "f_bfree": 0}, 50000, ""),
    ],
)
def test_a_disk_without_enough_space_is_refused(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, int], size: int, words: str
) -> None:
    def statvfs(_path: Any) -> os.statvfs_result:
        return disk(**values)

    monkeypatch.setattr(os, "statvfs", statvfs)
    if not words:
        require_free_space("/etc", "/etc", size)
        return
    with pytest.raises(NoDiskSpace, match=words) as raised:
        require_free_space("/mnt/etc", "/etc", size)
    assert raised.value.file == "/etc"


def test_a_full_disk_is_detected_before_the_first_change(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def statvfs(_path: Any) -> os.statvfs_result:
        return disk()

    monkeypatch.setattr(os, "statvfs", statvfs)
    tree = simulation.tree()
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], result["step"]) == ("refused", "check the node")
    assert "its file system is full" in result["error"]["message"]
    assert simulation.tree() == tree


def test_connections_of_plugins_are_counted_by_the_nri_socket() -> None:
    table = (
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 21 /var/run/nri/nri.sock\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 22 /var/run/nri/nri.sock\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 23 /var/run/nri/nri.sock\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 24 /run/another.sock\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 25\n"
    )
    assert count_connections(table, "/var/run/nri/nri.sock") == 2
