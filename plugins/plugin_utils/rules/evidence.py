# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules read and quote as evidence: kubelet's effective values, claims of sources, other writers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.kubelet_layers import render_value
from ..facts.node_state import NodeFacts
from ..releases.kubelet_features import parse_bool


def value(facts: NodeFacts, key: str) -> Any:
    """A field's effective value, its default included; None if it has neither."""
    setting = facts.kubelet.settings.get(key)
    return setting.value if setting else None


def quote_value(facts: NodeFacts, key: str) -> str:
    """A field's effective value and its source, as evidence."""
    setting = facts.kubelet.settings.get(key)
    return f"{key} = {render_value(setting.value)} ({setting.source})" if setting else f"{key} is not set"


def table(facts: NodeFacts, key: str) -> dict[str, object]:
    """A field whose value is a table; empty for any other value."""
    fields = value(facts, key)
    return {str(name): field for name, field in fields.items()} if isinstance(fields, Mapping) else {}


def is_true(switch: Any) -> bool:
    """Whether a boolean of YAML or of the command line is true."""
    return parse_bool(switch) is True


def text_list(items: Any) -> tuple[str, ...]:
    """A list of strings; empty for any other value."""
    return tuple(map(str, items)) if isinstance(items, (list, tuple)) else ()


def quote_claims(facts: NodeFacts, *prefixes: str) -> tuple[str, ...]:
    """Each source's value of the settings that begin with one of ``prefixes``."""
    return tuple(
        f"{claim.setting} = {claim.value} ({claim.source})"
        for claim in facts.claims
        if claim.setting.startswith(prefixes)
    )


def quote_writers(facts: NodeFacts, *names: str) -> tuple[str, ...]:
    """Those of the named writers that the node has, each with its evidence."""
    return tuple(f"{name}: {facts.writers.evidence[name]}" for name in names if name in facts.writers.evidence)
