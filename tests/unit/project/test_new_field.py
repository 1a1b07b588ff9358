# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/walkthroughs.md, "Add a kubelet field": it works from the role's variable to the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout_copy import CheckoutCopy, followed

WRITTEN = {
    "docs/kubelet.md",
    "plugins/doc_fragments/kubelet_fields.py",
    "plugins/module_utils/snapshot/kubelet_endpoints.py",
    "plugins/plugin_utils/profile/variable_names.py",
    "roles/node/meta/argument_specs.yml",
    "roles/node/vars/main.yml",
}
"""By `make docs`; the role has no default for a number."""

PROOF = """
import json
from PACKAGE.plugins.plugin_utils.plan.file_edits import file_edits
from PACKAGE.plugins.plugin_utils.assessment.node_plan import make_plan
from PACKAGE.plugins.plugin_utils.profile.validators import ProfileError
from PACKAGE.tests.support.hosts.captured_nodes import ALIGNED, captured, facts_of, kubelet_flags, profile_of

def planned(snapshot, port):
    plan = make_plan(facts_of(snapshot), profile_of(api_port=port), allow_disruption=True)
    texts = [line for edit in file_edits(snapshot, plan.changes) for line in edit.after.splitlines()]
    return {
        "changes": [str(change) for change in plan.changes],
        "needs": sorted(need.value for need in plan.needs),
        "lines": [line for line in texts if line.startswith("port:")],
        "refusals": [refusal.code for refusal in plan.refusals],
    }

try:
    profile_of(api_port=70000)
except ProfileError as error:
    refused = str(error)
print(json.dumps({
    "refused": refused,
    "other": planned(captured(ALIGNED), 10260),
    "default": planned(captured(ALIGNED), 10250),
    "flag": planned(kubelet_flags(captured(ALIGNED), "--port=10270"), 10260),
}))
"""


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckoutCopy]:
    with followed("Add a kubelet field", tmp_path_factory.mktemp("field")) as copy:
        yield copy


def test_one_file_is_edited_by_hand(copy: CheckoutCopy) -> None:
    assert copy.by_hand == {"plugins/plugin_utils/profile/kubelet_fields.py"}
    assert copy.changed == copy.by_hand | WRITTEN


def test_the_tests_of_documentation_and_roles_miss_no_other_edit(copy: CheckoutCopy) -> None:
    names = (
        "unit/docs/test_kubelet_page.py",
        "unit/docs/test_module_docs.py",
        "unit/docs/test_role_docs.py",
        "unit/plugin_utils/facts/test_both_sides.py",
        "unit/plugin_utils/profile/test_kubelet_fields.py",
        "tools/unit/run/test_field_files.py",
    )
    copy.tests(*(f"tests/{name}" for name in names))
    assert "api_port" in copy.python("-m", "pytest", "-q", "--collect-only", "tests/tools/unit/run/test_field_files.py")


@pytest.fixture(name="proof", scope="module")
def _proof(copy: CheckoutCopy) -> Any:
    return copy.proof(PROOF)


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


def test_it_is_reported_for_the_variable_of_the_role(copy: CheckoutCopy) -> None:
    """From the variable through the argument specification, the module's options and the rules."""
    recorded = copy.root / "tests" / "unit" / "fixtures" / "snapshots" / "trixie-v2-aligned.json"
    variables = {"colocation_snapshots": str(recorded), "colocation_report_directory": "", "colocation_api_port": 10260}
    printed = copy.python("-m", "ansible", "playbook", "volcano.colocation.assess", "-e", json.dumps(variables))
    assert "set: colocation_api_port 10260" in printed
    assert "kubelet port: unset -> 10260" in printed
