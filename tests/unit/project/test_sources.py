# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for all files of the project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import matrix
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT, sources

LICENCE = Path("COPYING")
TEXTS = Path("LICENSES")

CHANGELOG = (Path("CHANGELOG.md"), Path("changelogs/changelog.yaml"))
"""antsibull-changelog writes them without a header."""

DATA = "fixtures"
"""Directories of recordings from nodes; a header would change the tested content."""

NO_COMMENTS = (".jsonl", ".sum")
"""Results and the checksums of Go modules, which cannot contain comments. REUSE.toml has the licences of all these."""

LONG = 450
"""Lines."""

PACKAGE_MARK = "__init__.py"
"""ansible-test wants them empty in plugins."""


def text(path: Path) -> str:
    return (CHECKOUT / path).read_text(errors="replace")


def has_header(path: Path) -> bool:
    head = "\n".join(text(path).splitlines()[:5])
    return all(f"SPDX-{tag}" in head for tag in ("FileCopyrightText: ", "License-Identifier: GPL-3.0-or-later"))


def is_exempt(path: Path) -> bool:
    bare = path in CHANGELOG or path.name in (PACKAGE_MARK, ".gitkeep") or path.suffix in NO_COMMENTS
    return path == LICENCE or path.parent == TEXTS or DATA in path.parts or bare


def test_every_file_names_its_authors_and_licence() -> None:
    assert [str(path) for path in sources() if not is_exempt(path) and not has_header(path)] == []


def test_no_file_names_the_directory_of_this_checkout() -> None:
    assert [str(path) for path in sources() if f"{CHECKOUT}/" in text(path)] == []


def test_no_file_lies_where_ansible_would_take_it_for_a_plugin() -> None:
    known = {"action", "callback", "doc_fragments", "module_utils", "modules", "plugin_utils"}
    assert {path.parts[1] for path in sources() if path.parts[0] == "plugins"} <= known


def test_ansible_is_met_in_few_places() -> None:
    """Other code does not depend on ansible-core, and is not tested again with each of its releases."""
    meeting = re.compile(r"^\s*(?:from|import) ansible[. ]", re.MULTILINE)
    paths = {path for path in sources() if path.parts[0] == "plugins" and meeting.search(text(path))}
    entries = {path for path in paths if path.parts[1] in ("action", "callback", "modules")}
    assert {path.parent for path in paths - entries} == {Path("plugins/plugin_utils/node")}


@pytest.mark.parametrize("name", matrix.WITHOUT_ANSIBLE)
def test_what_other_releases_of_ansible_core_skip_does_not_import_it(name: str) -> None:
    code = f"import runpy, sys; runpy.run_path({name!r}); sys.exit('ansible' in sys.modules)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env=path, check=True)


GENERATED = "plugins/plugin_utils/releases/kubelet_generated.py"


def test_a_python_file_has_one_subject() -> None:
    lengths = {str(path): len(text(path).splitlines()) for path in sources() if path.suffix == ".py"}
    lengths.pop(GENERATED)
    assert {name: length for name, length in lengths.items() if length > LONG} == {}
