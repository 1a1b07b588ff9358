# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge programs, one process for each in a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import KubeletJudge
from ansible_collections.volcano.colocation.tests.judges.process import JudgeProcess
from ansible_collections.volcano.colocation.tests.lab import programs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.lab.program_table import FAMILIES, KUBELET_JUDGE

KUBELETS = [known.name for known in FAMILIES if KUBELET_JUDGE in [program.name for program in known.programs]]


@pytest.fixture(scope="session", params=KUBELETS, name="kubelet")
def _kubelet(request: pytest.FixtureRequest) -> Iterator[KubeletJudge]:
    """The kubelet of each release whose judge the lab builds."""
    built = programs.obtain(Cache(cache_root()), request.param, [KUBELET_JUDGE])
    process = JudgeProcess(built.path(KUBELET_JUDGE))
    yield KubeletJudge(process, built.family.version)
    process.close()
