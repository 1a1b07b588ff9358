# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore is a transaction with the contents of the ledger: the node is restored, or unchanged after a failure."""

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
from ansible_collections.volcano.colocation.tests.support.node.restore_plan import FRESH, entry, make_restore_plan
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    CONTAINERD,
    KUBELET,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction

STEP_NAMES = [step.name for step in steps.STEPS]


@pytest.fixture(autouse=True)
def _checkpoint_of_this_kubelet(simulation: Simulation) -> None:
    simulation.write(CHECKPOINT, FRESH, 0o600)


class Crash(BaseException):
    """The process ends."""


def test_a_change_and_its_restore_leave_no_difference(simulation: Simulation) -> None:
    before = simulation.tree()
    assert run_transaction(simulation, document(simulation))["state"] == "committed"
    assert simulation.tree() != before
    result = run_transaction(simulation, make_restore_plan(simulation))

    assert (result["state"], result["error"]) == ("committed", None)
    assert simulation.tree() == before
    assert ledger.load(simulation.store).targets == {}
    assert simulation.state() == {CONTAINERD: "active", KUBELET: "active"}
    assert simulation.pods() == ["etcd", "proxy"]


@pytest.mark.parametrize("kind", ["an error", "a crash"])
@pytest.mark.parametrize("name", STEP_NAMES)
def test_a_failed_restore_leaves_the_node_unchanged(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    def fail(step: Step, context: TransactionContext) -> str:
        step.do(context)
        raise OSError(5, "Input/output error", "/x") if kind == "an error" else Crash

    before = simulation.tree()
    run_transaction(simulation, document(simulation))
    aligned, entered = simulation.tree(), ledger.load(simulation.store)
    plan = make_restore_plan(simulation)
    with monkeypatch.context() as patched:
        break_step(patched, name, fail)
        if kind == "a crash":
            with pytest.raises(Crash):
                run_transaction(simulation, plan)
        else:
            assert run_transaction(simulation, plan)["state"] == "rolled-back"
    runner.recover(simulation.node, simulation.store, lambda line: None)

    assert simulation.tree() == aligned
    assert ledger.load(simulation.store) == entered
    assert run_transaction(simulation, make_restore_plan(simulation, "t-3"))["state"] == "committed"
    assert simulation.tree() == before


PATHS = ("/etc/a", "/etc/b/c", "/etc/b/d", "/etc/new/x/y")
TEXTS = st.one_of(st.none(), st.sampled_from(["", "one\n", "two\n"]))
# New contents by path; None removes the file.
EDITS = st.dictionaries(st.sampled_from(PATHS), TEXTS, min_size=1)


def transact(host: Host, store: Store, name: str, files: list[dict[str, Any]]) -> str:
    store.open(name, json.dumps({"schema": 1, "id": name, "files": files}))
    return str(runner.execute(Node(host), store, name, lambda line: None)["state"])


def contents(root: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted((root / "etc").rglob("*"))
    }


@settings(max_examples=40)
@given(first=st.dictionaries(st.sampled_from(PATHS), st.just("first\n")), runs=st.lists(EDITS, max_size=5))
def test_the_original_is_the_first_content(first: dict[str, str], runs: list[dict[str, str | None]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="way-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        host = Host(str(root))
        store = Store(host)
        (root / "etc").mkdir()
        for path, text in first.items():
            Path(host.path(path)).parent.mkdir(parents=True, exist_ok=True)
            Path(host.path(path)).write_text(text)
        before = contents(root)
        for number, contents_by_path in enumerate(runs):
            edits = []
            for path, after in contents_by_path.items():
                current = Path(host.path(path))
                if after is not None or current.exists():
                    change: dict[str, Any] = {"remove": True} if after is None else {"after": after}
                    known = sha256(current.read_bytes()) if current.exists() else None
                    edits.append({"path": path, "before_sha256": known, **change})
            assert transact(host, store, f"t-{number}", edits) == "committed"
        targets = ledger.load(store).targets
        for path, target in targets.items():
            assert ledger.text_of(store, target.original) == (first[path].encode() if path in first else None)
            current = Path(host.path(path))
            assert target.committed is not None
            assert ledger.text_of(store, target.committed) == (current.read_bytes() if current.exists() else None)

        assert transact(host, store, "t-9", [entry(store, host, target) for target in targets.values()]) == "committed"
        assert contents(root) == before
        assert ledger.load(store).targets == {}
    finally:
        shutil.rmtree(str(root))
