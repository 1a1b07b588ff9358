# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that the Volcano agent, its API objects and this collection give things.

Sources: volcano pkg/agent/apis/types.go, pkg/agent/config/utils/utils.go, installer/helm/chart/volcano.
"""

from __future__ import annotations

NAME = "volcano-agent"
ACCOUNT = "volcano-colocation-agent"
"""The ServiceAccount and its roles. Upstream's chart calls its own volcano-agent, and keeps them."""
CONFIG_MAP, KEY = "volcano-agent-configuration", "colocation-config"

POOL = "colocation.volcano.sh/pool"
"""Our label of Nodes, DaemonSets and pods. Its prefix is not volcano.sh, whose keys the agent reads and writes."""
APPLIED = "colocation.volcano.sh/applied"
"""Annotation of our objects with what was applied last."""
OWNER_LABEL, OWNER = "app.kubernetes.io/managed-by", "volcano.colocation"
APP_LABEL = "app.kubernetes.io/name"

COLOCATION, OVERSUBSCRIPTION = "volcano.sh/colocation", "volcano.sh/oversubscription"
"""Labels of Nodes that turn the agent on there."""

TAINT = "volcano.sh/offline-job-evicting"
REPORTED = (
    TAINT,
    "volcano.sh/oversubscription-types",
    "volcano.sh/oversubscription-cpu",
    "volcano.sh/oversubscription-memory",
)
"""Annotations that an agent leaves on its Node."""
BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"

CNI_PLUGINS = "/opt/cni/bin"
