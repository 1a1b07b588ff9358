# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specification of manifest_apply; a test holds it against the documentation."""

from __future__ import annotations

from ..profile.argspec import Spec

MANIFEST_APPLY: Spec = {
    "kubeconfig": {"type": "path", "required": True},
    "cluster_uid": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "manifest": {"type": "path"},
    "sha256": {"type": "str", "default": ""},
    "namespace": {"type": "str", "default": ""},
    "registry": {"type": "str", "default": ""},
    "allow_unpinned": {"type": "bool", "default": False},
    "adopt": {"type": "bool", "default": False},
    "timeout": {"type": "int", "default": 300},
    "remove_crds": {"type": "bool", "default": False},
    "remove_in_use": {"type": "bool", "default": False},
}
