# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of containerd for releases that only `make test-matrix` builds.

Verdicts on generated files are not compared: for 9 of 500 files with values of a wrong type, 2.2.9 decides differently.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.judges import test_containerd_tables
from ansible_collections.volcano.colocation.tests.judges.containerd_fixtures import Judge, judge_of
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import matrix_releases

default = test_containerd_tables._default
test_the_newest_schema_and_its_tables = test_containerd_tables.test_the_newest_schema_and_its_tables
test_nri = test_containerd_tables.test_nri
test_options_of_runc = test_containerd_tables.test_options_of_runc
test_each_value_has_the_type_of_its_default = test_containerd_tables.test_each_value_has_the_type_of_its_default


@pytest.fixture(scope="session", params=matrix_releases(), name="judge")
def _judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return judge_of(request.param, tmp_path_factory.mktemp("containerd"))


def test_the_entries_that_no_release_of_make_test_has(default: dict[str, Any]) -> None:
    known = {
        (plugin, path)
        for plugin, values in default["plugins"].items()
        for path, _kind in test_containerd_tables.found_in(values)
    }
    assert known >= test_containerd_tables.ONLY_IN_2_2


def test_the_matrix_has_a_judge() -> None:
    assert matrix_releases() == ("2.2",)
