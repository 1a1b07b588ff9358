# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules of every subject read and quote: kubelet's values in force, claims of sources, other writers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.kubelet_layers import render_value
from ..facts.node_state import NodeFacts


def value(facts: NodeFacts, key: str) -> Any:
    """A field's value in force, its default included; None where neither speaks."""
    setting = facts.kubelet.settings.get(key)
    return setting.value if setting else None


def quote_value(facts: NodeFacts, key: str) -> str:
    """A field's value in force and who gives it, as evidence."""
    setting = facts.kubelet.settings.get(key)
    return f"{key} = {render_value(setting.value)} ({setting.source})" if setting else f"{key} is not set"


def table(facts: NodeFacts, key: str) -> dict[str, object]:
    """A field that is a table; empty where it is none."""
    found = value(facts, key)
    return {str(name): each for name, each in found.items()} if isinstance(found, Mapping) else {}


def is_true(found: Any) -> bool:
    """A switch of YAML or of the command line, Go's strconv.ParseBool."""
    return render_value(found) in ("1", "t", "T", "true", "True", "TRUE")


def text_list(found: Any) -> tuple[str, ...]:
    """A list of texts; empty for what is none."""
    return tuple(map(str, found)) if isinstance(found, (list, tuple)) else ()


def quote_claims(facts: NodeFacts, *prefixes: str) -> tuple[str, ...]:
    """What each source says of the settings that begin with one of ``prefixes``."""
    return tuple(
        f"{claim.setting} = {claim.value} ({claim.source})"
        for claim in facts.claims
        if claim.setting.startswith(prefixes)
    )


def quote_writers(facts: NodeFacts, *names: str) -> tuple[str, ...]:
    """Which of these writers were seen, and by what."""
    return tuple(f"{name}: {facts.writers.evidence[name]}" for name in names if name in facts.writers.evidence)
