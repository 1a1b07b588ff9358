# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods with a QoS level: for each rule of the admission policy one that follows it and one that breaks it."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest, pod

VOLCANO, OPENFUYAO = "volcano.sh/qos-level", "openfuyao.com/QoS-level"
ADMISSION = {
    "levels": [
        {"level": "HLS", "priority_class": "colocation-hls"},
        {"level": "LS", "priority_class": "colocation-ls"},
        {"level": "BE", "priority_class": "colocation-be", "node_labels": {"volcano.sh/oversubscription": "true"}},
    ]
}
BATCH = {"kubernetes.io/batch-cpu": "500", "kubernetes.io/batch-memory": "1Gi"}
WHOLE = {"cpu": "2", "memory": "1Gi"}


def leveled(
    annotations: dict[str, str], requests: dict[str, str] | None = None, limits: dict[str, str] | None = None
) -> Manifest:
    """A pod with the default scheduler."""
    manifest = pod("leveled", "default", annotations)
    manifest["spec"]["schedulerName"] = "default-scheduler"
    manifest["spec"]["containers"][0]["resources"] = {"requests": requests or {}, "limits": limits or {}}
    return manifest


RULES = [
    pytest.param(
        leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
        leveled({VOLCANO: "HLS"}, {**WHOLE, "cpu": "1500m"}, {**WHOLE, "cpu": "1500m"}),
        "HLS",
        id="HLS has whole CPUs",
    ),
    pytest.param(
        leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
        leveled({VOLCANO: "HLS"}, WHOLE, {**WHOLE, "cpu": "3"}),
        "HLS",
        id="HLS has requests that equal its limits",
    ),
    pytest.param(
        leveled({VOLCANO: "HLS"}, WHOLE, WHOLE),
        leveled({VOLCANO: "HLS"}, {**WHOLE, **BATCH}, {**WHOLE, **BATCH}),
        "HLS",
        id="HLS has no oversubscribed resources",
    ),
    pytest.param(leveled({VOLCANO: "LS"}, {"cpu": "100m"}), leveled({VOLCANO: "LS"}), "LS", id="LS requests something"),
    pytest.param(
        leveled({VOLCANO: "BE"}, BATCH, BATCH),
        leveled({VOLCANO: "BE"}, {"cpu": "1"}),
        "BE: only oversubscribed resources may be asked for",
        id="BE requests only oversubscribed resources",
    ),
    pytest.param(
        leveled({VOLCANO: "LS"}, {"cpu": "1"}),
        leveled({VOLCANO: "XL"}, {"cpu": "1"}),
        "the QoS level is none of",
        id="the level is a known one",
    ),
    pytest.param(
        leveled({VOLCANO: "LS", OPENFUYAO: "LS"}, {"cpu": "1"}),
        leveled({VOLCANO: "LS", OPENFUYAO: "BE"}, {"cpu": "1"}),
        "different levels",
        id="two annotations agree",
    ),
]
"""For each rule: a pod that follows it, a pod that breaks it, and a part of the message."""
