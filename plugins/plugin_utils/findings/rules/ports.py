# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the ports that kubelet opens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import READ_ONLY_PORT
from ..kubelet_values import told, value
from ..model import Effect, Finding, Rule, Severity

_PORT = re.compile(r"[1-9][0-9]{0,4}")


def read_only_port_open(facts: NodeFacts) -> Iterator[Finding]:
    """pkg/kubelet/server: InstallDefaultHandlers without authentication, on every address that kubelet listens on."""
    port = str(value(facts, READ_ONLY_PORT.key))
    if _PORT.fullmatch(port):
        yield Finding(
            "read-only-port-open",
            Severity.WARNING,
            Effect.NONE,
            f"kubelet's read-only port {port} shows everyone its pods with their environment variables.",
            (told(facts, READ_ONLY_PORT.key),),
            "Set readOnlyPort: 0 where no agent needs it; otherwise let a firewall keep it to the node.",
        )


RULES: tuple[Rule, ...] = (read_only_port_open,)
