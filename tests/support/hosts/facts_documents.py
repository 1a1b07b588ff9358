# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a snapshot to the published document, as node_facts does it for a node without a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.profile_comparison import assess


def facts_document(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The published facts of a snapshot."""
    return assess(snapshot, {})
