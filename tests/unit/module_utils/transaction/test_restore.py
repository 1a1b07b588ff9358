# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction with the ledger's texts is the way back: the node is as it was, or as it began, whatever fails."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import runner, steps
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, entry, way_back
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    CONTAINERD,
    KUBELET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, carry_out

STEP_NAMES = [step.name for step in steps.STEPS]


@pytest.fixture(autouse=True)
def _checkpoint_of_this_kubelet(simulation: Simulation) -> None:
    simulation.write(CHECKPOINT, FRESH, 0o600)


class Crash(BaseException):
    """The process is gone."""


def test_there_and_back_leaves_no_difference(simulation: Simulation) -> None:
    before = simulation.tree()
    assert carry_out(simulation, document(simulation))["state"] == "committed"
    assert simulation.tree() != before
    answer = carry_out(simulation, way_back(simulation))

    assert (answer["state"], answer["error"]) == ("committed", None)
    assert simulation.tree() == before
    assert ledger.load(simulation.store).targets == {}
    assert simulation.state() == {CONTAINERD: "active", KUBELET: "active"}
    assert simulation.pods() == ["etcd", "proxy"]


@pytest.mark.parametrize("kind", ["an error", "a crash"])
@pytest.mark.parametrize("name", STEP_NAMES)
def test_a_way_back_that_fails_leaves_the_node_as_it_began(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    def fail(step: Step, context: TransactionContext) -> str:
        step.do(context)
        raise OSError(5, "Input/output error", "/x") if kind == "an error" else Crash

    before = simulation.tree()
    carry_out(simulation, document(simulation))
    aligned, entered = simulation.tree(), ledger.load(simulation.store)
    plan = way_back(simulation)
    with monkeypatch.context() as patched:
        break_step(patched, name, fail)
        if kind == "a crash":
            with pytest.raises(Crash):
                carry_out(simulation, plan)
        else:
            assert carry_out(simulation, plan)["state"] == "rolled-back"
    runner.recover(simulation.node, simulation.store, lambda line: None)

    assert simulation.tree() == aligned
    assert ledger.load(simulation.store) == entered
    assert carry_out(simulation, way_back(simulation, "t-3"))["state"] == "committed"
    assert simulation.tree() == before


PATHS = ("/etc/a", "/etc/b/c", "/etc/b/d", "/etc/new/x/y")
TEXTS = st.one_of(st.none(), st.sampled_from(["", "one\n", "two\n"]))
# What a transaction makes of some paths; None removes.
EDITS = st.dictionaries(st.sampled_from(PATHS), TEXTS, min_size=1)


def transact(host: Host, store: Store, name: str, wanted: list[dict[str, Any]]) -> str:
    store.open(name, json.dumps({"schema": 1, "id": name, "files": wanted}))
    return str(runner.execute(Node(host), store, name, lambda line: None)["state"])


def contents(root: Path) -> dict[str, tuple[int, bytes | None]]:
    found = ((str(each), each) for each in sorted((root / "etc").rglob("*")))
    return {name: (each.stat().st_mode, each.read_bytes() if each.is_file() else None) for name, each in found}


@settings(max_examples=40)
@given(first=st.dictionaries(st.sampled_from(PATHS), st.just("first\n")), runs=st.lists(EDITS, max_size=5))
def test_the_original_is_what_was_there_first(first: dict[str, str], runs: list[dict[str, str | None]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="way-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        host = Host(str(root))
        store = Store(host)
        (root / "etc").mkdir()
        for path, text in first.items():
            Path(host.path(path)).parent.mkdir(parents=True, exist_ok=True)
            Path(host.path(path)).write_text(text)
        before = contents(root)
        for number, wanted in enumerate(runs):
            edits = []
            for path, after in wanted.items():
                there = Path(host.path(path))
                if after is not None or there.exists():
                    change: dict[str, Any] = {"remove": True} if after is None else {"after": after}
                    known = sha256(there.read_bytes()) if there.exists() else None
                    edits.append({"path": path, "before_sha256": known, **change})
            assert transact(host, store, f"t-{number}", edits) == "committed"
        targets = ledger.load(store).targets
        for path, target in targets.items():
            assert ledger.text_of(store, target.original) == (first[path].encode() if path in first else None)
            there = Path(host.path(path))
            assert target.committed is not None
            assert ledger.text_of(store, target.committed) == (there.read_bytes() if there.exists() else None)

        assert transact(host, store, "t-9", [entry(store, host, each) for each in targets.values()]) == "committed"
        assert contents(root) == before
        assert ledger.load(store).targets == {}
    finally:
        shutil.rmtree(str(root))
