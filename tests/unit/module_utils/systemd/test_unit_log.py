# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.service_units import (
    failure_lines,
    mask_secrets,
)

# journalctl -o cat of kubelet 1.20 with a checkpoint of another policy, and of containerd 1.7 with a bad key.
KUBELET = """\
Started kubelet.service - kubelet: The Kubernetes Node Agent.
I1121 02:21:01.677163    1107 server.go:416] Kubelet version: v1.20.2
W1121 02:21:01.740137    1107 cpu_manager.go:386] [cpumanager] reconcileState: skipping container
F1121 02:21:03.335045    1107 server.go:269] failed to run Kubelet: start cpu manager error: could not restore state
kubelet.service: Main process exited, code=exited, status=255/EXCEPTION
I1121 02:21:06.677163    1208 server.go:416] Kubelet version: v1.20.2
F1121 02:21:08.335045    1208 server.go:269] failed to run Kubelet: start cpu manager error: could not restore state
kubelet.service: Main process exited, code=exited, status=255/EXCEPTION
"""
CONTAINERD = """\
time="2026-11-21T02:21:43Z" level=info msg="starting containerd" revision= version=1.7.24
time="2026-11-21T02:21:43Z" level=warning msg="DEPRECATION: CRI API v1alpha2 is deprecated"
time="2026-11-21T02:21:43Z" level=fatal msg="containerd: invalid plugin config: default_runtime_name"
"""


def test_each_line_about_a_failure_is_shown_once() -> None:
    assert failure_lines(KUBELET) == [
        "server.go:269] failed to run Kubelet: start cpu manager error: could not restore state",
        "kubelet.service: Main process exited, code=exited, status=255/EXCEPTION",
    ]


def test_of_containerds_log_the_fatal_line_is_shown() -> None:
    (line,) = failure_lines(CONTAINERD)
    assert "level=fatal" in line


def test_there_are_never_many_or_long_ones() -> None:
    lines = failure_lines(
        "\n".join(f"E1121 02:21:03.335045 1 x.go:1] trouble {index} " + "long " * 200 for index in range(50))
    )
    assert len(lines) == 8
    assert lines[-1].startswith("x.go:1] trouble 49")
    assert max(map(len, lines)) <= 400


@pytest.mark.parametrize(
    "line",
    [
        "error: token=SECRET rest",
        'error: "password": "SECRET"',
        "error: Authorization: SECRET",
        "error: Bearer SECRET",
        "error: api-key SECRET",
        "error: secret: SECRET",
        "error: " + "SECRET" * 20,
    ],
)
def test_what_looks_like_a_credential_is_masked(line: str) -> None:
    assert "SECRET" not in mask_secrets(line)
    assert mask_secrets(line).startswith("error: ")


def test_ids_and_paths_are_not_masked() -> None:
    line = "cgroup /kubepods.slice/cri-containerd-" + "0123456789abcdef" * 4 + ".scope does not exist"
    assert mask_secrets(line) == line


@pytest.mark.parametrize("token", ["glpat-", "xoxb-", "AIza", "npm_", "hf_", "sk_live_", "https://x.example/?sig="])
def test_tokens_of_known_shapes_are_masked(token: str) -> None:
    hidden = "Zm9vYmFyYmF6cXV4MTIzNDU2"
    assert hidden not in mask_secrets(f"error: pulling with {token}{hidden} failed")
