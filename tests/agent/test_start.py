# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents of both releases start on all kinds of nodes with the manifest that the role creates, and read their cgroups."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.agent.field import Field


def test_first(field: Field) -> None:
    run = field.role("new")
    print(run.output)
    for name in ("new-v2-systemd",):
        print(field.allocatable(name), field.log(name))
    assert run.code == 0
