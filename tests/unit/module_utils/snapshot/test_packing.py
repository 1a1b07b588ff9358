# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a snapshot looks like on its way, and that all of it arrives."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack, unpack


def test_all_of_a_snapshot_arrives() -> None:
    # \udcff: a byte of a file that is not UTF-8
    snapshot = {"kubelet": {"text": "a: ü\udcff\n", "argv": ["--v=2", ""]}, "healthy": None, "seconds": 1.5}
    assert unpack(pack(snapshot)) == snapshot


def test_what_it_holds_cannot_be_read_in_passing() -> None:
    packed = pack({"text": "password: hunter2"})
    assert packed.isascii()
    assert "hunter2" not in packed
    assert "password" not in packed
