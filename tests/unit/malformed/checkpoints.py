# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged checkpoints of kubelet: kubelet does not start with them, so they are moved if the policy changes."""

from __future__ import annotations

CPU, MEMORY = "var/lib/kubelet/cpu_manager_state", "var/lib/kubelet/memory_manager_state"

TEXTS: dict[str, str | bytes] = {
    "empty": "",
    "bytes": bytes(range(256)),
    "cut off": '{"policyName": "none", "defau',
    "a list": "[]",
    "a word": '"none"',
    "lists without end": "[" * 100_000,
    "no policy": '{"checksum": 5}',
    "policy is a number": '{"policyName": 5}',
    "policy of half a character": '{"policyName": "\\ud800", "checksum": 3}',
    "CPUs are a number": '{"policyName": "none", "defaultCpuSet": 5}',
    "CPUs without end": '{"policyName": "none", "defaultCpuSet": "0-99999999999"}',
    "entries are a list": '{"policyName": "none", "entries": [1]}',
    "entries are deeper": '{"policyName": "none", "entries": {"a": {"b": {}}}}',
    "checksum is a word": '{"policyName": "none", "checksum": "x"}',
    "checksum without bound": '{"policyName": "none", "checksum": 1e999}',
    "checksum of 5000 digits": '{"policyName": "none", "checksum": 1%s}' % ("0" * 5000),
}
