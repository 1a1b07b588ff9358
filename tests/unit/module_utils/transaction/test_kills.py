# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process is killed at every call that changes something, and again in every following recovery.

The node always ends as before or as planned.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import recovery, runner
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RecoveryMode
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import tree_of
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import (
    Bench,
    Ends,
    commits,
    fails,
    foreign_entries,
    no_disk,
    silent,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation_in_process import InProcess

pytestmark = pytest.mark.exhaustive


def undo(node: InProcess) -> Any:
    return runner.recover(node.node, node.store, silent)


def finish(node: InProcess) -> Any:
    return recovery.recover(node.node, node.store, silent, RecoveryMode.FINISH)


def test_undone_after_any_kill(bench: Bench) -> None:
    node = bench.misaligned()
    moments = bench.moments(node, commits, no_disk)
    ends = Ends(bench.misaligned(), node)
    failing = bench.misaligned()
    moments += bench.moments(failing, fails, no_disk)
    assert len(moments) > 100
    assert bench.recover_all(moments, undo, ends.check) > 500


def test_finished_after_any_kill(bench: Bench) -> None:
    node = bench.misaligned()
    moments = bench.moments(node, commits, no_disk)
    ends = Ends(bench.misaligned(), node)
    assert bench.recover_all(moments, finish, ends.check) > 100


def test_resumed_after_any_kill_and_then_rolled_back(bench: Bench) -> None:
    """The new settings do not work, which only the health gate of the resumed run detects."""
    after = bench.misaligned()
    commits(after)
    ends = Ends(bench.misaligned(), after)
    for moment in bench.moments(bench.misaligned(), fails, no_disk):
        node = bench.node(moment)
        finish(node)
        ends.check(moment, node)
        assert ends.before == foreign_entries(tree_of(node.root)), moment.call
