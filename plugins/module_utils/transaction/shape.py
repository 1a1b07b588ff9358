# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands where in the documents that we keep on a node: they are held against it before anybody acts on them."""

from __future__ import annotations

import re
from typing import Any, Iterator

from .nature import HEXADECIMAL
from .plan import ID, SECTIONS, SHA256
from .section import PlanError, absolute

NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]*\Z")
LARGEST_ID = (1 << 32) - 2
ANY = "*"
"""Stands for every key."""


def path(value: Any) -> bool:
    """An absolute path without . and .. in it."""
    try:
        absolute(value, "")
    except PlanError:
        return False
    return True


def text(value: Any) -> bool:
    return isinstance(value, str)


def switch(value: Any) -> bool:
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
    return isinstance(value, int) and not switch(value) and value >= 0


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
    "kubelet_runs": switch,
    "runtime_runs": switch,
    "kubelet_healthy": switch,
    "pods": {ANY: _count},
    "?ended": [text],
    "?nri_plugins": _count,
    "?healthz": {"demanded": switch, "reason": text},
    "?node": {"ready": switch, "reason": text},
}
STEP = {"name": text, "status": text, "seconds": _anything, "detail": text}
ERROR = {"step": text, "message": text, "node": text}


def wrong(found: Any, shape: Any, place: str = "") -> str:
    """The first place where a document is not of its shape, empty for none.

    A shape is a test, a list of one shape, a mapping of shapes whose keys may begin with ``?`` (may be missing), or
    (shape, None) for that or nothing.
    """
    return next(_differences(found, shape, place), "")


def _differences(found: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, tuple):
        if found is not None:
            yield from _differences(found, shape[0], place)
    elif isinstance(shape, list):
        if not isinstance(found, list):
            yield place
            return
        for number, each in enumerate(found):
            yield from _differences(each, shape[0], f"{place}[{number}]")
    elif isinstance(shape, dict):
        yield from _entries(found, shape, place)
    elif not shape(found):
        yield place


def _entries(found: Any, shape: dict[str, Any], place: str) -> Iterator[str]:
    if not isinstance(found, dict):
        yield place or "the document"
        return
    for key, inner in shape.items():
        name = key.lstrip("?")
        if key == ANY:
            for each, value in found.items():
                yield from _differences(value, inner, _below(place, each))
        elif name in found:
            yield from _differences(found[name], inner, _below(place, name))
        elif name == key:
            yield _below(place, name)


def _below(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
