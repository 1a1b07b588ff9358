# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts that ansible-core finds for an option ``--limit``."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader


def limited_hosts(option: str, hosts: Collection[str], groups: Mapping[str, Collection[str]] | None = None) -> set[str]:
    """The names for a text such as ``--limit 'node001,node002'``, in an inventory of these hosts and groups."""
    program_option, pattern = shlex.split(option)
    assert program_option == "--limit"
    inventory = InventoryManager(DataLoader(), sources=None)
    for host in hosts:
        inventory._inventory.add_host(host, "all")
    for group, members in (groups or {}).items():
        inventory.add_group(group)
        for host in members:
            inventory._inventory.add_host(host, group)
    inventory.subset(pattern)
    return {host.name for host in inventory.get_hosts("all")}
