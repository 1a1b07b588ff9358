# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back of the agent: the cluster is as it was before, but for what other clients have changed since."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    AgentJournal,
    parse_journal,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    OVERSUBSCRIPTION_LABEL,
    OWNER,
    OWNER_LABEL,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.uninstall_plan import plan_uninstall
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import Operation
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    config_map,
    node,
    options,
    pools,
    seen,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent.test_install_plan import (
    DENIED,
    GIVEN,
    HOSTS,
    SPACE,
    THEIRS,
    UNSAID,
    carried_out,
    cluster,
    installed,
    label,
    plan,
)


@pytest.mark.parametrize("there", [None, config_map(THEIRS), config_map(THEIRS, other="y")])
def test_taken_away_the_cluster_is_as_it_was(there: dict[str, Any] | None) -> None:
    before = cluster(config_map=there)
    after = installed(config_map=there)
    after = replace(after, nodes=tuple(_left_behind(each) for each in after.nodes))
    found = plan_uninstall(after, SPACE, GIVEN)
    assert carried_out(after, found.steps) == before
    assert found.notes == ()
    assert plan_uninstall(before, SPACE, UNSAID).steps == ()


def _left_behind(found: LiveNode) -> LiveNode:
    """What an agent leaves when it goes."""
    taint = {"key": "volcano.sh/offline-job-evicting", "effect": "NoSchedule"}
    return replace(
        found,
        annotations={"volcano.sh/oversubscription-cpu": "900"},
        taints=(taint,),
        reported={"kubernetes.io/batch-cpu": "900"},
        listed={"kubernetes.io/batch-cpu": "900", "kubernetes.io/batch-memory": "1"},
    )


def test_only_a_change_of_taints_depends_on_the_version_that_was_read() -> None:
    """kubelet writes to its Node all the time."""
    after = installed()
    tainted, other = (_left_behind(after.nodes[0]), after.nodes[1])
    steps = plan_uninstall(replace(after, nodes=(tainted, other)), SPACE, GIVEN).steps
    versions = {
        step.ref.name: step.body["metadata"].get("resourceVersion")
        for step in steps
        if step.ref.kind == "Node" and step.operation is Operation.PATCH
    }
    assert versions == {tainted.name: tainted.version, other.name: None}


def test_taints_of_others_stay() -> None:
    after = installed()
    other = {"key": "dedicated", "effect": "NoSchedule"}
    nodes = tuple(replace(_left_behind(each), taints=(other, *_left_behind(each).taints)) for each in after.nodes)
    found = plan_uninstall(replace(after, nodes=nodes), SPACE, GIVEN)
    assert [each.taints for each in carried_out(replace(after, nodes=nodes), found.steps).nodes] == [(other,), (other,)]


def test_agents_go_before_what_they_left_is_cleaned_and_the_journal_last() -> None:
    after = installed()
    after = replace(after, nodes=tuple(_left_behind(each) for each in after.nodes))
    kinds = [step.ref.kind for step in plan_uninstall(after, SPACE, GIVEN).steps]
    assert kinds[:6] == ["DaemonSet", "DaemonSet", "Node", "Node", "Node", "Node"]
    assert kinds[-1] == "ConfigMap"


def test_labels_of_others_stay() -> None:
    before = seen(node("n1", {COLOCATION_LABEL: "true", OVERSUBSCRIPTION_LABEL: "true"}), node("n2"))
    after = carried_out(before, plan(before).steps)
    after = carried_out(after, label(after).steps)
    assert carried_out(after, plan_uninstall(after, SPACE, GIVEN).steps).nodes == before.nodes


def test_taking_labels_away_needs_the_permission_too() -> None:
    with pytest.raises(ClusterError, match=r"evicts the pods that use oversubscribed resources.*Nothing was changed"):
        plan_uninstall(installed(), SPACE, UNSAID)


def test_denied_the_labels_wait_and_the_journal_with_them() -> None:
    after = installed()
    found = plan_uninstall(after, SPACE, DENIED)
    assert len(found.pending) == 2
    left = carried_out(after, found.steps)
    assert left.journal is not None
    assert (left.daemon_sets, [each.labels[COLOCATION_LABEL] for each in left.nodes]) == ((), ["true", "true"])
    assert carried_out(left, plan_uninstall(left, SPACE, GIVEN).steps) == cluster()


def test_a_run_that_was_cut_off_behind_its_journal_loses_nothing() -> None:
    before = cluster(config_map=config_map(THEIRS))
    steps = plan(before).steps
    cut = carried_out(before, steps[: 1 + [step.ref.name for step in steps].index("volcano-colocation-agent")])
    assert cut.text == THEIRS
    done = carried_out(cut, plan(cut).steps)
    assert carried_out(done, plan_uninstall(done, SPACE, GIVEN).steps) == before


def test_what_others_wrote_between_two_runs_is_there_in_the_end() -> None:
    after = installed(config_map=config_map(THEIRS))
    text = json.dumps({**json.loads(after.text or ""), "hers": 1})
    after = replace(after, config_map=config_map(text))
    assert plan(after).steps == ()
    again = carried_out(after, plan(after, options(watermarks={"cpu_high": 70})).steps)
    left = carried_out(again, plan_uninstall(again, SPACE, GIVEN).steps)
    assert json.loads(left.text or "") == {**json.loads(THEIRS), "hers": 1}


def test_what_others_changed_of_ours_is_told_and_stays() -> None:
    after = carried_out(cluster(), plan(cluster(), options(watermarks={"cpu_high": 70})).steps)
    after = replace(after, config_map=config_map((after.text or "").replace("70", "75")))
    found = plan_uninstall(after, SPACE, GIVEN)
    assert [note.rpartition("; ")[2] for note in found.notes] == ["it stays"]
    assert "75" in (carried_out(after, found.steps).text or "")


@pytest.mark.parametrize("data", [{}, {"agent.json": "{}"}, {"agent.json": '{"schema": 9}'}])
def test_a_journal_that_is_not_ours_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ClusterError, match=r"volcano-colocation-agent does not have the format of this version"):
        parse_journal({**render_journal(AgentJournal(), SPACE), "data": data})


def test_a_journal_is_read_as_it_was_written() -> None:
    journal = installed(config_map=config_map(THEIRS)).journal
    assert journal is not None
    assert parse_journal(render_journal(journal, SPACE)) == journal
    assert parse_journal(None) is None
    assert journal != AgentJournal()


def test_our_daemon_sets_carry_the_mark_by_which_they_are_known() -> None:
    chosen = options()
    found = render_daemon_set(pools(HOSTS, chosen)[0], chosen)
    assert found["metadata"]["labels"][OWNER_LABEL] == OWNER
