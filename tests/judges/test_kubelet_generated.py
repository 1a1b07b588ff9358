# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What node_facts and assess say of generated kubelet configurations, compared with kubelet itself."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.judges.kubelet_comparison import differences
from ansible_collections.volcano.colocation.tests.judges.kubelet_generator import cases, cases_without_file
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.kubelet_ours import MACHINE

SEED, COUNT = 1, 2000
"""For each of two releases."""

CASES = tuple(cases(SEED, COUNT))


def test_the_judge_is_the_release_that_it_is_named_after(kubelet: KubeletJudge) -> None:
    major, minor = kubelet.version
    assert kubelet.table("release").startswith(f"v{major}.{minor}.")


def test_generated_configurations(kubelet: KubeletJudge) -> None:
    found = differences(kubelet, CASES)
    assert not found, f"{len(found)} of {len(CASES)}:\n" + "\n".join(found)


def test_the_generator_gives_the_same_cases_again() -> None:
    assert tuple(cases(SEED, 20)) == CASES[:20]
    assert tuple(cases(SEED + 1, 20)) != CASES[:20]


def test_generated_configurations_are_of_both_kinds(kubelet: KubeletJudge) -> None:
    """Else a comparison of them would prove nothing."""
    verdicts = kubelet.load(CASES, MACHINE)
    started = sum(verdict.error is None for verdict in verdicts)
    assert 0.2 < started / len(verdicts) < 0.8


WITHOUT_FILE = tuple(cases_without_file(SEED, 400))


def test_kubelets_without_a_file(kubelet: KubeletJudge) -> None:
    found = differences(kubelet, WITHOUT_FILE)
    assert not found, f"{len(found)} of {len(WITHOUT_FILE)}:\n" + "\n".join(found)


def test_kubelets_without_a_file_are_of_both_kinds(kubelet: KubeletJudge) -> None:
    verdicts = kubelet.load(WITHOUT_FILE, MACHINE)
    started = sum(verdict.error is None for verdict in verdicts)
    assert 0.2 < started / len(verdicts) < 0.8
