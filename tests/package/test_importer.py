# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible Galaxy accepts the tarball: its importer checks metadata, README, changelog, documentation and roles.

The importer can also run ansible-lint and flake8, whose findings it only prints. The stage `lint` runs ansible-lint
with the production profile, and ruff.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import venvs

MODULE_DOCS = "Getting doc strings via ansible-doc"
SUCCESS = "Importer processing completed successfully"
SETTINGS = """\
[galaxy-importer]
CHECK_CHANGELOG = True
RUN_ANSIBLE_DOC = True
RUN_ANSIBLE_LINT = False
RUN_ANSIBLE_TEST = False
RUN_FLAKE8 = False
"""


@pytest.fixture(name="importer", scope="module")
def _importer() -> Path:
    """The Python of the importer's environment, which needs older packages than the other tools."""
    return venvs.provide(venvs.Recipe("importer", Path(sys.executable)))


def test_galaxy_imports_the_tarball_without_a_warning(importer: Path, tarball: Path, tmp_path: Path) -> None:
    settings = tmp_path / "galaxy-importer.cfg"
    settings.write_text(SETTINGS)
    environment = {
        "GALAXY_IMPORTER_CONFIG": str(settings),
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([str(importer.parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        [importer, "-m", "galaxy_importer.main", tarball],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert MODULE_DOCS in lines, done.stdout
    assert lines[-1] == SUCCESS, done.stdout
    assert [line for line in lines if line.startswith(("WARNING", "ERROR"))] == []
