# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions can be released."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.release.errors import ReleaseError
from ansible_collections.volcano.colocation.tests.release.versions import check_newer, set_version


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.3", "1.2.3-rc1", "01.2.3", "1.2.3\n"])
def test_anything_but_three_numbers_is_refused(version: str) -> None:
    with pytest.raises(ReleaseError, match=r"use three numbers, such as VERSION=1\.2\.3"):
        check_newer(version, [])


def test_versions_are_compared_by_their_numbers() -> None:
    check_newer("0.10.0", ["0.9.0", "0.2.1", "not-a-version"])
    with pytest.raises(ReleaseError, match=r"version 0\.10\.0 is already released"):
        check_newer("0.9.1", ["0.9.0", "0.10.0"])


def test_only_the_version_of_galaxy_yml_is_changed() -> None:
    assert set_version("name: x\nversion: 0.1.0\nreadme: y\n", "1.2.3") == "name: x\nversion: 1.2.3\nreadme: y\n"


def test_a_galaxy_yml_without_a_version_is_refused() -> None:
    with pytest.raises(ReleaseError, match="has 0 lines"):
        set_version("name: x\n", "1.2.3")
