# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's health endpoint: the effective settings decide."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_endpoints import (
    healthz,
    healthz_address,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.config_file import ConfigFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import parse_flags
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import healthz_url
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.services import kubelet_unhealthy
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    captured,
    facts_of,
    kubelet_edit,
    kubelet_flags,
    put,
)

UNIT = "/etc/systemd/system/kubelet.service"
DEFAULT = "http://127.0.0.1:10248/healthz"


def url(main: dict[str, Any], *words: str, dropins: tuple[dict[str, Any], ...] = ()) -> str | None:
    layers = [ConfigFile(f"/d/{number}.conf", "regular", values) for number, values in enumerate(dropins)]
    line = parse_flags([(word, "a test") for word in words])
    return healthz_url(ConfigFile("/main", "regular", main), layers, line, (1, 34))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, DEFAULT),
        ({"healthzPort": 10348}, "http://127.0.0.1:10348/healthz"),
        ({"healthzPort": None, "healthzBindAddress": ""}, DEFAULT),
        ({"healthzPort": 0}, None),
        ({"healthzPort": 65536}, DEFAULT),
        ({"healthzBindAddress": "192.0.2.7"}, "http://192.0.2.7:10248/healthz"),
        ({"healthzBindAddress": "0.0.0.0"}, DEFAULT),  # noqa: S104 - no socket listens
        ({"healthzBindAddress": "::"}, DEFAULT),
        ({"healthzBindAddress": "::1", "healthzPort": 1}, "http://[::1]:1/healthz"),
        ({"healthzBindAddress": "localhost"}, "http://localhost:10248/healthz"),
        ({"healthzBindAddress": "x/../@evil", "healthzPort": "often"}, DEFAULT),
    ],
)
def test_the_address_of_healthz_is_read_from_a_file(values: dict[str, Any], expected: str | None) -> None:
    assert url(values) == expected


def test_a_drop_in_overrides_the_file_and_a_flag_overrides_both() -> None:
    assert url({"healthzPort": 1}, dropins=({"healthzPort": 2}, {"healthzPort": 3})) == "http://127.0.0.1:3/healthz"
    assert url({"healthzPort": 1}, "--healthz-port=4", dropins=({"healthzPort": 2},)) == "http://127.0.0.1:4/healthz"
    assert url({}, "--healthz-bind-address", "::", "--healthz-port", "0") is None
    assert url({"healthzPort": 0}, "--healthz-bind-address=::1", "--healthz-port=10248") == "http://[::1]:10248/healthz"


def test_the_node_finds_the_endpoint_without_interpreting_the_files() -> None:
    file = "kind: KubeletConfiguration\nhealthzBindAddress: 192.0.2.7\n# healthzPort: 9\nhealthzPort: 10348\n"
    assert healthz_address([], []) == ("127.0.0.1", 10248)
    assert healthz_address([], [file]) == ("192.0.2.7", 10348)
    assert healthz_address([], [file, '{\n "healthzPort": 10448,\n "healthzBindAddress": "::"\n}']) == (
        "127.0.0.1",
        10448,
    )
    assert healthz_address(["kubelet", "--healthz-port=1", "--healthz-bind-address", "::1"], [file]) == ("::1", 1)
    assert healthz_address(["kubelet", "--healthz-port=0"], [file]) is None
    assert healthz_address([], ["healthzPort: often\n"]) == ("127.0.0.1", 10248)
    assert healthz_address([], ["healthzPort: 99999\n"]) == ("127.0.0.1", 10248)


def test_a_name_that_cannot_be_resolved_has_no_health() -> None:
    assert healthz(("a..b", 10248), 1.0) is None


def test_a_kubelet_without_a_health_endpoint_is_not_unhealthy() -> None:
    silent = put(captured(ALIGNED), None, "kubelet", "healthz")
    assert [finding.code for finding in kubelet_unhealthy(facts_of(silent))] == ["kubelet-unhealthy"]
    facts = facts_of(kubelet_flags(silent, "--healthz-port=0"))
    assert (facts.kubelet.running, facts.kubelet.healthy) == (True, None)
    assert not list(kubelet_unhealthy(facts))


def test_the_url_is_the_one_of_the_next_start() -> None:
    flagged = kubelet_flags(captured(ALIGNED), "--healthz-port=1")
    assert facts_of(flagged).kubelet.healthz_url == "http://127.0.0.1:1/healthz"
    text = "[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n"
    unit = put(flagged, {"kind": "regular", "text": text}, "kubelet", "files", UNIT)
    facts = facts_of(put(unit, [UNIT], "kubelet", "unit_files"))
    assert facts.kubelet.start.following is not None
    assert facts.kubelet.healthz_url == DEFAULT
    edited = kubelet_edit(captured(ALIGNED), "healthzPort: 10248", "healthzPort: 0")
    assert facts_of(edited).kubelet.healthz_url is None
