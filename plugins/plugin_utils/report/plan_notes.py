# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader must know about a plan before it is applied, beside its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

PORT = "read_only_port"


class PlanNote(NamedTuple):
    """``label``: the name of the row in a node's report. ``common``: the text for many nodes, without their details."""

    label: str
    text: str
    common: str


def plan_notes(observed: Mapping[str, Any], *, is_preview: bool) -> Iterator[PlanNote]:
    """The notes of a result of node_align in check mode. ``is_preview``: the run itself is in check mode."""
    plan = observed["plan"]
    permission = plan["permission"]
    if permission and is_preview:
        lead, remedy = "This is a preview. Without --check the node is refused", permission["remedy"]
        yield PlanNote("permission", f"{lead}: {permission['message']}. {remedy}", f"{lead}. {remedy}")
    for option in observed["facts"]["profile"]["options"]:
        if option["option"] == PORT and option["value"]:
            port = f"readOnlyPort {option['value']}"
            yield _note("warning", f"{port} will serve everyone who can reach the node, without authentication.")
    yield from (_note("pending", change["message"]) for change in plan["pending"])
    yield from (_note("skipped", skip["message"]) for skip in plan["unsupported"])


def _note(label: str, text: str) -> PlanNote:
    return PlanNote(label, text, text)
