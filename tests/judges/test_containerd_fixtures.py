# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures, examples of the docs, and what plans make of the fixtures, shown to each containerd."""

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
    found = dict(snapshots())
    assert found
    return found


def test_fixtures_and_examples_are_read_as_containerd_reads_them(
    judge: Judge, nodes: dict[str, Snapshot], tmp_path: Path
) -> None:
    shown = [case(name, each["runtime"]["config_path"], texts(each)) for name, each in nodes.items()]
    of_the_docs = [*examples()]
    assert of_the_docs
    assert judge.differences(iter([*shown, *of_the_docs]), tmp_path) == {}


def planned(judge: Judge, nodes: dict[str, Snapshot], driver: str) -> Iterator[tuple[Case, bool]]:
    """Files after the plan for this containerd, and whether NRI is on in them, of each node that a plan changes."""
    nri = judge.containerd.release != "1.6"
    profile = parse_profile({"cgroup_driver": driver, **({"nri": {"enabled": True}} if nri else {})})
    for name, each in nodes.items():
        # The node that has this containerd; what another one answered is no part of it.
        node = put(put(each, judge.containerd.version, "runtime", "cri", "version"), None, "runtime", "cri", "config")
        plan = make_plan(facts_of(node), profile, allow_disruption=True)
        edits = [] if plan.refusals else [edit for edit in file_edits(node, plan.changes) if edit.path in _files(node)]
        if edits:
            after = {**texts(node), **{edit.path: edit.after for edit in edits}}
            yield case(f"{name}-{driver}", node["runtime"]["config_path"], after), nri


def _files(node: Snapshot) -> set[str]:
    folder = node["runtime"]["config_path"].rpartition("/")[0]
    return {*node["runtime"]["files"], f"{folder}/conf.d/zz-volcano-colocation.toml"}


@pytest.mark.parametrize("driver", ["systemd", "cgroupfs"])
def test_containerd_reads_what_a_plan_meant(
    judge: Judge, nodes: dict[str, Snapshot], driver: str, tmp_path: Path
) -> None:
    made = list(planned(judge, nodes, driver))
    assert made
    mains = [judge.written(each, tmp_path / each.name) for each, _nri in made]
    right = judge.verdicts(mains)
    for main, (each, nri) in zip(mains, made, strict=True):
        found = right[main]
        assert found.error is None, f"{each.name}: {found.error}"
        assert found.cri, each.name
        assert set(found.handlers.values()) == {driver}, f"{each.name}: {found.handlers}"
        assert found.nri is nri, each.name
        assert found.untyped == (), each.name
