# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence that rules quote, in the words of the claims."""

from __future__ import annotations

from ..facts.node_state import NodeFacts


def claims(facts: NodeFacts, *prefixes: str) -> tuple[str, ...]:
    """What each source says of the settings that begin with one of ``prefixes``."""
    return tuple(
        f"{claim.setting} = {claim.value} ({claim.source})"
        for claim in facts.claims
        if claim.setting.startswith(prefixes)
    )


def seen(facts: NodeFacts, *names: str) -> tuple[str, ...]:
    """Which of these writers were seen, and by what."""
    return tuple(f"{name}: {facts.writers.seen[name]}" for name in names if name in facts.writers.seen)
