# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that deploys the agent to its pools: changes of objects, refusals, and the result of agent_deploy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.object_changes import ObjectChange
from ..kube.objects import Object, Ref
from .colocation_config import (
    LOCATION,
    AgentJournal,
    DesiredConfig,
    MergedConfig,
    change_journal,
    merge_config,
    pool_of,
    restore_config,
)
from .colocation_schema import NODE_CONFIGS, feature_switches, find_problems, shadowed_nodes
from .features import Feature
from .helm_values import HelmValues
from .installed_agent import AgentState, is_managed
from .manifests import (
    CONFIG_API,
    CONFIG_KIND,
    render_access,
    render_colocation_configuration,
    render_daemon_set,
    render_namespace,
)
from .module_options import DeployOptions
from .node_labels import LabelPermission, pending_labels
from .owned_objects import (
    CONFIG_KEY,
    CONFIG_MAP,
    OWNER,
    OWNER_LABEL,
    POOL_LABEL,
    AgentPlan,
    change_node_labels,
    create_managed,
    create_object,
    create_or_update,
    delete_object,
    patch_object,
)
from .pools import UNCHANGED, Pool

AGENT_IMAGES = ("vc-agent", "koordlet", "rubik", "katalyst-agent", "crane-agent")


def plan_install(
    options: DeployOptions,
    pools: Sequence[Pool],
    owners: Mapping[str, str],
    state: AgentState,
    permission: LabelPermission,
) -> AgentPlan:
    """The plan; ``owners`` are hosts by the name of their Node. ClusterError if the agent must not be deployed."""
    node_pools = pools_by_node(pools, owners)
    _refuse_other_agents(state, node_pools)
    _refuse_missing_crd(options, state)
    pending = pending_labels(state, node_pools, pools, permission)
    config = _merged_config(options, pools, node_pools, state)
    journal = _next_journal(state, config)
    steps = [
        *_namespace_changes(options, state),
        *_pool_labels(state, node_pools),
        *change_journal(state.journal, state.journal_version, journal, options.namespace),
        *_config_changes(options, state, config),
        *_managed_changes(
            state, [*render_access(options.namespace), *(render_daemon_set(pool, options) for pool in pools)]
        ),
        *_stale_daemon_sets(state, pools, node_pools),
        *_configurations(options, state),
    ]
    return AgentPlan(tuple(steps), pending, tuple(_notes(options, pools, config)))


def pools_by_node(pools: Sequence[Pool], owners: Mapping[str, str]) -> dict[str, str]:
    """Names of pools by the name of the Node."""
    by_host = {host: pool.name for pool in pools for host in pool.hosts}
    return {node: by_host[host] for node, host in owners.items() if host in by_host}


def _refuse_other_agents(state: AgentState, node_pools: Mapping[str, str]) -> None:
    """Two QoS agents on one node undo each other's changes; two of Volcano's agents also use the same port."""
    conflicts = []
    for daemon_set in state.daemon_sets:
        spec = daemon_set["spec"]["template"]["spec"]
        images = {part["image"].partition("@")[0].rpartition("/")[2].partition(":")[0] for part in spec["containers"]}
        selector = spec.get("nodeSelector") or {}
        matches = [
            node.name
            for node in state.nodes
            if node.name in node_pools and all(node.labels.get(key) == value for key, value in selector.items())
        ]
        if not is_managed(daemon_set) and matches and images & set(AGENT_IMAGES):
            conflicts.append(f"{Ref.of(daemon_set).place} ({', '.join(sorted(images & set(AGENT_IMAGES)))})")
    if conflicts:
        raise ClusterError(
            f"Another agent is deployed to the same nodes: {', '.join(conflicts)}",
            f"{UNCHANGED} Remove it first; with upstream's chart, set custom.colocation_enable: false.",
        )


def _refuse_missing_crd(options: DeployOptions, state: AgentState) -> None:
    if options.memory_qos and state.configurations is None:
        raise ClusterError(
            f"colocation_agent_memory_qos needs {CONFIG_KIND} objects, and the cluster has no CRD"
            f" colocationconfigurations.{CONFIG_API.partition('/')[0]}",
            f"{UNCHANGED} Install Volcano 1.14 or newer, which includes the CRD, or leave the variable empty.",
        )


def _merged_config(
    options: DeployOptions, pools: Sequence[Pool], node_pools: Mapping[str, str], state: AgentState
) -> MergedConfig:
    entries = {pool.name: {**feature_switches(pool.kind.features), **pool.leaves} for pool in pools}
    elsewhere = {
        node.labels[POOL_LABEL] for node in state.nodes if POOL_LABEL in node.labels and node.name not in node_pools
    }
    desired = DesiredConfig(options.common, entries, frozenset(elsewhere))
    merged = merge_config(state.text, desired, state.journal.preserved if state.journal else ())
    problems = find_problems(merged.document)
    if problems:
        raise ClusterError(
            f"The agent would refuse the new {LOCATION}: {'; '.join(problems)}",
            f"{UNCHANGED} Correct the variables, or the values that other clients wrote there.",
        )
    managed = [pool_of(entry) is not None for entry in merged.document.get(NODE_CONFIGS) or ()]
    labels = {
        node.name: {**node.labels, POOL_LABEL: node_pools[node.name]} for node in state.nodes if node.name in node_pools
    }
    shadows = shadowed_nodes(merged.document, managed, labels)
    if shadows:
        raise ClusterError(
            f"{LOCATION}: entries of other clients match nodes of the managed pools, and the agent uses only the last"
            f" entry that matches: {'; '.join(shadows)}",
            f"{UNCHANGED} Move their settings into colocation_agent_pools, or narrow their selectors.",
        )
    return merged


def _next_journal(state: AgentState, config: MergedConfig) -> AgentJournal:
    known = state.journal or AgentJournal()
    if known.committed is None or state.text is None:
        existed = state.config_map is not None
        return replace(known, existed=existed, original=state.text, committed=config.text, preserved=config.preserved)
    if config.text == state.text and config.preserved == known.preserved:
        return known
    original = known.original
    if state.text != known.committed:
        # Another client wrote since, or the last run was interrupted before it wrote. The text without managed values
        # is the new original.
        original, _foreign = restore_config(state.text, known.original, known.committed, known.preserved)
    return replace(known, original=original, committed=config.text, preserved=config.preserved)


def _namespace_changes(options: DeployOptions, state: AgentState) -> Iterator[ObjectChange]:
    if not state.namespace:
        yield create_managed(render_namespace(options.namespace))


def _pool_labels(state: AgentState, node_pools: Mapping[str, str]) -> Iterator[ObjectChange]:
    """Changes before that of the configuration: the agent reads its Node's labels again only with the latter."""
    for node in state.nodes:
        pool = node_pools.get(node.name)
        if pool and node.labels.get(POOL_LABEL) != pool:
            yield change_node_labels(node.name, {POOL_LABEL: node.labels.get(POOL_LABEL)}, {POOL_LABEL: pool})


def _config_changes(options: DeployOptions, state: AgentState, config: MergedConfig) -> Iterator[ObjectChange]:
    if config.text == state.text:
        return
    metadata: dict[str, Any] = {"name": CONFIG_MAP, "namespace": options.namespace}
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {CONFIG_KEY: config.text},
    }
    if state.config_map is None:
        metadata["labels"] = {OWNER_LABEL: OWNER}
        yield create_object(body, config.text)
        return
    metadata["resourceVersion"] = state.config_map["metadata"]["resourceVersion"]
    yield patch_object(body, state.text, config.text)


def _managed_changes(state: AgentState, desired: Sequence[Object]) -> Iterator[ObjectChange]:
    for manifest in desired:
        live = state.objects.get(Ref.of(manifest))
        if live is not None and not is_managed(live):
            raise ClusterError(
                f"{Ref.of(manifest).place} exists and was not created by the collection",
                f"{UNCHANGED} Find out who created it, then delete it or add the label {OWNER_LABEL}: {OWNER}.",
            )
        step = create_or_update(live, manifest)
        if step:
            yield step


def _stale_daemon_sets(
    state: AgentState, pools: Sequence[Pool], node_pools: Mapping[str, str]
) -> Iterator[ObjectChange]:
    """Delete DaemonSets of pools that no longer have Nodes."""
    used = {node.labels.get(POOL_LABEL) for node in state.nodes if node.name not in node_pools} | {
        pool.name for pool in pools
    }
    for daemon_set in state.daemon_sets:
        if is_managed(daemon_set) and (daemon_set["metadata"].get("labels") or {}).get(POOL_LABEL) not in used:
            yield delete_object(daemon_set)


def _configurations(options: DeployOptions, state: AgentState) -> Iterator[ObjectChange]:
    desired = [render_colocation_configuration(memory) for memory in options.memory_qos]
    live = {Ref.of(configuration): configuration for configuration in state.configurations or ()}
    yield from _managed_changes(replace(state, objects=live), desired)
    for key, configuration in live.items():
        if is_managed(configuration) and key not in {Ref.of(manifest) for manifest in desired}:
            yield delete_object(configuration)


def _notes(options: DeployOptions, pools: Sequence[Pool], config: MergedConfig) -> Iterator[str]:
    for value in config.foreign:
        yield f"{LOCATION}: {value}; it is not changed"
    v2 = [pool.name for pool in pools if Feature.MEMORY_QOS_V2 in pool.kind.features]
    if v2 and not options.memory_qos:
        yield (
            f"MemoryQoSV2 is enabled in {', '.join(v2)} and has no effect until a pod matches a {CONFIG_KIND}:"
            " colocation_agent_memory_qos is empty"
        )
    for pool in pools:
        if options.memory_qos and Feature.MEMORY_QOS_V2 not in pool.kind.features:
            yield f"{pool.name}: colocation_agent_memory_qos has no effect, since MemoryQoSV2 is disabled"


def plan_result(plan: AgentPlan, pools: Sequence[Pool], helm: HelmValues) -> dict[str, Any]:
    """The module's result."""
    return {
        "changed": bool(plan.steps),
        "changes": [str(step) for step in plan.steps],
        "diff": [step.diff() for step in plan.steps],
        "pools": [render_pool(pool) for pool in pools],
        "helm": {"chart_values": helm.values, "reason": helm.reason},
        "pending": list(plan.pending),
        "warnings": list(plan.notes),
    }


def render_pool(pool: Pool) -> dict[str, Any]:
    """A pool with its agent's settings, and its unsupported features with reasons."""
    kind = pool.kind
    return {
        "name": pool.name,
        "hosts": list(pool.hosts),
        "cgroup": "v2" if kind.v2 else "v1",
        "cgroup_driver": kind.driver.value,
        "kube_cgroup_root": kind.cgroup_root,
        "pods_cgroup": kind.pods,
        "kubelet_root_dir": kind.kubelet_root_dir,
        "selinux": kind.selinux,
        "features": [feature.value for feature in kind.features],
        "unsupported": [
            {"feature": unsupported.feature.value, "reason": unsupported.reason} for unsupported in pool.unsupported
        ],
    }
