# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that brings the agent to the pools: which objects are made, changed and taken away, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kube.changes import ObjectChange
from ..kube.errors import ClusterError
from ..kube.objects import Object, Ref
from .config_keys import switches
from .config_map import PLACE, Merged, Wanted, merged, pool_of, without
from .config_schema import NODES, problems, shadowed
from .daemon_set import daemon_set
from .feature import Feature
from .journal import Journal, written
from .labels import Permission, pending_labels
from .names import CONFIG_MAP, KEY, OWNER, OWNER_LABEL, POOL
from .objects import CONFIG_API, CONFIG_KIND, access, colocation_configuration, namespace
from .options import Options
from .pools import NOTHING_DONE, Pool
from .seen import AgentSeen, is_ours
from .steps import Plan, create, create_or_update, create_owned, delete, node_labels, patch

AGENT_IMAGES = ("vc-agent", "koordlet", "rubik", "katalyst-agent", "crane-agent")


def make_plan(
    options: Options, pools: Sequence[Pool], owners: Mapping[str, str], seen: AgentSeen, permission: Permission
) -> Plan:
    """The plan; ``owners`` are hosts by the name of their Node. ClusterError for what must not be done."""
    places = node_pools(pools, owners)
    _refuse_other_agents(seen, places)
    _refuse_missing_crd(options, seen)
    pending = pending_labels(seen, places, pools, permission)
    config = _config(options, pools, places, seen)
    journal = _journal(seen, config)
    steps = [
        *_namespace(options, seen),
        *_pool_labels(seen, places),
        *_journal_steps(options, seen, journal),
        *_config_step(options, seen, config),
        *_owned(seen, [*access(options.namespace), *(daemon_set(pool, options) for pool in pools)]),
        *_stale(seen, pools, places),
        *_configurations(options, seen),
    ]
    return Plan(tuple(steps), pending, tuple(_notes(options, pools, config)))


def node_pools(pools: Sequence[Pool], owners: Mapping[str, str]) -> dict[str, str]:
    """The pool's name by that of the Node."""
    by_host = {host: pool.name for pool in pools for host in pool.hosts}
    return {node: by_host[host] for node, host in owners.items() if host in by_host}


def _refuse_other_agents(seen: AgentSeen, places: Mapping[str, str]) -> None:
    """Two agents for QoS on one node undo each other; two of Volcano's also want one port."""
    found = []
    for each in seen.daemon_sets:
        spec = each["spec"]["template"]["spec"]
        images = {part["image"].partition("@")[0].rpartition("/")[2].partition(":")[0] for part in spec["containers"]}
        chosen = spec.get("nodeSelector") or {}
        hit = [
            node.name
            for node in seen.nodes
            if node.name in places and all(node.labels.get(key) == value for key, value in chosen.items())
        ]
        if not is_ours(each) and hit and images & set(AGENT_IMAGES):
            found.append(f"{Ref.of(each).place} ({', '.join(sorted(images & set(AGENT_IMAGES)))})")
    if found:
        raise ClusterError(
            f"Another agent is meant for the same nodes: {', '.join(found)}",
            f"{NOTHING_DONE} Take it away first; upstream's chart has custom.colocation_enable: false for that.",
        )


def _refuse_missing_crd(options: Options, seen: AgentSeen) -> None:
    if options.memory_qos and seen.configurations is None:
        raise ClusterError(
            f"colocation_agent_memory_qos asks for {CONFIG_KIND} objects, and the cluster has no CRD"
            f" colocationconfigurations.{CONFIG_API.partition('/')[0]}",
            f"{NOTHING_DONE} Install Volcano 1.14 or newer, which brings it, or leave the variable empty.",
        )


def _config(options: Options, pools: Sequence[Pool], places: Mapping[str, str], seen: AgentSeen) -> Merged:
    entries = {pool.name: {**switches(pool.kind.features), **pool.leaves} for pool in pools}
    elsewhere = {node.labels[POOL] for node in seen.nodes if POOL in node.labels and node.name not in places}
    wanted = Wanted(options.common, entries, frozenset(elsewhere))
    found = merged(seen.text, wanted, seen.journal.kept if seen.journal else ())
    wrong = problems(found.document)
    if wrong:
        raise ClusterError(
            f"{PLACE} would be one that the agent does not take: {'; '.join(wrong)}",
            f"{NOTHING_DONE} Put the variables right, or what others have written there.",
        )
    ours = [pool_of(entry) is not None for entry in found.document.get(NODES) or ()]
    labels = {node.name: {**node.labels, POOL: places[node.name]} for node in seen.nodes if node.name in places}
    doubled = shadowed(found.document, ours, labels)
    if doubled:
        raise ClusterError(
            f"{PLACE}: entries of somebody else are for nodes of our pools, and the agent takes one entry only, the"
            f" last that matches: {'; '.join(doubled)}",
            f"{NOTHING_DONE} Move what they say into colocation_agent_pools, or narrow their selectors.",
        )
    return found


def _journal(seen: AgentSeen, config: Merged) -> Journal:
    known = seen.journal or Journal()
    if known.committed is None or seen.text is None:
        there = seen.config_map is not None
        return replace(known, existed=there, original=seen.text, committed=config.text, kept=config.kept)
    if config.text == seen.text and config.kept == known.kept:
        return known
    original = known.original
    if seen.text != known.committed:
        # Others wrote since, or the last run was cut off before it wrote: theirs is what stands there without ours.
        original, _foreign = without(seen.text, known.original, known.committed, known.kept)
    return replace(known, original=original, committed=config.text, kept=config.kept)


def _namespace(options: Options, seen: AgentSeen) -> Iterator[ObjectChange]:
    if not seen.namespace:
        yield create_owned(namespace(options.namespace))


def _pool_labels(seen: AgentSeen, places: Mapping[str, str]) -> Iterator[ObjectChange]:
    """Before the configuration: only with that the agent looks anew at which labels its Node has."""
    for node in seen.nodes:
        pool = places.get(node.name)
        if pool and node.labels.get(POOL) != pool:
            yield node_labels(node.name, {POOL: node.labels.get(POOL)}, {POOL: pool})


def _journal_steps(options: Options, seen: AgentSeen, journal: Journal) -> Iterator[ObjectChange]:
    if journal != seen.journal:
        body = written(journal, options.namespace)
        old = written(seen.journal, options.namespace) if seen.journal else None
        yield patch(body, old, body) if old else create(body)


def _config_step(options: Options, seen: AgentSeen, config: Merged) -> Iterator[ObjectChange]:
    if config.text == seen.text:
        return
    metadata: dict[str, Any] = {"name": CONFIG_MAP, "namespace": options.namespace}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: config.text}}
    if seen.config_map is None:
        metadata["labels"] = {OWNER_LABEL: OWNER}
        yield create(body, config.text)
        return
    metadata["resourceVersion"] = seen.config_map["metadata"]["resourceVersion"]
    yield patch(body, seen.text, config.text)


def _owned(seen: AgentSeen, wanted: Sequence[Object]) -> Iterator[ObjectChange]:
    for each in wanted:
        live = seen.objects.get(Ref.of(each))
        if live is not None and not is_ours(live):
            raise ClusterError(
                f"{Ref.of(each).place} is there and was not made by the collection",
                f"{NOTHING_DONE} Look at who made it, and take it away or give it the label {OWNER_LABEL}: {OWNER}.",
            )
        step = create_or_update(live, each)
        if step:
            yield step


def _stale(seen: AgentSeen, pools: Sequence[Pool], places: Mapping[str, str]) -> Iterator[ObjectChange]:
    """DaemonSets of pools that have no Node any more."""
    alive = {node.labels.get(POOL) for node in seen.nodes if node.name not in places} | {pool.name for pool in pools}
    for each in seen.daemon_sets:
        if is_ours(each) and (each["metadata"].get("labels") or {}).get(POOL) not in alive:
            yield delete(each)


def _configurations(options: Options, seen: AgentSeen) -> Iterator[ObjectChange]:
    wanted = [colocation_configuration(each) for each in options.memory_qos]
    live = {Ref.of(each): each for each in seen.configurations or ()}
    yield from _owned(replace(seen, objects=live), wanted)
    for key, each in live.items():
        if is_ours(each) and key not in {Ref.of(one) for one in wanted}:
            yield delete(each)


def _notes(options: Options, pools: Sequence[Pool], config: Merged) -> Iterator[str]:
    for each in config.foreign:
        yield f"{PLACE}: {each}; it stays"
    v2 = [pool.name for pool in pools if Feature.MEMORY_QOS_V2 in pool.kind.features]
    if v2 and not options.memory_qos:
        yield (
            f"MemoryQoSV2 is on in {', '.join(v2)} and does nothing until a pod matches a {CONFIG_KIND}:"
            " colocation_agent_memory_qos is empty"
        )
    for pool in pools:
        if options.memory_qos and Feature.MEMORY_QOS_V2 not in pool.kind.features:
            yield f"{pool.name}: colocation_agent_memory_qos does nothing there, since MemoryQoSV2 is off"
