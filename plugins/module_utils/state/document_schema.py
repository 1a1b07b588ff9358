# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands where in the documents that we keep on a node: they are held against it before anybody acts on them."""

from __future__ import annotations

import re
from typing import Any

from .document_reader import HEXADECIMAL, PlanError, require_absolute
from .plan_document import ID, SECTIONS, SHA256

NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]*\Z")
LARGEST_ID = (1 << 32) - 2
ANY = "*"
"""Stands for every key."""


def path(value: Any) -> bool:
    """An absolute path without . and .. in it."""
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
    """The name of a file in the folder that it belongs to."""
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
"""A path as it was: files.Saved."""

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


def find_mismatch(found: Any, shape: Any) -> str:
    """The first place where a document is not of its shape, empty for none.

    A shape is a test, a list of one shape, a mapping of shapes whose keys may begin with ``?`` (may be missing), or
    (shape, None) for that or nothing.
    """
    place = _difference(found, shape)
    return "" if place is None else place.lstrip(".") or "the document"


def _difference(found: Any, shape: Any) -> str | None:
    """The place below this one, empty for this one itself; None where all is of its shape."""
    if isinstance(shape, dict):
        return _of_mapping(found, shape)
    if isinstance(shape, list):
        return _of_list(found, shape[0])
    if isinstance(shape, tuple):
        return None if found is None else _difference(found, shape[0])
    return None if shape(found) else ""


def _of_list(found: Any, shape: Any) -> str | None:
    if not isinstance(found, list):
        return ""
    for number, each in enumerate(found):
        below = _difference(each, shape)
        if below is not None:
            return f"[{number}]{below}"
    return None


def _of_mapping(found: Any, shape: dict[str, Any]) -> str | None:
    if not isinstance(found, dict):
        return ""
    for key, inner in shape.items():
        name = key.lstrip("?")
        entries = found.items() if key == ANY else [(name, found[name])] if name in found else []
        if not entries and name == key != ANY:
            return f".{name}"
        for each, value in entries:
            below = _difference(value, inner)
            if below is not None:
                return f".{each}{below}"
    return None
