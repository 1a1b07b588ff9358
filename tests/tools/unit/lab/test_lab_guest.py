# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watch program of a node, run on this host."""

from __future__ import annotations

import json
import subprocess
import sys

from ansible_collections.volcano.colocation.tests.lab.paths import GUEST


def test_missing_services_and_pods_are_named() -> None:
    done = subprocess.run(
        [sys.executable, str(GUEST / "watch.py"), "0", "guaranteed,burstable", "kubelet"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    account = json.loads(done.stdout.splitlines()[-1])
    assert account["missing"] == [
        "containerd answers",
        "container images are imported",
        "kubelet is healthy",
        "pod guaranteed",
        "pod burstable",
    ]
    assert account["containers"] == []
    assert account["refused"] is False
    assert len(account["boot_id"]) == 36
