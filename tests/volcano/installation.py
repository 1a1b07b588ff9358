# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the tests install Volcano: by the role, from upstream's manifest."""

from __future__ import annotations

import hashlib
from typing import Any

from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster


def manifest_variables(cluster: Cluster) -> dict[str, Any]:
    """The role's variables for upstream's manifest."""
    path = cluster.volcano.manifest()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"colocation_volcano_manifest": str(path), "colocation_volcano_manifest_sha256": digest}


def install(cluster: Cluster) -> None:
    """Install Volcano without its webhooks' server, which the lab starts next, and configure the scheduler."""
    run = cluster.play("install", **manifest_variables(cluster))
    assert run.code == 0, run.output
