# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's files as kubelet decodes them; the stage ``judges`` found each of these cases."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import DEFAULT_EVICTION_HARD
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_kubelet_layers import (
    TYPE,
    evidence,
    facts,
)


def effective_value(key: str, main: str, flags: tuple[str, ...] = (), **dropins: str) -> Any:
    texts = {name: TYPE + text for name, text in dropins.items()}
    settings = facts(evidence("1.35.4", TYPE + main, flags, **texts)).settings
    return settings[key].value if key in settings else None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("cgroupDriver", "cgroupDriver: cgroupfs\ncgroupDriver: systemd\n", "systemd"),
        ("cgroupDriver", "cgroupDriver: systemd\n---\ncgroupDriver: cgroupfs\n", "systemd"),
        ("cgroupDriver", "cgroupDriver: systemd\n...\ncgroupDriver: cgroupfs\n", "systemd"),
        ("podPidsLimit", "podPidsLimit: 20\n<<: {podPidsLimit: 30}\n", 30),
        ("podPidsLimit", "<<: {podPidsLimit: 30}\npodPidsLimit: 20\n", 20),
        ("podPidsLimit", "<<: [{podPidsLimit: 30}, {podPidsLimit: 40}]\n", 30),
        ("podPidsLimit", "podPidsLimit: -2\n", "-1"),
    ],
)
def test_a_part_that_kubelet_ignores(key: str, text: str, value: Any) -> None:
    assert effective_value(key, text) == value


def test_an_ignored_part_is_reported_with_its_line() -> None:
    ignored = facts(evidence("1.35.4", TYPE + "maxPods: 1\nmaxPods: 2\n")).config.ignored
    assert ignored is not None
    assert (ignored.line, ignored.message) == (4, "key 'maxPods' is set twice, first in line 3")


def test_a_repeated_key_of_json_adds_to_a_table() -> None:
    reserved = '"systemReserved": {"cpu": "1"}, "systemReserved": {"memory": "1Gi"}'
    text = f'{{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", {reserved}}}'
    kubelet = facts(evidence("1.35.4", text))
    assert kubelet.settings["systemReserved"].value == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maxPods: 1\nmaxPods: 2\n", "key 'maxPods' is set twice"),
        ("maxPods: 1\n<<: {maxPods: 2}\n", "a merge key (<<) replaces key 'maxPods' above it"),
    ],
)
def test_a_drop_in_with_a_repeated_key_is_refused(text: str, message: str) -> None:
    (dropin,) = facts(evidence("1.35.4", TYPE, own=TYPE + text)).dropins
    assert dropin.problem is not None
    assert message in dropin.problem.message


@pytest.mark.parametrize("name", ["apiVersion", "kind"])
def test_the_type_of_a_drop_in_is_case_sensitive(name: str) -> None:
    text = TYPE.replace(name, name.upper())
    (dropin,) = facts(evidence("1.35.4", TYPE, own=text)).dropins
    assert dropin.problem is not None
    assert name in dropin.problem.message


def test_thresholds_of_a_drop_in_are_added_to_the_default_ones() -> None:
    own = 'evictionHard: {"memory.available": "10%"}\n'
    assert effective_value("evictionHard", "", own=own) == {**DEFAULT_EVICTION_HARD, "memory.available": "10%"}
    assert effective_value("evictionHard", "evictionHard: {}\n", own=own) == {"memory.available": "10%"}


@pytest.mark.parametrize(
    ("key", "main", "own", "value"),
    [
        ("systemReserved", "", "SystemReserved: {cpu: 500m}\n", {"cpu": "500m"}),
        ("systemReserved", "systemReserved: {cpu: '1'}\n", "SystemReserved: {cpu: 500m}\n", {"cpu": "1"}),
        ("reservedSystemCPUs", "", "ReservedSystemCPUs: '0'\n", "0"),
        ("failSwapOn", "", "FailSwapOn: false\n", "true"),
    ],
)
def test_a_drop_ins_key_in_another_letter_case_is_read_as_kubelet_decodes_it(
    key: str, main: str, own: str, value: Any
) -> None:
    assert effective_value(key, main, own=own) == value


def test_the_keys_of_the_main_file_are_case_sensitive() -> None:
    assert effective_value("systemReserved", "SystemReserved: {cpu: 500m}\n") is None
