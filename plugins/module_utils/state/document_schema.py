# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemas of the documents that the collection stores on a node, which are validated before they are used."""

from __future__ import annotations

import re
from typing import Any

from .document_reader import HEXADECIMAL, PlanError, require_absolute
from .plan_document import ID, SECTIONS, SHA256

NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]*\Z")
LARGEST_ID = (1 << 32) - 2
ANY = "*"
"""Matches every key."""


def path(value: Any) -> bool:
    """An absolute path without ``.`` and ``..``."""
    try:
        require_absolute(value, "")
    except PlanError:
        return False
    return True


def text(value: Any) -> bool:
    return isinstance(value, str)


def boolean(value: Any) -> bool:
    return isinstance(value, bool)


def transaction(value: Any) -> bool:
    return text(value) and ID.match(value) is not None


def section(value: Any) -> bool:
    return value in SECTIONS


def _name(value: Any) -> bool:
    """A file name without a directory, or None."""
    return value is None or (text(value) and NAME.match(value) is not None)


def _sha256(value: Any) -> bool:
    return value is None or (text(value) and SHA256.match(value) is not None)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not boolean(value) and value >= 0


def _mode(value: Any) -> bool:
    return _count(value) and value <= 0o7777


def _owner(value: Any) -> bool:
    return _count(value) and value <= LARGEST_ID


def _hexadecimal(value: Any) -> bool:
    return text(value) and HEXADECIMAL.match(value) is not None


def _anything(_value: Any) -> bool:
    return True


SAVED = {
    "path": path,
    "backup": _name,
    "sha256": _sha256,
    "mode": _mode,
    "uid": _owner,
    "gid": _owner,
    "xattrs": {ANY: _hexadecimal},
    "folders": [path],
}
"""The saved state of a path: files.Saved."""

BEFORE = {
    "kubelet_runs": boolean,
    "runtime_runs": boolean,
    "kubelet_healthy": boolean,
    "pods": {ANY: _count},
    "?ended": [text],
    "?nri_plugins": _count,
    "?healthz": {"demanded": boolean, "reason": text},
    "?node": {"ready": boolean, "reason": text},
}
STEP = {"name": text, "status": text, "seconds": _anything, "detail": text}
ERROR = {"step": text, "message": text, "node": text}


def find_mismatch(value: Any, shape: Any) -> str:
    """The first place where a document does not match a shape, empty if it matches.

    A shape is a predicate, a list with the shape of its items, a mapping of shapes (``?`` marks an optional key), or
    ``(shape, None)`` for a value that may be null.
    """
    place = _difference(value, shape)
    return "" if place is None else place.lstrip(".") or "the document"


def _difference(value: Any, shape: Any) -> str | None:
    """The place of the mismatch relative to this value, empty for the value itself; None if it matches."""
    if isinstance(shape, dict):
        return _mapping_difference(value, shape)
    if isinstance(shape, list):
        return _list_difference(value, shape[0])
    if isinstance(shape, tuple):
        return None if value is None else _difference(value, shape[0])
    return None if shape(value) else ""


def _list_difference(value: Any, shape: Any) -> str | None:
    if not isinstance(value, list):
        return ""
    for number, item in enumerate(value):
        below = _difference(item, shape)
        if below is not None:
            return f"[{number}]{below}"
    return None


def _mapping_difference(value: Any, shape: dict[str, Any]) -> str | None:
    if not isinstance(value, dict):
        return ""
    for key, inner in shape.items():
        name = key.lstrip("?")
        entries = value.items() if key == ANY else [(name, value[name])] if name in value else []
        if not entries and name == key != ANY:
            return f".{name}"
        for entry, content in entries:
            below = _difference(content, inner)
            if below is not None:
                return f".{entry}{below}"
    return None
