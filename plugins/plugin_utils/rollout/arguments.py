# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specifications of the rollout's modules. Each is a value; a test holds it against the documentation."""

from __future__ import annotations

from ..profile.argspec import Spec

API_SERVER: Spec = {
    "kubeconfig": {"type": "path"},
    "bare_pods": {"type": "str", "choices": ["refuse", "evict"], "default": "refuse"},
    "empty_dir": {"type": "str", "choices": ["refuse", "evict"], "default": "refuse"},
}

NODE_DRAIN: Spec = {
    **API_SERVER,
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["drained", "uncordoned"], "required": True},
    "timeout": {"type": "int", "default": 600},
}

ROLLOUT_OUTLOOK: Spec = {
    **API_SERVER,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "batches": {"type": "list", "elements": "str", "default": ["1"]},
}

ROLLOUT_TABLE: Spec = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "failed": {"type": "dict", "default": {}},
}
