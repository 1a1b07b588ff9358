# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.module_utils.state.document_reader import PlanError
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import (
    ApiNodeRef,
    parse_plan,
    read_plan,
    sha256,
)

HASH = "a" * 64


def document() -> dict[str, Any]:
    return {
        "schema": 1,
        "id": "20261121T013455-1a2b3c4d",
        "summary": ["kubelet cgroupDriver: cgroupfs -> systemd"],
        "files": [
            {"path": "/var/lib/kubelet/config.yaml", "before_sha256": HASH, "after": "a: \udcff\n"},
            {"path": "/etc/new.conf", "before_sha256": None, "after": "", "mode": "0600"},
        ],
        "validate": [
            {
                "name": "dump",
                "argv": ["containerd", "--config", "{file}"],
                "file": "/etc/new.conf",
                "expect": [{"table": ["a", "b.c"], "key": "k", "value": "true"}],
                "candidates": [
                    {"name": "0-new.conf", "path": "/etc/new.conf", "text": "secret \udcff"},
                    {"name": "1-x.toml", "path": "/etc/x.toml", "text": None},
                ],
                "compare": {"except": ["imports"], "except_tables": [["a", "b"]]},
            }
        ],
        "services": {
            "kubelet": {"unit": "kubelet.service", "action": "restart"},
            "runtime": {"unit": "containerd.service", "action": "leave"},
        },
        "checkpoints": ["/var/lib/kubelet/cpu_manager_state"],
        "sandboxes": {"endpoint": "unix:///run/c.sock", "action": "stop"},
        "stale_cgroups": ["kubepods", "kubelet.slice/kubelet-kubepods.slice"],
        "fresh_cgroups": ["kubepods.slice"],
        "gate": {
            "timeout": 180,
            "kubelet_healthz": "http://127.0.0.1:10248/healthz",
            "cri_endpoint": "unix:///run/c.sock",
            "runtime_handlers": {"runc": True},
            "cpu_manager": {"path": "/var/lib/kubelet/cpu_manager_state", "policy": "static"},
            "cgroup_driver": "systemd",
            "nri_socket": "/var/run/nri/nri.sock",
            "pods": "return",
            "node": {"name": "node-1.example", "kubeconfig": "/etc/kubernetes/kubelet.conf"},
        },
    }


def test_every_part_of_a_whole_plan_is_read() -> None:
    plan = parse_plan(json.dumps(document()))
    first, second = plan.files
    assert (first.after, first.after_sha256, first.mode) == (b"a: \xff\n", sha256(b"a: \xff\n"), 0o644)
    assert (second.before_sha256, second.after, second.mode) == (None, b"", 0o600)
    assert plan.validate[0].expect[0].table == ("a", "b.c")
    assert [candidate.text for candidate in plan.validate[0].candidates] == [b"secret \xff", None]
    assert plan.validate[0].compare is not None
    assert plan.validate[0].compare.tables == (("a", "b"),)
    assert (plan.restarts_kubelet, plan.restarts_runtime, plan.stops_sandboxes) == (True, False, True)
    assert plan.gate is not None
    assert plan.gate.pods_return
    assert plan.gate.timeout == 180.0
    assert plan.gate.node == ApiNodeRef("node-1.example", "/etc/kubernetes/kubelet.conf")
    assert not plan.files_only


def test_a_plan_of_schema_and_id_is_read_as_empty() -> None:
    plan = parse_plan('{"schema": 1, "id": "a"}')
    assert plan.files_only
    assert (plan.kubelet, plan.gate, plan.files, plan.checkpoints) == (None, None, (), ())


def test_services_that_are_left_alone_make_a_plan_of_files_only() -> None:
    changed = document()
    changed["services"]["kubelet"]["action"] = "leave"
    changed.update(checkpoints=[], stale_cgroups=[], fresh_cgroups=[], gate=None)
    changed["sandboxes"]["action"] = "leave"
    assert parse_plan(json.dumps(changed)).files_only


def test_the_outline_is_the_same_plan_without_contents() -> None:
    plan = parse_plan(json.dumps(document()))
    assert "udcff" not in json.dumps(plan.outline)
    assert "secret" not in json.dumps(plan.outline)
    again = read_plan(json.loads(json.dumps(plan.outline)))
    assert again == plan
    assert [edit.after for edit in again.files] == [None, None]
    assert again.outline == plan.outline


WRONG = [
    (["schema"], 2, "schema: expected 1"),
    (["id"], "../x", "id: expected letters"),
    (["id"], "a b", "id: expected letters"),
    (["id"], None, "id: expected a string"),
    (["summary"], "x", "summary: expected a list"),
    (["files"], {}, "files: expected a list"),
    (["files", 0], "x", r"files\[0\]: expected an object"),
    (["files", 0, "path"], "etc/x", r"files\[0\].path: expected an absolute path"),
    (["files", 0, "path"], "/etc/../x", "absolute path"),
    (["files", 0, "path"], "/etc//x", "absolute path"),
    (["files", 0, "path"], "/etc/x\0", "absolute path"),
    (["files", 1, "path"], "/var/lib/kubelet/config.yaml", "files: expected each path once"),
    (["files", 0, "before_sha256"], "abc", "before_sha256: expected 64"),
    (["files", 0, "after"], 5, "after: expected a string"),
    (["files", 0, "after"], "\ud800", "after: expected UTF-8"),
    (["files", 1, "mode"], "644", "mode: expected an octal mode"),
    (["files", 0, "extra"], 1, r"files\[0\]: expected no key extra"),
    (["validate", 0, "argv"], [], "argv: expected a program"),
    (["validate", 0, "argv"], [1], "argv: expected a list of strings"),
    (["validate", 0, "expect", 0, "value"], True, "value: expected a string"),
    (["validate", 0, "candidates", 0, "name"], "../x", "name: expected a plain file name"),
    (["validate", 0, "candidates", 0, "name"], ".x", "name: expected a plain file name"),
    (["validate", 0, "candidates", 0, "text"], 1, "text: expected a string"),
    (["validate", 0, "compare", "except"], [1], "except: expected a list of strings"),
    (["validate", 0, "compare", "except_tables"], ["a"], "except_tables: expected a list of lists"),
    (["validate", 0, "compare", "except_tables"], [[1]], "except_tables: expected a list of lists"),
    (["services", "kubelet", "unit"], "kubelet", "unit: expected the name of a service unit"),
    (["services", "kubelet", "unit"], "-x.service --now", "unit: expected the name"),
    (["services", "kubelet", "action"], "reload", "services.kubelet.action: expected one of restart, leave"),
    (["services", "proxy"], {}, "services: expected no key proxy"),
    (["services", "kubelet", "action"], "leave", "services.kubelet.action: expected restart, because"),
    (["checkpoints", 0], "/var/lib/kubelet/config.yaml", "checkpoints: expected no path that is also in files"),
    (["sandboxes", "action"], "kill", "sandboxes.action: expected one of"),
    (["stale_cgroups"], ["/kubepods"], "stale_cgroups: expected names"),
    (["stale_cgroups"], ["a/../.."], "stale_cgroups: expected names"),
    (["gate", "timeout"], 0, "gate.timeout: expected a number above 0"),
    (["gate", "timeout"], True, "gate.timeout: expected a number above 0"),
    (["gate", "runtime_handlers"], {"runc": "yes"}, "gate.runtime_handlers: expected an object of booleans"),
    (["gate", "cgroup_driver"], "cgroup", "gate.cgroup_driver: expected one of systemd, cgroupfs"),
    (["gate", "cpu_manager"], [], "gate.cpu_manager: expected an object"),
    (["gate", "pods"], "some", "gate.pods: expected one of return, any"),
    (["gate", "node"], "node-1", "gate.node: expected an object"),
    (["gate", "node", "name"], "../pods", "gate.node.name: expected the name of a Node"),
    (["gate", "node", "name"], "a" * 254, "gate.node.name: expected the name of a Node"),
    (["gate", "node", "kubeconfig"], "kubelet.conf", "gate.node.kubeconfig: expected an absolute path"),
    (["gate", "node", "token"], "x", "gate.node: expected no key token"),
    (["gate", "cri_endpoint"], None, "gate.cri_endpoint: expected the runtime's socket"),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG)
def test_a_wrong_field_is_named(path: list[Any], value: Any, message: str) -> None:
    changed = document()
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(PlanError, match=message):
        parse_plan(json.dumps(changed))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '"x"'])
def test_a_text_that_is_not_a_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_plan(text)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix] + [path for key, child in children for path in paths(child, (*prefix, key))]


@given(
    some.sampled_from(paths(document())[1:]),
    some.one_of(some.none(), some.booleans(), some.integers(), some.text(), some.lists(some.text()), some.just({})),
)
def test_any_damage_is_a_plan_error_or_another_plan(path: tuple[Any, ...], value: Any) -> None:
    changed = copy.deepcopy(document())
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        plan = read_plan(changed)
    except PlanError:
        return
    assert read_plan(plan.outline) == plan
