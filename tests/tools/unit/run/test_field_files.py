# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that `make docs` writes from the table of kubelet's fields are current and agree with the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.argspec import KUBELET
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.field_schema import FieldImpact, KubeletField
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import FIELDS
from ansible_collections.volcano.colocation.tests.run import field_docs, field_files
from ansible_collections.volcano.colocation.tests.run.blocks import NoBlock, replace_block

TEXTS = field_files.texts()
BY_OPTION = {field.option: field for field in FIELDS}
ODD = 'Sets "it", such as C(a: b) # and C(\\d).'
"""A text with special characters of YAML."""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_it_is_current(path: Path) -> None:
    """If not, run: make docs."""
    assert path.read_text(encoding="utf-8") == TEXTS[path]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.option)
def test_a_field_is_everywhere(field: KubeletField) -> None:
    role = field_files.ROLE
    assert f"\n  {field.option}:\n" in TEXTS[field_files.FRAGMENT]
    assert f'"{field.key}",\n' in TEXTS[field_files.CONFIGZ]
    assert f"\n      colocation_{field.option}:\n" in TEXTS[role / "meta" / "argument_specs.yml"]
    assert f'\n  {field.option}: "' in TEXTS[role / "vars" / "main.yml"]
    assert TEXTS[field_files.PAGE].count(f"| `{field.option}` |") == 2


@pytest.mark.parametrize("field", [*FIELDS, replace(FIELDS[0], description=ODD)], ids=lambda field: field.option)
def test_an_option_reads_as_the_table_has_it(field: KubeletField) -> None:
    lines = field_files.option_lines(field.option, field_docs.of_module(field), field.argument_spec(), 2)
    (read,) = yaml.safe_load("\n".join(lines)).values()
    assert read == {"description": field_docs.of_module(field), **KUBELET[field.option]}


def test_no_line_is_longer_than_it_should_be() -> None:
    lines = [*(f"      {line}" for line in field_files.variables()), *TEXTS[field_files.FRAGMENT].splitlines()]
    assert [line for line in lines if len(line) > 120] == []


@pytest.mark.parametrize(
    ("option", "role"),
    [
        ("cgroup_driver", "Empty does not change it. If unset, C(provision) and C(verify) use V(systemd)"),
        ("system_reserved", "Entries that are not listed do not change."),
        ("cgroup_root", "Empty does not change it."),
        ("pod_pids_limit", "If unset, the field does not change."),
    ],
)
def test_the_role_documents_the_value_that_does_not_change_a_field(option: str, role: str) -> None:
    assert field_docs.of_role(BY_OPTION[option])[-1].startswith(role)


def test_other_options_are_variables_in_the_role() -> None:
    field = BY_OPTION["memory_manager_policy"]
    assert "O(reserved_memory)" in field_docs.of_module(field)[0]
    assert "C(colocation_reserved_memory)" in field_docs.of_role(field)[0]


def statements(**changes: Any) -> str:
    field = replace(BY_OPTION["pod_pids_limit"], default=None, unit="", **changes)
    return field_docs.of_module(field)[-2]


def test_the_impact_of_a_change() -> None:
    restart = "A change needs a restart of kubelet."
    assert statements() == restart
    assert statements(impact=FieldImpact.DRAIN) == f"{restart} Pods are stopped for it."
    assert statements(entry_impacts=(("cpu", FieldImpact.DRAIN_UNDER_STATIC_CPU),)) == (
        f"{restart} Pods are stopped for a change of C(cpu) where the CPU manager's policy is V(static)."
    )


def test_statements_about_versions() -> None:
    assert statements(since=(1, 22)).startswith("Requires Kubernetes 1.22 or newer. ")
    assert not statements(since=(1, 20)).startswith("Requires")
    assert "kubelet's default is V(0.8), from 1.27 on V(0.9), from 1.37 on none." in "\n".join(
        field_docs.of_module(BY_OPTION["memory_throttling_factor"])
    )


def test_the_role_passes_on_what_is_set() -> None:
    passed = yaml.safe_load(TEXTS[field_files.ROLE / "vars" / "main.yml"])["node_profile"]
    assert passed["cgroup_driver"] == "{{ colocation_cgroup_driver | default('systemd') | default(omit, true) }}"
    assert passed["cgroup_root"] == "{{ colocation_cgroup_root | default(omit, true) }}"
    assert passed["system_reserved"] == "{{ colocation_system_reserved }}"
    assert passed["read_only_port"] == "{{ colocation_read_only_port | default(omit) }}"


@pytest.mark.parametrize("text", ["", "<a>\n", "<a>\n</a> <a>\n</a>"])
def test_a_file_without_its_comments_is_refused(text: str) -> None:
    with pytest.raises(NoBlock):
        replace_block(text, "<a>\n", "new\n", "</a>")


def test_text_around_a_block_does_not_change() -> None:
    assert replace_block("x <a>\nold\n</a> \\1", "<a>\n", "new \\1\n", "</a>") == "x <a>\nnew \\1\n</a> \\1"
