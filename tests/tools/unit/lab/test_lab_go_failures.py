# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.go_failures import explain, explain_system

LOG = Path("/cache/logs/kubelet.log")


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ('go: k8s.io/api@v0.35.4: Get "https://proxy/x": dial tcp: lookup proxy: no such host', "check the network"),
        (
            'verifying k8s.io/api@v0.35.4: Get "https://sum/x": dial tcp: lookup sum.example: no such host',
            "check the network",
        ),
        ("go: volcano.sh/apis@v1.15.0: reading https://proxy/y: 403 Forbidden", "check the network"),
        (
            "verifying k8s.io/api@v0.35.4: checksum mismatch\n\tgo.sum: h1:b",
            "delete the directory go-mod",
        ),
        ("k8s.io/api: /usr/lib/go/compile: signal: killed", "too little memory"),
        ("go: fork/exec /usr/lib/go/compile: resource temporarily unavailable", "too little memory"),
        ("fatal error: runtime: out of memory", "free 3 GiB or add swap"),
        ("# pkg\nwrite /cache/x: no space left on device\npkg: signal: killed", "the disk is full"),
        ("missing go.sum entry for module providing package x; to add:\n\tgo mod download x", "run `make lock`"),
        ("go: go.mod requires go >= 1.27 (running go 1.26.8; GOTOOLCHAIN=local)", "too old"),
    ],
)
def test_a_failure_is_named_with_its_remedy(output: str, remedy: str) -> None:
    message = explain(f"# some package\n{output}\nmore\n", 1, "go build", LOG)
    assert message.startswith("go build failed: ")
    assert remedy in message
    assert message.endswith(f"The whole output is in {LOG}")
    assert "\n" not in message


def test_a_killed_go_is_explained_without_output() -> None:
    assert "too little memory" in explain("", -9, "go build", LOG)
    assert "too little memory" not in explain("", -15, "go build", LOG)


def test_another_failure_shows_its_last_lines() -> None:
    output = "".join(f"line {number}\n" for number in range(9))
    assert explain(output, 1, "go vet", LOG) == (
        f"go vet failed: line 4 | line 5 | line 6 | line 7 | line 8. The whole output is in {LOG}"
    )
    assert "without output" in explain("", 1, "go vet", LOG)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "No space left on device; free some space (`python3 tests/lab programs --prune`"),
        (errno.EDQUOT, "free some space"),
        (errno.ENOMEM, "Cannot allocate memory; free 3 GiB or add swap"),
    ],
)
def test_an_exhausted_resource_is_named_with_its_remedy(number: int, remedy: str) -> None:
    assert remedy in explain_system(OSError(number, os.strerror(number)))


def test_another_system_call_has_no_remedy() -> None:
    assert explain_system(PermissionError(errno.EACCES, "Permission denied")) == "[Errno 13] Permission denied"
