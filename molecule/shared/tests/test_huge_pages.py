# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limit of huge pages on kernels that have it, checked without code of this collection."""

from __future__ import annotations

from typing import Any

NODES = ("v1-cgroupfs", "v2-cgroupfs")
"""Those with Debian's kernel."""
OF_KUBELET = "0"
"""Of a pod that asks for no huge pages: kubelet's HugePageLimits (pkg/kubelet/cm/helpers_linux.go)."""


def test_a_limit_of_huge_pages_is_set_once_and_restored(aligned: dict[str, Any], huge_pages: dict[str, Any]) -> None:
    node = aligned["node"]
    assert ("Debian" in aligned["kernel"]) is (node in NODES)
    if node not in NODES:
        assert not huge_pages
        return
    # 5000 KiB are two huge pages of 2 MiB and a part of one.
    texts = [OF_KUBELET, str(4 << 20), OF_KUBELET]
    assert huge_pages == {"texts": texts, "changed": [True, False, True]}
