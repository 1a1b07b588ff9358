# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No file has a word that the language guide advises against. The exceptions are listed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.tools.language import files, places

AREAS = (
    *("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "MAINTAINERS.md", "README.md", "SECURITY.md"),
    *("docs", "plugins", "roles", "playbooks", "changelogs/fragments", "molecule", "tests"),
)

KEYS = frozenset({"folder", "folders"})
"""Keys of snapshots, of the ledger and of the lab's output, an alias, and names of rows with results: they stay."""

EXCEPTIONS: Mapping[str, frozenset[str]] = {
    "docs/faults.md": KEYS | {"told"},
    "plugins/module_utils/snapshot/cgroup_evidence.py": KEYS,
    "plugins/module_utils/snapshot/process_evidence.py": KEYS,
    "plugins/module_utils/state/files.py": KEYS,
    "plugins/modules/node_report.py": KEYS,
    "tests/api/conftest.py": KEYS,
    "tests/faults/table.py": KEYS,
    "tests/unit/malformed/our_documents.py": KEYS,
    "tests/unit/module_utils/transaction/test_ledger_update.py": KEYS,
}
"""Path: words that are used there."""

TABLES = frozenset({"tests/tools/language.py", "tests/tools/unit/test_language.py"})
"""They list the words."""


def offences(area: str) -> Iterator[str]:
    for path in files(CHECKOUT / area):
        name = path.relative_to(CHECKOUT).as_posix()
        for place in places(path) if name not in TABLES else ():
            if place.word not in EXCEPTIONS.get(name, ()):
                yield str(place)


@pytest.mark.parametrize("area", AREAS)
def test_no_word_is_one_that_the_guide_advises_against(area: str) -> None:
    assert list(offences(area)) == []


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_each_exception_is_needed(name: str) -> None:
    assert EXCEPTIONS[name] & {place.word for place in places(CHECKOUT / name)}
