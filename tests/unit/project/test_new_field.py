# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting of kubelet that is added to the table, and nowhere else, works from the role's variable to the report.

All of it happens in a copy of the checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.unit.project.tree import CHECKOUT, sources

PACKAGE = "ansible_collections.volcano.colocation"
TABLE = "plugins/plugin_utils/profile/kubelet_fields.py"
FIELDS_END = ')\n"""All that a profile can set'
ROW = """\
    API_PORT := KubeletField(
        key="port",
        flag="--port",
        type=FieldType.INTEGER,
        default="10250",
        option="api_port",
        unit="a TCP port",
        check=check.port,
        impact=FieldImpact.DRAIN,
        description="Sets C(port), on which kubelet serves its API.",
        source="pkg/kubelet/apis/config/validation/validation.go",
    ),
"""
WRITTEN = {
    "docs/kubelet.md",
    "plugins/doc_fragments/kubelet_fields.py",
    "plugins/module_utils/snapshot/configz_fields.py",
    "plugins/plugin_utils/profile/variable_names.py",
    "roles/node/meta/argument_specs.yml",
    "roles/node/vars/main.yml",
}
"""By `make docs`; the role has no default for a number."""

PROOF = """
import json
from {package}.plugins.plugin_utils.plan.file_edits import file_edits
from {package}.plugins.plugin_utils.assessment.node_plan import make_plan
from {package}.plugins.plugin_utils.profile.validators import ProfileError
from {package}.tests.unit.plugin_utils.nodes import ALIGNED, captured, facts_of, kubelet_flags, profile_of

def planned(snapshot, port):
    plan = make_plan(facts_of(snapshot), profile_of(api_port=port), allow_disruption=True)
    texts = [line for edit in file_edits(snapshot, plan.changes) for line in edit.after.splitlines()]
    return {{
        "changes": [str(change) for change in plan.changes],
        "needs": sorted(need.value for need in plan.needs),
        "lines": [line for line in texts if line.startswith("port:")],
        "refusals": [refusal.code for refusal in plan.refusals],
    }}

try:
    profile_of(api_port=70000)
except ProfileError as error:
    refused = str(error)
print(json.dumps({{
    "refused": refused,
    "other": planned(captured(ALIGNED), 10260),
    "default": planned(captured(ALIGNED), 10250),
    "flag": planned(kubelet_flags(captured(ALIGNED), "--port=10270"), 10260),
}}))
"""


class Copy:
    """The checkout in another folder, under the collection's name."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        for path in sources():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / path, self.root / path)
        self.collections = folder / "collections"
        link = self.collections / "ansible_collections" / "volcano" / "colocation"
        link.parent.mkdir(parents=True)
        link.symlink_to(self.root)

    def contents(self) -> dict[str, bytes]:
        return {path.as_posix(): (self.root / path).read_bytes() for path in sources()}

    def python(self, *arguments: str) -> str:
        """What a Python that finds the copy prints."""
        # Nothing of the pytest that runs this test, nor of its coverage.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "PYTHON"))}
        collections, home = str(self.collections), str(self.root.parent / "home")
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**kept, "PYTHONPATH": collections, "ANSIBLE_COLLECTIONS_PATH": collections, "ANSIBLE_HOME": home},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.fixture(name="before", scope="module")
def _before() -> dict[str, bytes]:
    return {path.as_posix(): (CHECKOUT / path).read_bytes() for path in sources()}


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """With the new row, and what `make docs` makes of it."""
    copy = Copy(tmp_path_factory.mktemp("field"))
    table = copy.root / TABLE
    text = table.read_text(encoding="utf-8")
    assert text.count(FIELDS_END) == 1
    table.write_text(text.replace(FIELDS_END, ROW + FIELDS_END), encoding="utf-8")
    copy.python("-m", f"{PACKAGE}.tests.run.pages")
    yield copy
    shutil.rmtree(copy.root)


def test_one_file_is_edited_by_hand(copy: Copy, before: dict[str, bytes]) -> None:
    assert changed(before, copy.contents()) - WRITTEN == {TABLE}
    assert changed(before, copy.contents()) >= WRITTEN


def test_the_tests_of_documentation_and_roles_miss_no_other_edit(copy: Copy) -> None:
    names = (
        "docs/test_kubelet_page.py",
        "docs/test_module_docs.py",
        "docs/test_role_docs.py",
        "plugin_utils/facts/test_both_sides.py",
        "plugin_utils/test_kubelet_fields.py",
        "run/test_field_files.py",
    )
    said = copy.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/unit/{name}" for name in names))
    assert " passed" in said
    assert "api_port" in copy.python("-m", "pytest", "-q", "--collect-only", "tests/unit/run/test_field_files.py")


@pytest.fixture(name="proof", scope="module")
def _proof(copy: Copy) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(copy.python("-c", PROOF.format(package=PACKAGE)))
    return found


def test_it_is_validated(proof: dict[str, Any]) -> None:
    assert proof["refused"] == "api_port: 70000 is not a port: 0 closes it, 1 to 65535 open it"


def test_it_is_planned_into_kubelets_file(proof: dict[str, Any]) -> None:
    other = proof["other"]
    assert other["lines"] == ["port: 10260"]
    assert other["needs"] == ["drain", "restart kubelet"]
    assert other["refusals"] == []
    assert proof["default"]["changes"] == []


def test_its_flag_is_known(proof: dict[str, Any]) -> None:
    assert proof["flag"]["refusals"] == ["flag-overrides-config"]


def test_it_is_reported_for_the_variable_of_the_role(copy: Copy) -> None:
    """From the variable through the argument specification, the module's options and the rules."""
    recorded = copy.root / "tests" / "unit" / "fixtures" / "snapshots" / "trixie-v2-aligned.json"
    given = {"colocation_snapshots": str(recorded), "colocation_report_directory": "", "colocation_api_port": 10260}
    said = copy.python("-m", "ansible", "playbook", "volcano.colocation.assess", "-e", json.dumps(given))
    assert "set: api_port 10260" in said
    assert "kubelet port: unset -> 10260" in said
