# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the desired and the observed state to requests; an impossible target is refused before the first request."""

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
    scheduler_state,
)

ALL = options(
    priority_classes=[BE],
    queues=[{"name": "be", "parent": "org"}, {"name": "org", "weight": 2}],
    admission=filled("admission", levels=[{"level": "BE", "priority_class": "colocation-be"}]),
    usage=filled("usage"),
    metrics=filled("metrics", address="http://prometheus.monitoring.svc:9090"),
)
SERVED = {VALIDATING: ("v1",), MUTATING: ("v1beta1",)}


def plan(settings: dict[str, Any], state: SchedulerState, uid: str = UID) -> SchedulerPlan:
    return plan_scheduling(parse_target_spec(settings), state, uid)


def after(state: SchedulerState, made: SchedulerPlan) -> SchedulerState:
    """The state of the cluster after the plan was applied."""
    objects = {
        (live["kind"], live["metadata"]["name"]): live for live in (*state.classes, *state.queues, *state.other_objects)
    }
    for change in made.objects:
        objects[change.ref.kind, change.ref.name] = _applied(change, objects.get((change.ref.kind, change.ref.name)))
    conf = state.conf
    if made.text and conf:
        conf = ConfigMap(conf.name, {**conf.data, KEY: made.text.after}, conf.version + "1", conf.namespace)
    kinds = {"PriorityClass": "classes", "Queue": "queues"}
    new: dict[str, list[Any]] = {"classes": [], "queues": [], "other": []}
    for manifest in objects.values():
        new[kinds.get(manifest["kind"], "other")].append(manifest)
    return replace(
        state,
        conf=conf,
        journal=made.journal,
        journal_version="1",
        classes=tuple(new["classes"]),
        queues=tuple(new["queues"]),
        other_objects=tuple(new["other"]),
    )


def _applied(change: ObjectChange, live: Object | None) -> dict[str, Any]:
    return dict(change.body) if live is None else apply_patch(live, change.body)


def test_everything_from_nothing_in_an_order_that_works_then_nothing() -> None:
    state = scheduler_state(served=SERVED)
    made = plan(ALL, state)
    assert [(change.operation, change.ref.place) for change in made.objects] == [
        (Operation.CREATE, "PriorityClass colocation-be"),
        (Operation.CREATE, "Queue org"),
        (Operation.CREATE, "Queue be"),
        (Operation.CREATE, "ValidatingAdmissionPolicy volcano-colocation-levels"),
        (Operation.CREATE, "ValidatingAdmissionPolicyBinding volcano-colocation-levels"),
        (Operation.CREATE, "MutatingAdmissionPolicy volcano-colocation-be"),
        (Operation.CREATE, "MutatingAdmissionPolicyBinding volcano-colocation-be"),
    ]
    assert [change.ref.name for change in made.objects if not change.dry] == ["be"]
    assert made.text
    assert made.text.after.startswith(WRITTEN[:30])
    assert made.unsupported == ()
    again = plan(ALL, after(state, made))
    assert (again.changes, again.journal) == (False, made.journal)


def test_an_older_server_gets_what_it_supports_and_the_rest_is_reported() -> None:
    made = plan(ALL, scheduler_state(served={}))
    assert [change.ref.kind for change in made.objects] == ["PriorityClass", "Queue", "Queue"]
    assert [reason.partition(":")[0] for reason in made.unsupported] == [VALIDATING, MUTATING]
    assert (
        plan(options(admission=filled("admission", validate=False)), scheduler_state())
        .unsupported[0]
        .startswith(MUTATING)
    )


def test_the_policies_exclude_the_namespace_of_the_agents_test_pods() -> None:
    made = plan(ALL, scheduler_state(served=SERVED)).objects
    rules = [change.body["spec"]["matchConstraints"] for change in made if change.ref.kind in (VALIDATING, MUTATING)]
    selected = [constraints["namespaceSelector"]["matchExpressions"][0]["values"] for constraints in rules]
    assert selected == [["kube-system", "volcano-system"]] * 2


def test_the_journal_survives_being_written() -> None:
    made = plan(ALL, scheduler_state(served=SERVED))
    assert parse_journal(ConfigMap(JOURNAL_NAME, render_journal(made.journal), "1", "volcano-system")) == made.journal
    assert parse_journal(None) == SchedulerJournal()


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 2}', '{"schema": 1, "entries": [{}], "text": null}'])
def test_a_foreign_journal_is_refused(text: str) -> None:
    with pytest.raises(ClusterError, match="does not have the format of this version of the collection"):
        parse_journal(ConfigMap(JOURNAL_NAME, {JOURNAL_KEY: text}, "1", "volcano-system"))


def test_a_restore_removes_everything() -> None:
    state = scheduler_state(served=SERVED)
    applied = after(state, plan(ALL, state))
    back = plan_restore(applied, UID)
    assert [(change.operation, change.ref.kind) for change in back.objects] == [
        (Operation.DELETE, "MutatingAdmissionPolicyBinding"),
        (Operation.DELETE, "MutatingAdmissionPolicy"),
        (Operation.DELETE, "ValidatingAdmissionPolicyBinding"),
        (Operation.DELETE, "ValidatingAdmissionPolicy"),
        (Operation.DELETE, "Queue"),
        (Operation.DELETE, "Queue"),
        (Operation.DELETE, "PriorityClass"),
    ]
    assert [change.ref.name for change in back.objects if change.ref.kind == "Queue"] == ["be", "org"]
    assert back.text
    assert (back.text.after, back.forget) == (TEXT, True)


def queue(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "be", "resourceVersion": "5", "labels": {"own": "er"}}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata, "spec": spec}


def test_a_foreign_queue_is_changed_where_it_differs_and_restored_after_two_runs() -> None:
    start = queue(weight=1, reclaimable=True, capability={"cpu": 4})
    state = scheduler_state(queues=(start,), conf=None, deployment=deployment())
    first = options(
        edit_configmap=False, queues=[{"name": "be", "weight": 2, "capability": {"cpu": "4", "memory": "1Gi"}}]
    )
    made = plan(first, state)
    (change,) = made.objects
    assert (change.operation, dict(change.body["spec"])) == (
        Operation.PATCH,
        {"weight": 2, "capability": {"memory": "1Gi"}},
    )
    assert change.body["metadata"] == {"name": "be", "resourceVersion": "5"}
    assert change.diff()["before"] == "spec:\n  capability: {}\n  weight: 1\n"
    assert change.diff()["after"] == "spec:\n  capability:\n    memory: 1Gi\n  weight: 2\n"
    applied = after(state, made)
    second = options(edit_configmap=False, queues=[{"name": "be", "weight": 3}])
    later = plan(second, applied)
    assert later.objects[0].body["spec"] == {"weight": 3, "capability": {"memory": None}}
    twice_applied = after(applied, later)
    (back,) = plan_restore(twice_applied, UID).objects
    assert apply_patch(dict(twice_applied.queues[0]), back.body)["spec"] == start["spec"]


def test_a_change_by_another_client_is_a_conflict_and_nothing_is_restored() -> None:
    state = scheduler_state(served=SERVED)
    applied = after(state, plan(ALL, state))
    touched = [
        {**live, "spec": {**live["spec"], "weight": 9}} if live["metadata"]["name"] == "org" else live
        for live in applied.queues
    ]
    conf = ConfigMap(MAP, {KEY: WRITTEN + "# mine\n"}, "9", "volcano-system")
    with pytest.raises(ClusterError) as error:
        plan_restore(replace(applied, queues=tuple(touched), conf=conf), UID)
    assert str(error.value).startswith(
        "Another client changed objects since the last run: Queue org; ConfigMap"
        " volcano-system/volcano-scheduler-configmap, key volcano-scheduler.conf. Nothing was restored."
    )


def test_a_text_that_another_client_changed_between_two_runs_is_never_restored() -> None:
    state = scheduler_state()
    applied = after(state, plan(options(), state))
    assert applied.conf
    edited = replace(
        applied, conf=ConfigMap(MAP, {KEY: WRITTEN.replace('preempt"', 'reclaim"')}, "9", "volcano-system")
    )
    made = plan(options(), edited)
    assert made.journal.text
    assert (made.journal.text.original, made.journal.text.foreign) == (TEXT, True)
    with pytest.raises(ClusterError, match="Another client changed objects since the last run"):
        plan_restore(after(edited, made), UID)
    assert plan_restore(replace(after(edited, made), conf=state.conf), UID).text is None


def test_a_run_that_was_interrupted_after_its_journal_loses_nothing() -> None:
    state = scheduler_state(served=SERVED)
    made = plan(ALL, state)
    interrupted = replace(state, journal=made.journal, journal_version="1")
    back = plan_restore(interrupted, UID)
    assert (back.objects, back.text, back.forget) == ((), None, True)
    again = plan(ALL, interrupted)
    assert [change.ref for change in again.objects] == [change.ref for change in made.objects]
    assert again.journal == made.journal


def test_nothing_to_restore() -> None:
    assert not plan_restore(scheduler_state(), "").changes
    assert plan_restore(replace(scheduler_state(conf=None), journal_version="1"), UID).forget


@pytest.mark.parametrize(
    ("uid", "message"),
    [
        ("another", f"The kubeconfig leads to the cluster {UID}, and colocation_cluster_uid is another"),
        ("", f"The cluster {UID} would be changed, and colocation_cluster_uid does not confirm"),
    ],
)
def test_another_cluster_is_refused(uid: str, message: str) -> None:
    with pytest.raises(ClusterError) as error:
        plan(ALL, scheduler_state(), uid)
    assert str(error.value).startswith(message)
    with pytest.raises(ClusterError):
        plan_restore(replace(scheduler_state(), journal_version="1"), uid)


def test_a_cluster_without_changes_needs_no_uid() -> None:
    assert not plan(options(), scheduler_state(WRITTEN), "").changes


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            scheduler_state(crds={}),
            "CustomResourceDefinition queues.scheduling.volcano.sh, CustomResourceDefinition podgroups",
        ),
        (
            scheduler_state(crds={name: crd(name, served=False) for name in REQUIRED_CRDS}),
            "queues.scheduling.volcano.sh in version v1beta1",
        ),
        (scheduler_state(deployment=None), "missing: Deployment volcano-system/volcano-scheduler."),
        (scheduler_state(conf=None), "missing: ConfigMap volcano-system/volcano-scheduler-configmap."),
        (scheduler_state(conf=ConfigMap(MAP, {}, "1", "volcano-system")), "has no key volcano-scheduler.conf"),
        (scheduler_state(source="there is none"), "there is none. Nothing was changed."),
    ],
)
def test_missing_parts_are_named(state: SchedulerState, message: str) -> None:
    with pytest.raises(ClusterError) as error:
        plan(options(), state)
    assert message in str(error.value)


def test_a_text_that_cannot_be_edited_is_named_with_its_line() -> None:
    with pytest.raises(UneditableFile, match=r"ConfigMap volcano-system/.*, key volcano-scheduler\.conf:3: "):
        plan(options(), scheduler_state("actions: x\ntiers: [\n"))


def test_classes_do_not_need_volcano() -> None:
    made = plan(options(edit_configmap=False, priority_classes=[BE]), SchedulerState(UID))
    assert [change.ref.kind for change in made.objects] == ["PriorityClass"]


def test_a_schema_without_fields_allows_all_fields() -> None:
    state = scheduler_state(crds={name: crd(name) for name in REQUIRED_CRDS})
    assert len(plan(options(queues=[{"name": "q", "deserved": {"cpu": "1"}}]), state).objects) == 1


@pytest.mark.parametrize(
    ("image", "codes"),
    [
        ("volcanosh/vc-scheduler:v1.9.0", []),
        ("registry:5000/vc-scheduler:latest", ["scheduler-release-unknown"]),
        ("vc-scheduler@sha256:1.14", ["scheduler-release-unknown"]),
    ],
)
def test_the_release_is_read_from_the_image(image: str, codes: list[str]) -> None:
    made = plan(options(dropped_actions=["enqueue"]), scheduler_state(deployment=deployment(image)))
    assert [finding.code for finding in made.findings] == codes


def test_a_release_that_is_too_old_is_refused_if_its_configuration_would_change() -> None:
    old = scheduler_state(deployment=deployment("registry:5000/vc-scheduler:v1.8.2"))
    message = r"The scheduler's release is 1\.8 \(image registry:5000/vc-scheduler:v1\.8\.2\); .* needs 1\.9, "
    with pytest.raises(ClusterError, match=message) as error:
        plan(options(usage=filled("usage")), old)
    assert "colocation_scheduler_edit_configmap: false" in str(error.value)
    alone = options(edit_configmap=False, queues=[{"name": "q", "weight": 2}], priority_classes=[BE])
    assert len(plan(alone, old).objects) == 2


METRICS = TEXT + "metrics:\n  type: prometheus\n  address: http://p.m.svc:9090\n"
CONFIGURED = DesiredConf(metrics=Metrics("prometheus", "http://new.m.svc:9090"))


@pytest.mark.parametrize(
    ("desired", "text", "address"),
    [
        (DesiredConf(usage=Usage()), METRICS, "http://p.m.svc:9090"),
        (DesiredConf(usage=Usage()), TEXT, None),
        (DesiredConf(usage=Usage()), TEXT + "metrics: none\n", None),
        (DesiredConf(usage=Usage()), METRICS.replace("  address", "  # address"), ""),
        (DesiredConf(usage=Usage(enabled=False)), METRICS, None),
        (CONFIGURED, METRICS, "http://new.m.svc:9090"),
        (CONFIGURED, TEXT, "http://new.m.svc:9090"),
        (DesiredConf(), METRICS, None),
        (None, METRICS, None),
        (CONFIGURED, None, None),
        (CONFIGURED, "actions: x\ntiers: [\n", None),
    ],
)
def test_the_source_is_that_of_the_new_configuration(
    desired: DesiredConf | None, text: str | None, address: str | None
) -> None:
    metrics = find_metrics(desired, text)
    assert (metrics.address if metrics else None) == address


def test_findings_are_those_of_the_new_text() -> None:
    settings = options(
        usage=filled("usage", cpu=90), watermarks=filled("watermarks"), queues=[{"name": "q", "deserved": {"cpu": "1"}}]
    )
    assert [finding.code for finding in plan(settings, scheduler_state()).findings] == [
        "scheduler-enqueue-blocks-preempt",
        "scheduler-usage-without-metrics",
        "scheduler-binpack-against-usage",
        "scheduler-threshold-above-watermark",
        "scheduler-queue-field-ignored",
    ]


def test_queues_of_the_cluster_and_desired_ones_can_starve_each_other() -> None:
    state = scheduler_state(queues=(queue(),))
    settings = options(dropped_actions=["enqueue"], queues=[{"name": "online"}])
    (finding,) = plan(settings, state).findings
    assert (finding.code, finding.evidence[1]) == ("scheduler-online-jobs-can-starve", "queues = be, online")
    assert plan({**settings, "reclaim": True}, state).findings == ()
    assert plan({**settings, "queues": []}, state).findings == ()
    assert plan({**settings, "edit_configmap": False}, replace(state, conf=None)).findings == ()


def test_reclaim_cannot_be_added_and_dropped() -> None:
    message = "^dropped_actions: it names reclaim, which reclaim: true adds; remove one of the two$"
    with pytest.raises(ProfileError, match=message):
        parse_target_spec(options(dropped_actions=["reclaim"], reclaim=True))
    dropped = parse_target_spec(options(dropped_actions=["reclaim"])).conf
    assert dropped == DesiredConf(("reclaim",))


def test_an_action_that_is_needed_cannot_be_dropped() -> None:
    with pytest.raises(ProfileError, match="dropped_actions: preempt is required for colocation"):
        parse_target_spec(options(dropped_actions=["preempt"]))


def test_every_verb_is_reviewed_once() -> None:
    made = plan(ALL, scheduler_state(served=SERVED))
    assert made.text
    assert [str(permission) for permission in required_permissions((made.text, *made.objects))] == [
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
    required = required_object(Metrics("prometheus", address))
    assert (required.ref.place if required else None) == place
    if required:
        assert availability_problem(required, None).endswith(f"and the cluster has no {place}")
        assert availability_problem(required, {"spec": {}}) == ""


def test_the_adaptors_api_must_be_available() -> None:
    required = required_object(Metrics("prometheus_adaptor"))
    assert required
    down = {"status": {"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]}}
    assert availability_problem(required, down).endswith("v1beta1.custom.metrics.k8s.io is not available: no endpoints")
    assert availability_problem(required, {}).endswith("is not available: no reason given")
    assert availability_problem(required, {"status": {"conditions": [{"type": "Available", "status": "True"}]}}) == ""


def test_the_journal_is_readable_text() -> None:
    journal = json.loads(render_journal(plan(ALL, scheduler_state(served=SERVED)).journal)[JOURNAL_KEY])
    assert journal["text"]["original"] == TEXT
    assert journal["entries"][0]["ref"]["name"] == "colocation-be"
