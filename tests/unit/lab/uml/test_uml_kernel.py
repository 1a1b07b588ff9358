# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change to the kernel's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.uml.kernel import change

SOURCE = """static int epollfd = -1;

#define MAX_EPOLL_EVENTS 64

static struct epoll_event epoll_events[MAX_EPOLL_EVENTS];
"""
"""As in Linux 7.2."""


def test_interrupts_are_fetched_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "irq.c"
    path.write_text(SOURCE)
    change(path)
    assert path.read_text() == SOURCE.replace(" 64", " 1")


def test_a_source_that_was_rewritten_is_not_built_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "irq.c"
    path.write_text(SOURCE.replace("MAX_EPOLL_EVENTS", "EVENTS"))
    with pytest.raises(LabError, match=r"lacks the line that kernel\.py changes: #define MAX_EPOLL_EVENTS 64"):
        change(path)
    assert path.read_text() == SOURCE.replace("MAX_EPOLL_EVENTS", "EVENTS")
