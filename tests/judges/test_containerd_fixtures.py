# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each containerd reads the fixtures, the examples of the docs, and the fixtures after a plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.tests.judges.containerd_files import Case
from ansible_collections.volcano.colocation.tests.judges.containerd_fixtures import Judge
from ansible_collections.volcano.colocation.tests.judges.containerd_nodes import case, examples, snapshots, texts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import Snapshot, facts_of, put

pytest_plugins = ("ansible_collections.volcano.colocation.tests.judges.containerd_fixtures",)


@pytest.fixture(scope="module", name="nodes")
def _nodes() -> dict[str, Snapshot]:
    captures = dict(snapshots())
    assert captures
    return captures


def test_fixtures_and_examples_are_read_as_containerd_reads_them(
    judge: Judge, nodes: dict[str, Snapshot], tmp_path: Path
) -> None:
    fixtures = [case(name, snapshot["runtime"]["config_path"], texts(snapshot)) for name, snapshot in nodes.items()]
    of_the_docs = [*examples()]
    assert of_the_docs
    assert judge.differences(iter([*fixtures, *of_the_docs]), tmp_path) == {}


def planned(judge: Judge, nodes: dict[str, Snapshot], driver: str) -> Iterator[tuple[Case, bool]]:
    """For each node that a plan changes: its files after the plan for this containerd, and whether they enable NRI."""
    nri = judge.containerd.release != "1.6"
    profile = parse_profile({"cgroup_driver": driver, **({"nri": {"enabled": True}} if nri else {})})
    for name, snapshot in nodes.items():
        # The node with this containerd; the CRI configuration of the recorded one does not apply.
        node = put(
            put(snapshot, judge.containerd.version, "runtime", "cri", "version"), None, "runtime", "cri", "config"
        )
        plan = make_plan(facts_of(node), profile, allow_disruption=True)
        edits = [] if plan.refusals else [edit for edit in file_edits(node, plan.changes) if edit.path in _files(node)]
        if edits:
            after = {**texts(node), **{edit.path: edit.after for edit in edits}}
            yield case(f"{name}-{driver}", node["runtime"]["config_path"], after), nri


def _files(node: Snapshot) -> set[str]:
    directory = node["runtime"]["config_path"].rpartition("/")[0]
    return {*node["runtime"]["files"], f"{directory}/conf.d/zz-volcano-colocation.toml"}


@pytest.mark.parametrize("driver", ["systemd", "cgroupfs"])
def test_containerd_has_the_values_that_a_plan_intends(
    judge: Judge, nodes: dict[str, Snapshot], driver: str, tmp_path: Path
) -> None:
    plan_cases = list(planned(judge, nodes, driver))
    assert plan_cases
    mains = [judge.written(plan_case, tmp_path / plan_case.name) for plan_case, _nri in plan_cases]
    verdicts = judge.verdicts(mains)
    for main, (plan_case, nri) in zip(mains, plan_cases, strict=True):
        verdict = verdicts[main]
        assert verdict.error is None, f"{plan_case.name}: {verdict.error}"
        assert verdict.cri, plan_case.name
        assert set(verdict.handlers.values()) == {driver}, f"{plan_case.name}: {verdict.handlers}"
        assert verdict.nri is nri, plan_case.name
        assert verdict.untyped == (), plan_case.name
