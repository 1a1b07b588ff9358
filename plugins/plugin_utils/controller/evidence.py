# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of what a node or a file says of itself, before anything is read from it; errors name that source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from ..facts.model import NodeFacts
from ..facts.node import SnapshotError, interpret, require_sections
from ..facts.shape import NOTHING, NUMBER, SWITCH, TEXT, first_difference, misshapen
from ..profile_error import ProfileError

_TRANSACTION: dict[str, Any] = {
    "state": TEXT,
    "id": TEXT,
    "?step": TEXT,
    "?steps": [{"status": TEXT}],
    "?gate": [{"check": TEXT, "detail": TEXT, "status": TEXT}],
    "?error": ({"?step": TEXT, "?message": TEXT, "?node": TEXT}, None),
    "?recovered": ({"id": TEXT, "state": TEXT, "?at_boot": SWITCH, "?to_prove": [TEXT]}, None),
    "?limit": NUMBER,
}
_NONE = {"state": TEXT, "?id": TEXT + NOTHING}
"""The answer when there is no transaction."""


def checked_snapshot(document: Any, source: str) -> dict[str, Any]:
    """A snapshot document whose shape is right; SnapshotError that begins with ``source`` for any other."""
    if not isinstance(document, dict):
        raise SnapshotError(f"{source}: not a snapshot document")
    with reading(source, "snapshot"):
        require_sections(document)
    wrong = misshapen(document)
    if wrong:
        raise SnapshotError(f"{source}: {wrong}")
    return document


def transaction_defect(answer: Any) -> str | None:
    """The first place where a node's answer about a transaction has the wrong shape; None for the right one."""
    is_none = isinstance(answer, Mapping) and answer.get("state") == "none"
    wrong = first_difference(answer, _NONE if is_none else _TRANSACTION)
    recovered = None if wrong or is_none else answer.get("recovered")
    if recovered and recovered.get("at_boot") and "to_prove" not in recovered:
        return "recovered lacks to_prove"
    return wrong


def interpreted(source: str, snapshot: Mapping[str, Any]) -> NodeFacts:
    """The facts of a live node's snapshot; SnapshotError that begins with ``source`` when it cannot be read."""
    with reading(source, "snapshot"):
        return interpret(snapshot)


@contextmanager
def reading(source: str, kind: str) -> Iterator[None]:
    """Turns whatever is raised while a document is read into a SnapshotError that names ``source`` and the place."""
    try:
        yield
    except ProfileError:
        raise
    except SnapshotError as error:
        raise SnapshotError(f"{source}: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        # The shape table knows what every snapshot has; other errors of its shape are found here, when it is read.
        cause = f"{type(error).__name__}: {error}"
        subject = _subject(error.__traceback__)
        raise SnapshotError(f"{source}: not a {kind} that can be read: {cause}, {subject}") from error


def _subject(trace: TracebackType | None) -> str:
    """Which part of a node was being read: our files are named after them."""
    name = "document"
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        name = path.stem if path.parent.name in ("facts", "rules", "plan") else name
        trace = trace.tb_next
    return f"reading its {name}"
