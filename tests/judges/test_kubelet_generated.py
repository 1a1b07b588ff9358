# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict of node_facts and assess on generated kubelet configurations, compared with kubelet's."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.judges.kubelet_comparison import differences
from ansible_collections.volcano.colocation.tests.judges.kubelet_generator import cases, cases_without_file
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.kubelet_ours import MACHINE

SEED, COUNT = 1, 2000
"""COUNT is the number of cases for each of two releases."""

CASES = tuple(cases(SEED, COUNT))


def test_the_judge_is_the_release_that_it_is_named_after(kubelet: KubeletJudge) -> None:
    major, minor = kubelet.version
    assert kubelet.table("release").startswith(f"v{major}.{minor}.")


def test_generated_configurations(kubelet: KubeletJudge) -> None:
    disagreements = differences(kubelet, CASES)
    assert not disagreements, f"{len(disagreements)} of {len(CASES)}:\n" + "\n".join(disagreements)


def test_the_generator_gives_the_same_cases_again() -> None:
    assert tuple(cases(SEED, 20)) == CASES[:20]
    assert tuple(cases(SEED + 1, 20)) != CASES[:20]


def test_generated_configurations_are_of_both_kinds(kubelet: KubeletJudge) -> None:
    """The cases need valid and invalid configurations, or the comparison would prove nothing."""
    verdicts = kubelet.load(CASES, MACHINE)
    started = sum(verdict.error is None for verdict in verdicts)
    assert 0.2 < started / len(verdicts) < 0.8


WITHOUT_FILE = tuple(cases_without_file(SEED, 400))


def test_kubelets_without_a_file(kubelet: KubeletJudge) -> None:
    disagreements = differences(kubelet, WITHOUT_FILE)
    assert not disagreements, f"{len(disagreements)} of {len(WITHOUT_FILE)}:\n" + "\n".join(disagreements)


def test_kubelets_without_a_file_are_of_both_kinds(kubelet: KubeletJudge) -> None:
    verdicts = kubelet.load(WITHOUT_FILE, MACHINE)
    started = sum(verdict.error is None for verdict in verdicts)
    assert 0.2 < started / len(verdicts) < 0.8
