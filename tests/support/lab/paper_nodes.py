# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored nodes without a VM."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab.spec import CgroupMode, Driver, NodeSpec, Suite
from ansible_collections.volcano.colocation.tests.lab.store import Node, Store

SPEC = NodeSpec("one", Suite.TRIXIE, CgroupMode.V2, Driver.SYSTEMD, Driver.CGROUPFS)


def create(root: Path, name: str = "one", port: int = 2201) -> Node:
    """A node in the store at ``root``."""
    store = Store(root)
    created = store.create(dataclasses.replace(SPEC, name=name), f"00000000-0000-4000-8000-{port:012}")
    return store.save(dataclasses.replace(created, port=port))
