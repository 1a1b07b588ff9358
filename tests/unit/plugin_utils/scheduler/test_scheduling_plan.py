# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From wishes and what was read to requests; what cannot be had is refused before the first of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import (
    ObjectChange,
    Operation,
    required_permissions,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap, Object, apply_patch
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.admission_policies import (
    MUTATING,
    VALIDATING,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.installed_volcano import (
    JOURNAL_KEY,
    JOURNAL_NAME,
    REQUIRED_CRDS,
    SchedulerJournal,
    SchedulerState,
    parse_journal,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.scheduling_plan import (
    SchedulerPlan,
    plan_restore,
    plan_scheduling,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.target_spec import parse_target_spec
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import (
    DesiredConf,
    Metrics,
    Usage,
    availability_problem,
    find_metrics,
    required_object,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT, WRITTEN
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import (
    BE,
    KEY,
    MAP,
    UID,
    crd,
    deployment,
    filled,
    options,
    seen,
)

ALL = options(
    priority_classes=[BE],
    queues=[{"name": "be", "parent": "org"}, {"name": "org", "weight": 2}],
    admission=filled("admission", levels=[{"level": "BE", "priority_class": "colocation-be"}]),
    usage=filled("usage"),
    metrics=filled("metrics", address="http://prometheus.monitoring.svc:9090"),
)
SERVED = {VALIDATING: ("v1",), MUTATING: ("v1beta1",)}


def plan(given: dict[str, Any], found: SchedulerState, uid: str = UID) -> SchedulerPlan:
    return plan_scheduling(parse_target_spec(given), found, uid)


def after(found: SchedulerState, made: SchedulerPlan) -> SchedulerState:
    """The cluster once the plan was carried out."""
    there = {
        (each["kind"], each["metadata"]["name"]): each for each in (*found.classes, *found.queues, *found.other_objects)
    }
    for each in made.objects:
        there[each.ref.kind, each.ref.name] = _carried_out(each, there.get((each.ref.kind, each.ref.name)))
    conf = found.conf
    if made.text and conf:
        conf = ConfigMap(conf.name, {**conf.data, KEY: made.text.after}, conf.version + "1", conf.namespace)
    kinds = {"PriorityClass": "classes", "Queue": "queues"}
    new: dict[str, list[Any]] = {"classes": [], "queues": [], "others": []}
    for manifest in there.values():
        new[kinds.get(manifest["kind"], "others")].append(manifest)
    return replace(
        found,
        conf=conf,
        journal=made.journal,
        journal_version="1",
        classes=tuple(new["classes"]),
        queues=tuple(new["queues"]),
        other_objects=tuple(new["others"]),
    )


def _carried_out(change: ObjectChange, found: Object | None) -> dict[str, Any]:
    return dict(change.body) if found is None else apply_patch(found, change.body)


def test_everything_from_nothing_in_an_order_that_works_then_nothing() -> None:
    found = seen(served=SERVED)
    made = plan(ALL, found)
    assert [(each.operation, each.ref.place) for each in made.objects] == [
        (Operation.CREATE, "PriorityClass colocation-be"),
        (Operation.CREATE, "Queue org"),
        (Operation.CREATE, "Queue be"),
        (Operation.CREATE, "ValidatingAdmissionPolicy volcano-colocation-levels"),
        (Operation.CREATE, "ValidatingAdmissionPolicyBinding volcano-colocation-levels"),
        (Operation.CREATE, "MutatingAdmissionPolicy volcano-colocation-be"),
        (Operation.CREATE, "MutatingAdmissionPolicyBinding volcano-colocation-be"),
    ]
    assert [each.ref.name for each in made.objects if not each.dry] == ["be"]
    assert made.text
    assert made.text.after.startswith(WRITTEN[:30])
    assert made.unsupported == ()
    again = plan(ALL, after(found, made))
    assert (again.changes, again.journal) == (False, made.journal)


def test_an_older_server_gets_what_it_can_have_and_the_rest_is_told() -> None:
    made = plan(ALL, seen(served={}))
    assert [each.ref.kind for each in made.objects] == ["PriorityClass", "Queue", "Queue"]
    assert [each.partition(":")[0] for each in made.unsupported] == [VALIDATING, MUTATING]
    assert plan(options(admission=filled("admission", validate=False)), seen()).unsupported[0].startswith(MUTATING)


def test_the_policies_leave_out_where_the_agents_trial_pods_are() -> None:
    made = plan(ALL, seen(served=SERVED)).objects
    rules = [each.body["spec"]["matchConstraints"] for each in made if each.ref.kind in (VALIDATING, MUTATING)]
    selected = [each["namespaceSelector"]["matchExpressions"][0]["values"] for each in rules]
    assert selected == [["kube-system", "volcano-system"]] * 2


def test_the_journal_survives_being_written() -> None:
    made = plan(ALL, seen(served=SERVED))
    assert parse_journal(ConfigMap(JOURNAL_NAME, render_journal(made.journal), "1", "volcano-system")) == made.journal
    assert parse_journal(None) == SchedulerJournal()


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 2}', '{"schema": 1, "entries": [{}], "text": null}'])
def test_a_journal_of_somebody_else_is_refused(text: str) -> None:
    with pytest.raises(ClusterError, match="does not have the format of this version of the collection"):
        parse_journal(ConfigMap(JOURNAL_NAME, {JOURNAL_KEY: text}, "1", "volcano-system"))


def test_there_and_back_is_where_it_began() -> None:
    found = seen(served=SERVED)
    there = after(found, plan(ALL, found))
    back = plan_restore(there, UID)
    assert [(each.operation, each.ref.kind) for each in back.objects] == [
        (Operation.DELETE, "MutatingAdmissionPolicyBinding"),
        (Operation.DELETE, "MutatingAdmissionPolicy"),
        (Operation.DELETE, "ValidatingAdmissionPolicyBinding"),
        (Operation.DELETE, "ValidatingAdmissionPolicy"),
        (Operation.DELETE, "Queue"),
        (Operation.DELETE, "Queue"),
        (Operation.DELETE, "PriorityClass"),
    ]
    assert [each.ref.name for each in back.objects if each.ref.kind == "Queue"] == ["be", "org"]
    assert back.text
    assert (back.text.after, back.forget) == (TEXT, True)


def queue(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "be", "resourceVersion": "5", "labels": {"own": "er"}}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata, "spec": spec}


def test_a_queue_of_somebody_else_is_changed_where_it_differs_and_put_back_over_two_runs() -> None:
    start = queue(weight=1, reclaimable=True, capability={"cpu": 4})
    found = seen(queues=(start,), conf=None, deployment=deployment())
    first = options(
        edit_configmap=False, queues=[{"name": "be", "weight": 2, "capability": {"cpu": "4", "memory": "1Gi"}}]
    )
    made = plan(first, found)
    (change,) = made.objects
    assert (change.operation, dict(change.body["spec"])) == (
        Operation.PATCH,
        {"weight": 2, "capability": {"memory": "1Gi"}},
    )
    assert change.body["metadata"] == {"name": "be", "resourceVersion": "5"}
    assert change.diff()["before"] == "spec:\n  capability: {}\n  weight: 1\n"
    assert change.diff()["after"] == "spec:\n  capability:\n    memory: 1Gi\n  weight: 2\n"
    there = after(found, made)
    second = options(edit_configmap=False, queues=[{"name": "be", "weight": 3}])
    later = plan(second, there)
    assert later.objects[0].body["spec"] == {"weight": 3, "capability": {"memory": None}}
    gone = after(there, later)
    (back,) = plan_restore(gone, UID).objects
    assert apply_patch(dict(gone.queues[0]), back.body)["spec"] == start["spec"]


def test_what_others_changed_since_is_a_conflict_and_nothing_goes_back() -> None:
    found = seen(served=SERVED)
    there = after(found, plan(ALL, found))
    touched = [
        {**each, "spec": {**each["spec"], "weight": 9}} if each["metadata"]["name"] == "org" else each
        for each in there.queues
    ]
    conf = ConfigMap(MAP, {KEY: WRITTEN + "# mine\n"}, "9", "volcano-system")
    with pytest.raises(ClusterError) as error:
        plan_restore(replace(there, queues=tuple(touched), conf=conf), UID)
    assert str(error.value).startswith(
        "Another client changed objects since the last run: Queue org; ConfigMap"
        " volcano-system/volcano-scheduler-configmap, key volcano-scheduler.conf. Nothing was restored."
    )


def test_a_text_that_others_wrote_between_two_runs_is_never_overwritten_by_ours() -> None:
    found = seen()
    there = after(found, plan(options(), found))
    assert there.conf
    theirs = replace(there, conf=ConfigMap(MAP, {KEY: WRITTEN.replace('preempt"', 'reclaim"')}, "9", "volcano-system"))
    made = plan(options(), theirs)
    assert made.journal.text
    assert (made.journal.text.original, made.journal.text.foreign) == (TEXT, True)
    with pytest.raises(ClusterError, match="Another client changed objects since the last run"):
        plan_restore(after(theirs, made), UID)
    assert plan_restore(replace(after(theirs, made), conf=found.conf), UID).text is None


def test_a_run_that_was_cut_off_after_its_journal_loses_nothing() -> None:
    found = seen(served=SERVED)
    made = plan(ALL, found)
    cut = replace(found, journal=made.journal, journal_version="1")
    back = plan_restore(cut, UID)
    assert (back.objects, back.text, back.forget) == ((), None, True)
    again = plan(ALL, cut)
    assert [each.ref for each in again.objects] == [each.ref for each in made.objects]
    assert again.journal == made.journal


def test_nothing_to_put_back() -> None:
    assert not plan_restore(seen(), "").changes
    assert plan_restore(replace(seen(conf=None), journal_version="1"), UID).forget


@pytest.mark.parametrize(
    ("uid", "told"),
    [
        ("another", f"The kubeconfig leads to the cluster {UID}, and colocation_cluster_uid is another"),
        ("", f"The cluster {UID} would be changed, and colocation_cluster_uid does not confirm"),
    ],
)
def test_the_cluster_has_to_be_the_one_that_is_meant(uid: str, told: str) -> None:
    with pytest.raises(ClusterError) as error:
        plan(ALL, seen(), uid)
    assert str(error.value).startswith(told)
    with pytest.raises(ClusterError):
        plan_restore(replace(seen(), journal_version="1"), uid)


def test_a_cluster_that_is_as_wanted_needs_no_name() -> None:
    assert not plan(options(), seen(WRITTEN), "").changes


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (seen(crds={}), "CustomResourceDefinition queues.scheduling.volcano.sh, CustomResourceDefinition podgroups"),
        (
            seen(crds={name: crd(name, served=False) for name in REQUIRED_CRDS}),
            "queues.scheduling.volcano.sh in version v1beta1",
        ),
        (seen(deployment=None), "missing: Deployment volcano-system/volcano-scheduler."),
        (seen(conf=None), "missing: ConfigMap volcano-system/volcano-scheduler-configmap."),
        (seen(conf=ConfigMap(MAP, {}, "1", "volcano-system")), "has no key volcano-scheduler.conf"),
        (seen(source="there is none"), "there is none. Nothing was changed."),
    ],
)
def test_what_is_not_there_is_named(found: SchedulerState, told: str) -> None:
    with pytest.raises(ClusterError) as error:
        plan(options(), found)
    assert told in str(error.value)


def test_a_text_that_cannot_be_spliced_is_named_with_its_line() -> None:
    with pytest.raises(UneditableFile, match=r"ConfigMap volcano-system/.*, key volcano-scheduler\.conf:3: "):
        plan(options(), seen("actions: x\ntiers: [\n"))


def test_without_volcano_there_can_still_be_classes() -> None:
    made = plan(options(edit_configmap=False, priority_classes=[BE]), SchedulerState(UID))
    assert [each.ref.kind for each in made.objects] == ["PriorityClass"]


def test_a_schema_that_says_nothing_keeps_all_fields() -> None:
    found = seen(crds={name: crd(name) for name in REQUIRED_CRDS})
    assert len(plan(options(queues=[{"name": "q", "deserved": {"cpu": "1"}}]), found).objects) == 1


@pytest.mark.parametrize(
    ("image", "codes"),
    [
        ("volcanosh/vc-scheduler:v1.11.2", []),
        ("registry:5000/vc-scheduler:latest", ["scheduler-release-unknown"]),
        ("vc-scheduler@sha256:1.14", ["scheduler-release-unknown"]),
    ],
)
def test_the_release_is_read_off_the_image(image: str, codes: list[str]) -> None:
    made = plan(options(dropped_actions=["enqueue"]), seen(deployment=deployment(image)))
    assert [each.code for each in made.findings] == codes


def test_a_release_that_is_known_to_be_too_old_is_refused_where_its_configuration_is_wanted() -> None:
    old = seen(deployment=deployment("registry:5000/vc-scheduler:v1.10.0"))
    told = r"The scheduler's release is 1\.10 \(image registry:5000/vc-scheduler:v1\.10\.0\); .* needs 1\.11, "
    with pytest.raises(ClusterError, match=told) as error:
        plan(options(usage=filled("usage")), old)
    assert "colocation_scheduler_edit_configmap: false" in str(error.value)
    alone = options(edit_configmap=False, queues=[{"name": "q", "weight": 2}], priority_classes=[BE])
    assert len(plan(alone, old).objects) == 2


METRICS = TEXT + "metrics:\n  type: prometheus\n  address: http://p.m.svc:9090\n"
GIVEN = DesiredConf(metrics=Metrics("prometheus", "http://new.m.svc:9090"))


@pytest.mark.parametrize(
    ("wanted", "text", "address"),
    [
        (DesiredConf(usage=Usage()), METRICS, "http://p.m.svc:9090"),
        (DesiredConf(usage=Usage()), TEXT, None),
        (DesiredConf(usage=Usage()), TEXT + "metrics: none\n", None),
        (DesiredConf(usage=Usage()), METRICS.replace("  address", "  # address"), ""),
        (GIVEN, METRICS, "http://new.m.svc:9090"),
        (GIVEN, TEXT, "http://new.m.svc:9090"),
        (DesiredConf(), METRICS, None),
        (None, METRICS, None),
        (GIVEN, None, None),
        (GIVEN, "actions: x\ntiers: [\n", None),
    ],
)
def test_the_source_is_that_of_the_configuration_as_it_will_be(
    wanted: DesiredConf | None, text: str | None, address: str | None
) -> None:
    found = find_metrics(wanted, text)
    assert (found.address if found else None) == address


def test_findings_are_those_of_the_text_as_it_will_be() -> None:
    given = options(
        usage=filled("usage", cpu=90), watermarks=filled("watermarks"), queues=[{"name": "q", "deserved": {"cpu": "1"}}]
    )
    assert [each.code for each in plan(given, seen()).findings] == [
        "scheduler-enqueue-blocks-preempt",
        "scheduler-usage-without-metrics",
        "scheduler-threshold-above-watermark",
        "scheduler-queue-field-ignored",
    ]


def test_an_action_that_is_needed_cannot_be_dropped() -> None:
    with pytest.raises(ProfileError, match="dropped_actions: preempt is required for colocation"):
        parse_target_spec(options(dropped_actions=["preempt"]))


def test_every_verb_is_asked_for_once() -> None:
    made = plan(ALL, seen(served=SERVED))
    assert made.text
    assert [str(each) for each in required_permissions((made.text, *made.objects))] == [
        "patch configmaps volcano-scheduler-configmap in volcano-system",
        "create priorityclasses.scheduling.k8s.io",
        "create queues.scheduling.volcano.sh",
        "create validatingadmissionpolicies.admissionregistration.k8s.io",
        "create validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "create mutatingadmissionpolicies.admissionregistration.k8s.io",
        "create mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    ]


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://prometheus.monitoring.svc:9090", "Service monitoring/prometheus"),
        ("https://p.m.svc.cluster.local/path", "Service m/p"),
        ("http://192.168.0.10:9090", None),
        ("http://p.m.svc.example.org", None),
    ],
)
def test_a_source_in_the_cluster_has_a_service(address: str, place: str | None) -> None:
    found = required_object(Metrics("prometheus", address))
    assert (found.ref.place if found else None) == place
    if found:
        assert availability_problem(found, None).endswith(f"and the cluster has no {place}")
        assert availability_problem(found, {"spec": {}}) == ""


def test_the_adaptors_api_has_to_answer() -> None:
    found = required_object(Metrics("prometheus_adaptor"))
    assert found
    down = {"status": {"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]}}
    assert availability_problem(found, down).endswith("v1beta1.custom.metrics.k8s.io is not available: no endpoints")
    assert availability_problem(found, {}).endswith("is not available: no reason given")
    assert availability_problem(found, {"status": {"conditions": [{"type": "Available", "status": "True"}]}}) == ""


def test_the_journal_is_text_that_people_can_read() -> None:
    kept = json.loads(render_journal(plan(ALL, seen(served=SERVED)).journal)[JOURNAL_KEY])
    assert kept["text"]["original"] == TEXT
    assert kept["entries"][0]["ref"]["name"] == "colocation-be"
