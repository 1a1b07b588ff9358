# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every CEL rule, on pods that follow it and pods that break it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler import admission_policies
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.admission_policies import (
    MUTATING,
    VALIDATING,
    Admission,
    LevelDefaults,
    newest_version,
    parse_admission,
    unsupported_policy,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.cel_text import cel_list, cel_string
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.level_rules import (
    BATCH_RESOURCES,
    LeveledPod,
    level_rules,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.priority_classes import PriorityClass
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.scheduler.cel import evaluate, mutated, refusals

VOLCANO, OPENFUYAO = "volcano.sh/qos-level", "openfuyao.com/QoS-level"
BE = PriorityClass("colocation-be", -100, "Never")
LEVELS = (LevelDefaults("HLS"), LevelDefaults("LS"), LevelDefaults("BE", BE, {"volcano.sh/oversubscription": "true"}))
ADMISSION = Admission(True, True, "Deny", "volcano", BATCH_RESOURCES, ("kube-system",), LEVELS)
POLICY, BINDING = admission_policies.render_validating(ADMISSION, "v1")
WHOLE = {"cpu": "2", "memory": "1Gi"}


def pod(level: str | None, *containers: dict[str, Any], key: str = VOLCANO, **spec: Any) -> dict[str, Any]:
    """A pod with one container for each of these resources."""
    named = [{"name": f"c{number}", "resources": resources} for number, resources in enumerate(containers)] or [
        {"name": "c"}
    ]
    metadata: dict[str, Any] = {"name": "p"} if level is None else {"name": "p", "annotations": {key: level}}
    return {"metadata": metadata, "spec": {"containers": named, **spec}}


def same(resources: dict[str, str]) -> dict[str, Any]:
    return {"requests": resources, "limits": resources}


GOOD = {
    "no level at all": pod(None, {"requests": {"cpu": "100m"}}),
    "another annotation": pod("x", key="note"),
    "LC": pod("LC"),
    "a number": pod("-1", {"requests": {"cpu": "100m"}}),
    "HLS": pod("HLS", same(WHOLE), same({"cpu": "1", "memory": "64Mi"})),
    "HLS of openFuyao": pod("HLS", same(WHOLE), key=OPENFUYAO),
    "HLS in other units": pod(
        "HLS", {"requests": {"cpu": "2000m", "memory": "1Gi"}, "limits": {**WHOLE, "memory": "1024Mi"}}
    ),
    "HLS with a whole init container": pod(
        "HLS", same(WHOLE), initContainers=[{"name": "i", "resources": same(WHOLE)}]
    ),
    "LS": pod("LS", {"requests": {"cpu": "100m"}}, {}),
    "LS with memory alone": pod("LS", {"requests": {"memory": "1Gi"}}),
    "BE without requests": pod("BE"),
    "BE": pod("BE", same({"kubernetes.io/batch-cpu": "1000", "kubernetes.io/batch-memory": "1Gi"}), {"limits": {}}),
    "BE with scratch space": pod("BE", {"requests": {"kubernetes.io/batch-cpu": "1", "ephemeral-storage": "1Gi"}}),
}


def broken_by(manifest: dict[str, Any]) -> list[str]:
    """The messages of the rules that the audit finds broken."""
    leveled = LeveledPod.of(manifest)
    return [rule.message for rule in level_rules(BATCH_RESOURCES) if not rule.is_followed(leveled)]


@pytest.mark.parametrize("name", GOOD)
def test_a_pod_that_follows_the_rules_is_admitted(name: str) -> None:
    assert refusals(POLICY, GOOD[name]) == []
    assert broken_by(GOOD[name]) == [] or not LeveledPod.of(GOOD[name]).level


BAD = {
    "a word": (pod("besteffort"), ["the QoS level is none of"]),
    "lower case": (pod("be"), ["the QoS level is none of"]),
    "a number out of range": (pod("8"), ["the QoS level is none of"]),
    "HLS without resources": (pod("HLS"), ["HLS: every container needs requests", "HLS: every container needs whole"]),
    "HLS, one container without": (
        pod("HLS", same(WHOLE), {}),
        ["HLS: every container needs requests", "HLS: every container needs whole"],
    ),
    "HLS, request below limit": (
        pod("HLS", {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": WHOLE}),
        ["HLS: every container needs requests"],
    ),
    "HLS, memory below limit": (
        pod("HLS", {"requests": {**WHOLE, "memory": "1G"}, "limits": WHOLE}),
        ["HLS: every container needs requests"],
    ),
    "HLS without memory": (pod("HLS", same({"cpu": "2"})), ["HLS: every container needs requests"]),
    "HLS, half a CPU": (pod("HLS", same({"cpu": "1500m", "memory": "1Gi"})), ["HLS: every container needs whole"]),
    "HLS, no CPU": (pod("HLS", same({"cpu": "0", "memory": "1Gi"})), ["HLS: every container needs whole"]),
    "HLS, broken init container": (
        pod("HLS", same(WHOLE), initContainers=[{"name": "i", "resources": same({"cpu": "100m", "memory": "1Gi"})}]),
        ["HLS: every container needs whole"],
    ),
    "HLS, oversubscribed": (
        pod("HLS", same({**WHOLE, "kubernetes.io/batch-cpu": "1"})),
        ["HLS: oversubscribed resources"],
    ),
    "LS without requests": (pod("LS"), ["LS: a request of cpu or memory"]),
    "LS with batch alone": (pod("LS", same({"kubernetes.io/batch-cpu": "1"})), ["LS: a request of cpu or memory"]),
    "BE with cpu": (pod("BE", {"requests": {"cpu": "1"}}), ["BE: only oversubscribed"]),
    "BE with a limit of memory": (pod("BE", {}, {"limits": {"memory": "1Gi"}}), ["BE: only oversubscribed"]),
    "BE with a GPU": (pod("BE", same({"nvidia.com/gpu": "1"})), ["BE: only oversubscribed"]),
    "BE with an init container's cpu": (
        pod("BE", initContainers=[{"name": "i", "resources": same({"cpu": "1"})}]),
        ["BE: only oversubscribed"],
    ),
    "BE with resources of the pod": (pod("BE", resources={"requests": {"cpu": "1"}}), ["BE: only oversubscribed"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_pod_that_breaks_a_rule_is_refused_with_its_message(name: str) -> None:
    broken, expected = BAD[name]
    refused = refusals(POLICY, broken)
    assert len(refused) == len(expected), refused
    assert all(message.startswith(beginning) for message, beginning in zip(refused, expected, strict=True)), refused
    assert broken_by(broken) == refused


def test_each_rule_is_broken_by_a_pod_of_this_test() -> None:
    messages = {message for broken, _messages in BAD.values() for message in refusals(POLICY, broken)}
    both = pod("HLS", same(WHOLE))
    both["metadata"]["annotations"][OPENFUYAO] = "LS"
    (differing,) = refusals(POLICY, both)
    assert broken_by(both) == [differing]
    assert {*messages, differing} == {rule.message for rule in level_rules(BATCH_RESOURCES)}
    both["metadata"]["annotations"][OPENFUYAO] = "HLS"
    assert refusals(POLICY, both) == []


def test_an_existing_pod_can_be_changed_and_deleted() -> None:
    """An update removes its finalizers."""
    old = pod("BE", {"requests": {"cpu": "1"}})
    new = {**old, "metadata": {**old["metadata"], "finalizers": []}}
    assert refusals(POLICY, new, old) == []
    assert refusals(POLICY, pod("BE", {"requests": {"cpu": "1"}}), pod("LS", {"requests": {"cpu": "1"}}))
    assert refusals(POLICY, pod("HLS"), pod(None))
    assert refusals(POLICY, pod(None), pod("HLS")) == []


def test_other_names_of_oversubscribed_resources() -> None:
    policy, _binding = admission_policies.render_validating(
        Admission(True, False, "Audit", "", ("x.io/cpu",), (), ()), "v1"
    )
    assert refusals(policy, pod("BE", same({"x.io/cpu": "1"}))) == []
    assert refusals(policy, pod("BE", same({"kubernetes.io/batch-cpu": "1"})))
    assert "namespaceSelector" not in policy["spec"]["matchConstraints"]


def test_the_policy_excludes_some_namespaces_and_has_a_binding() -> None:
    assert POLICY["spec"]["matchConstraints"] == {
        "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}
        ],
        "namespaceSelector": {
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]
        },
    }
    assert (POLICY["apiVersion"], POLICY["kind"]) == ("admissionregistration.k8s.io/v1", VALIDATING)
    assert BINDING["spec"] == {"policyName": POLICY["metadata"]["name"], "validationActions": ["Deny"]}


MUTATIONS = {
    manifest["metadata"]["name"]: manifest
    for manifest in admission_policies.render_mutating(ADMISSION, "v1beta1")
    if manifest["kind"] == MUTATING
}


def changed(manifest: dict[str, Any]) -> dict[str, Any]:
    for policy in MUTATIONS.values():
        manifest = mutated(policy, manifest)
    return manifest


def test_each_level_has_a_policy_with_a_binding() -> None:
    manifests = admission_policies.render_mutating(ADMISSION, "v1beta1")
    assert list(MUTATIONS) == ["volcano-colocation-hls", "volcano-colocation-ls", "volcano-colocation-be"]
    assert [
        manifest["spec"]["policyName"] for manifest in manifests if manifest["kind"] == f"{MUTATING}Binding"
    ] == list(MUTATIONS)
    assert {manifest["apiVersion"] for manifest in manifests} == {"admissionregistration.k8s.io/v1beta1"}


def test_be_gets_scheduler_class_and_nodes() -> None:
    before = pod("BE", schedulerName="default-scheduler", priority=0, preemptionPolicy="PreemptLowerPriority")
    after = changed(before)
    assert after["spec"] == {
        **before["spec"],
        "schedulerName": "volcano",
        "priorityClassName": "colocation-be",
        "priority": -100,
        "preemptionPolicy": "Never",
        "nodeSelector": {"volcano.sh/oversubscription": "true"},
    }
    assert changed(after) == after
    assert after["metadata"] == before["metadata"]


def test_values_of_the_pod_stay() -> None:
    own = pod("BE", schedulerName="mine", priorityClassName="mine", priority=7, nodeSelector={"disk": "ssd"})
    assert changed(own)["spec"] == {
        **own["spec"],
        "nodeSelector": {"disk": "ssd", "volcano.sh/oversubscription": "true"},
    }
    chosen = pod(
        "BE", schedulerName="mine", priorityClassName="mine", nodeSelector={"volcano.sh/oversubscription": "x"}
    )
    assert changed(chosen) == chosen


def test_other_levels_get_their_defaults_and_other_pods_nothing() -> None:
    assert changed(pod("LS", key=OPENFUYAO))["spec"] == {**pod("LS")["spec"], "schedulerName": "volcano"}
    assert changed(pod("LC")) == pod("LC")
    assert changed(pod(None)) == pod(None)
    assert admission_policies.patch_expressions("", LevelDefaults("LS")) == ()


@pytest.mark.parametrize("text", ["plain", "it's", "back\\slash", "\\'"])
def test_a_text_is_a_literal(text: str) -> None:
    assert evaluate(cel_string(text)) == text
    assert evaluate(f"{cel_string(text)} in {cel_list(['a', text])}")


def test_the_newest_served_version_is_used() -> None:
    assert newest_version(MUTATING, ["v1alpha1", "v1beta1"]) == "v1beta1"
    assert newest_version(MUTATING, ["v1", "v1beta1"]) == "v1"
    assert newest_version(VALIDATING, ["v1beta1"]) is None
    assert unsupported_policy(VALIDATING) == (
        "ValidatingAdmissionPolicy: the API server does not serve admissionregistration.k8s.io"
        " ValidatingAdmissionPolicy in v1, available since"
        " Kubernetes 1.30; no such policy was created"
    )


def options(**levels: Any) -> dict[str, Any]:
    return {
        "validate": True,
        "mutate": True,
        "action": "Deny",
        "scheduler": "volcano",
        "oversubscribed_resources": list(BATCH_RESOURCES),
        "excluded_namespaces": ["kube-system"],
        "levels": [{"level": name, **fields} for name, fields in levels.items()],
    }


def test_options_become_levels() -> None:
    settings = options(
        HLS={}, LS={}, BE={"priority_class": "colocation-be", "node_labels": {"volcano.sh/oversubscription": "true"}}
    )
    assert parse_admission("a", settings, [BE]) == ADMISSION


def test_a_class_whose_value_is_not_known_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"a\.levels\[0\]\.priority_class: x is not in colocation_priority_classes"):
        parse_admission("a", options(BE={"priority_class": "x"}), [BE])


def test_a_level_is_defined_once() -> None:
    settings = options(BE={})
    settings["levels"] *= 2
    with pytest.raises(ProfileError, match=r"a\.levels\[1\]\.level: BE is defined twice"):
        parse_admission("a", settings, [])
