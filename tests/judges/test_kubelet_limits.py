# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that the collection does not use, at and beyond their bounds: the collection's verdict is kubelet's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts import kubelet_accepted_values
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_generated import FIELD_KINDS
from ansible_collections.volcano.colocation.tests.judges.kubelet_comparison import differences
from ansible_collections.volcano.colocation.tests.judges.kubelet_generator import HEAD
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.kubelet_probes import COMPANIONS, text_of

NUMBERS = (-2147483648, -1001, -2, -1, 0, 1, 2, 31, 32, 100, 101, 1000, 1001, 65535, 65536, 65537, 131072, 2147483647)
DURATIONS = ("-1s", "0s", "1ns", "999us", "1ms", "500ms", "1s", "1001ms", "2999ms", "3s", "5m", "301s", "1h", "72h")
TEXTS = ("", "no-such-word", "/var/log", "/var//log", "/var/../log", "relative", "/v\u00e4r", "1.34", "none", "text")
UNJUDGED = frozenset(("logging.format", "showHiddenMetricsForVersion", "tracing.endpoint"))
"""Fields with a special format, which the collection does not check (docs/findings.md)."""


def values_of(kind: str) -> tuple[Any, ...]:
    if kind.startswith(("int", "uint")):
        return NUMBERS
    return {"duration": DURATIONS, "string": TEXTS, "bool": (True, False)}.get(kind, ())


def paths() -> Iterator[tuple[str, str]]:
    used = {field.key for field in OBSERVED} | {"apiVersion", "kind"}
    kinds = {path: kind for table in FIELD_KINDS.values() for path, kind in table.items()}
    for path, kind in kinds.items():
        inside = "[" in path or "{" in path or path.split(".")[0] in used
        if not inside and path not in UNJUDGED:
            yield path, kind


def cases() -> Iterator[Case]:
    """Each value alone, and with the other fields that its field needs."""
    for path, kind in paths():
        for value in values_of(kind):
            yield Case(f"{path} {value!r}", text_of(path, value, alone=True))
            if path in COMPANIONS:
                yield Case(f"{path} {value!r} with its companion", text_of(path, value))


def test_each_field_at_its_bounds(kubelet: KubeletJudge) -> None:
    disagreements = differences(kubelet, list(cases()))
    assert not disagreements, f"{len(disagreements)}:\n" + "\n".join(disagreements)


TOGETHER = {
    "imageGCHighThresholdPercent": (80, 50, 0),
    "imageGCLowThresholdPercent": (85, 50, 0),
    "imageMaximumGCAge": ("1m", "2m", "3m"),
    "imageMinimumGCAge": ("1m", "10m"),
    "maxParallelImagePulls": (1, 2),
    "serializeImagePulls": (True, False),
    "shutdownGracePeriod": ("0s", "30s", "500ms"),
    "shutdownGracePeriodCriticalPods": ("0s", "10s", "40s"),
    "shutdownGracePeriodByPodPriority": ([{"priority": 1, "shutdownGracePeriodSeconds": 2}], []),
    "systemCgroups": ("/system.slice", ""),
    "cgroupRoot": ("/", ""),
    "enableSystemLogQuery": (True, False),
    "enableSystemLogHandler": (True, False),
    "cpuCFSQuotaPeriod": ("100ms", "10ms"),
    "memorySwap": ({"swapBehavior": "LimitedSwap"}, {}),
    "crashLoopBackOff": ({"maxContainerRestartPeriod": "10s"}, {}),
    "defaultPodSysctls": ({}, {"net.ipv4.ip_local_port_range": "1024 65535"}),
    "runOnce": (False, True),
    "featureGates": tuple(
        {gate: on} for gate in sorted(set(kubelet_accepted_values.NEEDED_GATES.values())) for on in (True, False)
    ),
}
"""Values of fields that depend on each other, or on a gate."""


def pairs() -> Iterator[Case]:
    for first, second in itertools.combinations(TOGETHER, 2):
        for number, (one, other) in enumerate(itertools.product(TOGETHER[first], TOGETHER[second])):
            text = HEAD + f"{first}: {_flow(one)}\n{second}: {_flow(other)}\n"
            yield Case(f"{first} {second} {number}", text)


def _flow(value: Any) -> str:
    return json.dumps(value)


def test_fields_that_depend_on_each_other(kubelet: KubeletJudge) -> None:
    disagreements = differences(kubelet, list(pairs()))
    assert not disagreements, f"{len(disagreements)}:\n" + "\n".join(disagreements)


FLAGS = tuple(
    f"{flag}={value}"
    for key, flag in kubelet_accepted_values.UNUSED_FIELD_FLAGS.items()
    for value in (
        ("-1", "0", "101", "70000") if key not in kubelet_accepted_values.BOOLEAN_FIELDS else ("true", "false")
    )
    if FIELD_KINDS[1, 35][key] not in ("duration", "string")
)


@pytest.mark.parametrize("dropin", [False, True])
def test_a_value_of_a_flag_or_a_drop_in(kubelet: KubeletJudge, dropin: bool) -> None:
    """They override valid and invalid values of the main file."""
    dropins = (("10-a.conf", HEAD + "maxPods: -1\nhealthzPort: 10248\n"),) if dropin else ()
    main = HEAD + "maxPods: 5\nhealthzPort: -5\n"
    with_dropins = [Case(f"{flag} {dropin}", main, dropins, (flag,)) for flag in FLAGS]
    disagreements = differences(
        kubelet, [*with_dropins, Case("no flag", main, dropins), *(Case(flag, HEAD, (), (flag,)) for flag in FLAGS)]
    )
    assert not disagreements, "\n".join(disagreements)
