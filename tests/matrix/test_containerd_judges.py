# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage ``judges`` with the releases of containerd that only `make test-matrix` builds."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.judges import test_containerd_generated, test_containerd_tables
from ansible_collections.volcano.colocation.tests.judges.containerd_fixtures import Judge, judge_of
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import matrix_releases, obtain_built
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

default = test_containerd_tables._default
test_the_newest_schema_and_its_tables = test_containerd_tables.test_the_newest_schema_and_its_tables
test_nri = test_containerd_tables.test_nri
test_options_of_runc = test_containerd_tables.test_options_of_runc
test_each_value_has_the_type_of_its_default = test_containerd_tables.test_each_value_has_the_type_of_its_default
test_no_verdict_differs_from_containerds = test_containerd_generated.test_no_verdict_differs_from_containerds


@pytest.fixture(scope="session", params=matrix_releases(), name="judge")
def _judge(request: pytest.FixtureRequest) -> Judge:
    return judge_of(obtain_built(Cache(cache_root()), request.param))


def test_the_entries_that_no_release_of_make_test_has(judge: Judge, default: dict[str, Any]) -> None:
    known = {
        (plugin, path)
        for plugin, values in default["plugins"].items()
        for path, _kind in test_containerd_tables.found_in(values)
    }
    assert known >= test_containerd_tables.ONLY_IN_MATRIX[judge.containerd.major]


def test_the_matrix_has_judges() -> None:
    assert matrix_releases() == ("2.2", "1.7")
