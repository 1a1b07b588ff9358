# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of the agent: the cluster's previous state is restored, except for later changes of other clients."""

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
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_schema import (
    ADDED_SECTIONS,
    DEFAULT_OVERSUBSCRIPTION,
    DEFAULTS,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    CONFIG_KEY,
    CONFIG_MAP,
    OVERSUBSCRIPTION_LABEL,
    OWNER,
    OWNER_LABEL,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.uninstall_plan import plan_uninstall
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import Operation
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    agent_state,
    config_map,
    node,
    options,
    pools,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent.test_install_plan import (
    DENIED,
    FOREIGN_CONFIG,
    GRANTED,
    HOSTS,
    NOT_SET,
    SPACE,
    apply_steps,
    cluster,
    installed,
    label,
    plan,
)


@pytest.mark.parametrize("existing", [None, config_map(FOREIGN_CONFIG), config_map(FOREIGN_CONFIG, other="y")])
def test_removal_restores_the_state_of_the_cluster(existing: dict[str, Any] | None) -> None:
    before = cluster(config_map=existing)
    after = installed(config_map=existing)
    after = replace(after, nodes=tuple(_left_behind(live_node) for live_node in after.nodes))
    result = plan_uninstall(after, SPACE, GRANTED)
    assert apply_steps(after, result.steps) == before
    assert result.notes == ()
    assert plan_uninstall(before, SPACE, NOT_SET).steps == ()


def _left_behind(live_node: LiveNode) -> LiveNode:
    """A Node with the values of an agent that has ended."""
    taint = {"key": "volcano.sh/offline-job-evicting", "effect": "NoSchedule"}
    return replace(
        live_node,
        annotations={"volcano.sh/oversubscription-cpu": "900"},
        taints=(taint,),
        reported={"kubernetes.io/batch-cpu": "900"},
        listed={"kubernetes.io/batch-cpu": "900", "kubernetes.io/batch-memory": "1"},
    )


def test_only_a_change_of_taints_depends_on_the_version_that_was_read() -> None:
    """kubelet updates its Node's status all the time."""
    after = installed()
    tainted, other = (_left_behind(after.nodes[0]), after.nodes[1])
    steps = plan_uninstall(replace(after, nodes=(tainted, other)), SPACE, GRANTED).steps
    versions = {
        step.ref.name: step.body["metadata"].get("resourceVersion")
        for step in steps
        if step.ref.kind == "Node" and step.operation is Operation.PATCH
    }
    assert versions == {tainted.name: tainted.version, other.name: None}


def test_foreign_taints_remain() -> None:
    after = installed()
    other = {"key": "dedicated", "effect": "NoSchedule"}
    nodes = tuple(
        replace(_left_behind(live_node), taints=(other, *_left_behind(live_node).taints)) for live_node in after.nodes
    )
    result = plan_uninstall(replace(after, nodes=nodes), SPACE, GRANTED)
    assert [live_node.taints for live_node in apply_steps(replace(after, nodes=nodes), result.steps).nodes] == [
        (other,),
        (other,),
    ]


def test_agents_are_deleted_before_their_values_and_the_journal_last() -> None:
    after = installed()
    after = replace(after, nodes=tuple(_left_behind(live_node) for live_node in after.nodes))
    kinds = [step.ref.kind for step in plan_uninstall(after, SPACE, GRANTED).steps]
    assert kinds[:6] == ["DaemonSet", "DaemonSet", "Node", "Node", "Node", "Node"]
    assert kinds[-1] == "ConfigMap"


def test_foreign_labels_remain() -> None:
    before = agent_state(node("n1", {COLOCATION_LABEL: "true", OVERSUBSCRIPTION_LABEL: "true"}), node("n2"))
    after = apply_steps(before, plan(before).steps)
    after = apply_steps(after, label(after).steps)
    assert apply_steps(after, plan_uninstall(after, SPACE, GRANTED).steps).nodes == before.nodes


def test_removing_labels_also_needs_permission() -> None:
    with pytest.raises(
        ClusterError, match=r"evicts the Node's pods that use oversubscribed resources.*Nothing was changed"
    ):
        plan_uninstall(installed(), SPACE, NOT_SET)


def test_denied_labels_are_pending_and_the_journal_remains() -> None:
    after = installed()
    result = plan_uninstall(after, SPACE, DENIED)
    assert len(result.pending) == 2
    remaining = apply_steps(after, result.steps)
    assert remaining.journal is not None
    assert (remaining.daemon_sets, [live_node.labels[COLOCATION_LABEL] for live_node in remaining.nodes]) == (
        (),
        ["true", "true"],
    )
    assert apply_steps(remaining, plan_uninstall(remaining, SPACE, GRANTED).steps) == cluster()


def test_a_run_that_was_interrupted_after_its_journal_loses_nothing() -> None:
    before = cluster(config_map=config_map(FOREIGN_CONFIG))
    steps = plan(before).steps
    cut = apply_steps(before, steps[: 1 + [step.ref.name for step in steps].index("volcano-colocation-agent")])
    assert cut.text == FOREIGN_CONFIG
    done = apply_steps(cut, plan(cut).steps)
    assert apply_steps(done, plan_uninstall(done, SPACE, GRANTED).steps) == before


def test_foreign_changes_between_two_runs_remain() -> None:
    after = installed(config_map=config_map(FOREIGN_CONFIG))
    text = json.dumps({**json.loads(after.text or ""), "hers": 1})
    after = replace(after, config_map=config_map(text))
    assert plan(after).steps == ()
    again = apply_steps(after, plan(after, options(watermarks={"cpu_high": 70})).steps)
    restored = apply_steps(again, plan_uninstall(again, SPACE, GRANTED).steps)
    assert json.loads(restored.text or "") == {**json.loads(FOREIGN_CONFIG), "hers": 1}


def test_foreign_changes_of_managed_values_are_reported_and_remain() -> None:
    after = apply_steps(cluster(), plan(cluster(), options(watermarks={"cpu_high": 70})).steps)
    after = replace(after, config_map=config_map((after.text or "").replace("70", "75")))
    result = plan_uninstall(after, SPACE, GRANTED)
    assert [note.rpartition("; ")[2] for note in result.notes] == ["it is not changed"]
    assert "75" in (apply_steps(after, result.steps).text or "")


@pytest.mark.parametrize("data", [{}, {"agent.json": "{}"}, {"agent.json": '{"schema": 9}'}])
def test_a_foreign_journal_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ClusterError, match=r"volcano-colocation-agent does not have the format of this version"):
        parse_journal({**render_journal(AgentJournal(), SPACE), "data": data})


def test_a_journal_is_read_as_it_was_written() -> None:
    journal = installed(config_map=config_map(FOREIGN_CONFIG)).journal
    assert journal is not None
    assert parse_journal(render_journal(journal, SPACE)) == journal
    assert parse_journal(None) is None
    assert journal != AgentJournal()


def test_daemon_sets_have_the_owner_label() -> None:
    chosen = options()
    daemon_set = render_daemon_set(pools(HOSTS, chosen)[0], chosen)
    assert daemon_set["metadata"]["labels"][OWNER_LABEL] == OWNER


def test_a_configuration_that_only_an_agent_has_completed_is_deleted() -> None:
    """The collection created the ConfigMap; an agent then added its defaults."""
    after = installed(config_map=None)
    assert after.config_map is not None
    document = json.loads(after.config_map["data"][CONFIG_KEY])
    for path, value in {**DEFAULTS, **DEFAULT_OVERSUBSCRIPTION}.items():
        if path[0] in ADDED_SECTIONS:
            document["globalConfig"].setdefault(path[0], {})[path[1]] = value
    completed = {**after.config_map, "data": {CONFIG_KEY: json.dumps(document)}}
    steps = plan_uninstall(replace(after, config_map=completed), SPACE, GRANTED).steps
    (change,) = [step for step in steps if (step.ref.kind, step.ref.name) == ("ConfigMap", CONFIG_MAP)]
    assert change.operation is Operation.DELETE
