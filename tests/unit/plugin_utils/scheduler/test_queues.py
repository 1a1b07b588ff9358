# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues are checked together before the first is written."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.queues import (
    Queue,
    check_queues,
    parents_first,
    parse_queue,
    parse_queues,
    queues_by_field,
)

ALL = frozenset(("weight", "capability", "deserved", "guarantee", "reclaimable", "parent"))


def test_a_queue_has_only_the_fields_that_are_set() -> None:
    (queue,) = parse_queues("q", [{"name": "be", "capability": {"cpu": 8}, "guarantee": {}, "reclaimable": True}])
    assert queue.manifest()["spec"] == {"capability": {"cpu": "8"}, "reclaimable": True}
    full = Queue("a", 2, {"cpu": "8"}, {"cpu": "4"}, {"cpu": "1"}, False, "p")
    assert full.manifest() == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "a"},
        "spec": {
            "weight": 2,
            "capability": {"cpu": "8"},
            "deserved": {"cpu": "4"},
            "guarantee": {"resource": {"cpu": "1"}},
            "reclaimable": False,
            "parent": "p",
        },
    }
    assert parse_queue({**full.manifest(), "status": {"allocated": {"pods": "3"}}}) == Queue(
        "a", 2, {"cpu": "8"}, {"cpu": "4"}, {"cpu": "1"}, False, "p", 3
    )


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        ({"name": "root"}, "q[0].name: the queue root belongs to Volcano"),
        ({"name": "a", "weight": 0}, "q[0].weight: 0 is not positive"),
        ({"name": "a", "parent": "a"}, "q[0].parent: a cannot be its own parent"),
        ({"name": "a", "capability": {"cpu": "-1"}}, "q[0].capability.cpu: -1 is negative"),
        ({"name": "a", "capability": {"cpu": "much"}}, "q[0].capability.cpu: 'much' is not a Kubernetes quantity"),
        ({"name": "a", "deserved": {"x.io/gpu": "1.5"}}, "q[0].deserved.x.io/gpu: 1.5 is not a whole number"),
        (
            {"name": "a", "deserved": {"cpu": "2"}, "capability": {"cpu": "1500m"}},
            "q[0].deserved.cpu: 2 is more",
        ),
        ({"name": "a", "guarantee": {"cpu": "2"}, "deserved": {"cpu": "1"}}, "q[0].guarantee.cpu: 2 is more"),
    ],
)
def test_an_invalid_queue_is_reported_with_its_location(queue: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_queues("q", [queue])
    assert str(error.value).startswith(message)


def test_a_queue_is_defined_once() -> None:
    with pytest.raises(ProfileError, match=r"q\[1\]\.name: a is defined twice"):
        parse_queues("q", [{"name": "a"}, {"name": "a"}])


PARENT = Queue("org", capability={"cpu": "10"}, deserved={"cpu": "8"}, guarantee={"cpu": "4"})


def child(name: str, **fields: Any) -> Queue:
    return Queue(name, parent="org", **fields)


FOUR = child("b", deserved={"cpu": "4"})


def test_a_consistent_tree() -> None:
    one = child("one", deserved={"cpu": "5"}, guarantee={"cpu": "3"}, capability={"cpu": "10"})
    two = child("two", deserved={"cpu": "3"}, guarantee={"cpu": "1"})
    check_queues([PARENT, one, two], [Queue("default", 1), Queue("root")], ALL)
    check_queues([two], [PARENT, one], ALL)
    check_queues([Queue("flat", deserved={"cpu": "999"}, parent="root")], [Queue("root")], ALL)


@pytest.mark.parametrize(
    ("desired", "observed", "message"),
    [
        (
            [child("a", deserved={"cpu": "5"})],
            [PARENT, child("b", deserved={"cpu": "4"})],
            "org: deserved of cpu is 8, less",
        ),
        (
            [child("a", deserved={"memory": "1"})],
            [PARENT],
            "org: deserved of memory is none, less than the sum of its children",
        ),
        (
            [Queue("org", deserved={"cpu": "3"})],
            [PARENT, child("b", deserved={"cpu": "4"})],
            "org: deserved of cpu is 3",
        ),
        (
            [child("a", capability={"cpu": "11"})],
            [PARENT],
            "a: capability of cpu is 11, more than that of its ancestor org, 10",
        ),
        (
            [Queue("org", capability={"cpu": "5"})],
            [PARENT, child("m"), Queue("low", parent="m", capability={"cpu": "6"})],
            "low: capability of cpu is 6, more than that of its ancestor org, 5",
        ),
        ([child("a")], [], "a: its parent org is not a queue"),
        ([Queue("a", parent="b"), Queue("b", parent="a")], [], "a below b below a is a cycle"),
        ([child("a")], [Queue("org", pods=2)], "a: org has 2 pod(s) and cannot become a parent"),
        ([Queue("a", guarantee={"cpu": "1"})], [], "a: guarantee of cpu is 1, more than deserved (none)"),
    ],
)
def test_an_inconsistent_tree_is_refused(desired: list[Queue], observed: list[Queue], message: str) -> None:
    with pytest.raises(ClusterError) as error:
        check_queues(desired, observed, ALL)
    assert str(error.value).startswith(f"The queues are inconsistent: {message}")
    assert str(error.value).endswith("Nothing was changed. Correct colocation_queues.")


def test_inconsistencies_between_other_queues_are_not_reported() -> None:
    inconsistent = [
        Queue("x", deserved={"cpu": "1"}),
        Queue("y", parent="x", deserved={"cpu": "2"}),
        Queue("z", parent="gone"),
    ]
    check_queues([Queue("a", 1)], inconsistent, ALL)


def test_a_field_that_the_crd_lacks_is_refused() -> None:
    old = frozenset(("weight", "capability", "guarantee", "reclaimable"))
    with pytest.raises(
        ClusterError, match=r"a: the CRD of queues in this cluster has no field deserved; a: the .* no field parent"
    ):
        check_queues([Queue("a", deserved={"cpu": "1"}, parent="root")], [], old)
    check_queues([Queue("a", guarantee={"cpu": "1"})], [], old)


def test_parents_come_before_their_children() -> None:
    queues = [Queue("c", parent="b"), Queue("b", parent="a"), Queue("a"), Queue("d", parent="elsewhere")]
    assert [queue.name for queue in parents_first(queues)] == ["a", "d", "b", "c"]
    assert queues_by_field(queues) == {"parent": ("c", "b", "d")}
