# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limit of huge pages, on the kernels here that have one. None of this collection's code is asked."""

from __future__ import annotations

from typing import Any

UNLIMITED = {"v1-cgroupfs": "9223372036852678656", "v2-cgroupfs": "max"}
"""By node, of those with Debian's kernel. On v1 the largest number of whole huge pages: mm/hugetlb_cgroup.c."""


def test_a_limit_of_huge_pages_is_set_once_and_put_back(aligned: dict[str, Any], huge_pages: dict[str, Any]) -> None:
    node = aligned["node"]
    assert ("Debian" in aligned["kernel"]) is (node in UNLIMITED)
    if node not in UNLIMITED:
        assert not huge_pages
        return
    # 5000 KiB are two huge pages of 2 MiB and a part of one.
    texts = [UNLIMITED[node], str(4 << 20), UNLIMITED[node]]
    assert huge_pages == {"texts": texts, "changed": [True, False, True]}
