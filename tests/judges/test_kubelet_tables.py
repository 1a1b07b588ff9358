# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the collection, written by hand or generated, compared with those of each kubelet that the lab builds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts import kubelet_command_line
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import kubelet_features, kubelet_generated
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_features import (
    INCOMPATIBLE,
    Gate,
    OptionHistory,
)
from ansible_collections.volcano.colocation.tests.judges import kubelet_hand_tables as tables
from ansible_collections.volcano.colocation.tests.judges import kubelet_tables as generator
from ansible_collections.volcano.colocation.tests.judges.kubelet_generator import HEAD
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.kubelet_ours import MACHINE


@functools.cache
def generated(kubelet: KubeletJudge) -> dict[str, dict[str, str]]:
    """The tables of a kubelet, generated once."""
    return generator.tables(kubelet)


@pytest.mark.parametrize("name", ["FIELD_KINDS", "LIMITS", "WORDS", "GATES", "GATE_NEEDS", "FLAGS"])
def test_the_generated_tables_are_current(kubelet: KubeletJudge, name: str) -> None:
    """If not, run: python -m ansible_collections.volcano.colocation.tests.judges.kubelet_tables."""
    assert generated(kubelet)[name] == getattr(kubelet_generated, name)[kubelet.version]


POLICY_OPTIONS = "CPUManagerPolicyOptions"


def problems(kubelet: KubeletJudge) -> dict[str, list[str]]:
    """Problems of each table written by hand."""
    stages, flags, version = kubelet.table("gates"), kubelet.table("flags"), kubelet.version
    (plain,) = kubelet.load([Case("defaults", HEAD)], MACHINE)
    return {
        "gates": list(tables.gates(stages, version)),
        "gate defaults": list(tables.gate_defaults(stages, version)),
        "options": list(tables.options(kubelet.table("options"), version)),
        "removed flags": list(tables.removed_flags(flags, version)),
        "fields": list(tables.fields(kubelet.table("types"), flags, version)),
        "defaults": list(tables.defaults(plain.config or {}, version)),
    }


def test_the_tables_made_by_hand(kubelet: KubeletJudge) -> None:
    assert {name: entries for name, entries in problems(kubelet).items() if entries} == {}


def _changed(table: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setitem(table, name, value)


@pytest.mark.parametrize(
    ("table", "name", "plant"),
    [
        ("gates", "MemoryQoS", _changed(kubelet_features.GATES, "MemoryQoS", Gate((1, 23)))),
        ("gates", POLICY_OPTIONS, _changed(kubelet_features.GATES, POLICY_OPTIONS, Gate((1, 22), (1, 34)))),
        ("gates", POLICY_OPTIONS, _changed(kubelet_features.GATES, POLICY_OPTIONS, Gate((1, 22)))),
        (
            "options",
            "align-by-socket",
            _changed(kubelet_features.CPU_OPTIONS, "align-by-socket", OptionHistory((1, 25), (1, 35), None)),
        ),
        (
            "options",
            "invented",
            _changed(kubelet_features.CPU_OPTIONS, "invented", OptionHistory((1, 25), None, None)),
        ),
        ("removed flags", "--v", _changed(kubelet_command_line.REMOVED_FLAGS, "--v", ((1, 30), "a source"))),
    ],
)
def test_a_wrong_entry_is_found(
    kubelet: KubeletJudge,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    name: str,
    plant: Callable[[pytest.MonkeyPatch], None],
) -> None:
    plant(monkeypatch)
    assert [problem for problem in problems(kubelet)[table] if problem.startswith(name)]


def test_a_wrong_default_is_found(kubelet: KubeletJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tuple(replace(field, default="5") if field.key == "failSwapOn" else field for field in OBSERVED)
    monkeypatch.setattr(tables, "OBSERVED", wrong)
    assert [problem for problem in problems(kubelet)["defaults"] if problem.startswith("failSwapOn")]


OPTIONS = tuple(kubelet_features.CPU_OPTIONS)
PAIRS = tuple((first, second) for number, first in enumerate(OPTIONS) for second in OPTIONS[number + 1 :])


def test_options_that_exclude_each_other(kubelet: KubeletJudge) -> None:
    """Only the pairs of the table exclude each other, with all options enabled by their gates."""
    cases = [Case(f"{first} {second}", _with_options(first, second)) for first, second in PAIRS]
    refused = {
        frozenset(pair) for pair, verdict in zip(PAIRS, kubelet.load(cases, MACHINE), strict=True) if verdict.error
    }
    assert refused == {frozenset(pair) for pair in INCOMPATIBLE}


def _with_options(*names: str) -> str:
    lines = "".join(f'  {name}: "true"\n' for name in names)
    gates = "featureGates: {CPUManagerPolicyAlphaOptions: true}\n"
    static = "cpuManagerPolicy: static\nsystemReserved: {cpu: 500m}\n"
    return f"{HEAD}{gates}{static}cpuManagerPolicyOptions:\n{lines}"
