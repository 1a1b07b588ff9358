# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet's files say of a field: a hint where to look on the node. They are read on the controller."""

from __future__ import annotations

import json
import re
from typing import Any

_VALUE = r"[ \t]*:[ \t]*[\"']?([^\"'#\s,}]+)"


def hints(text: str, *names: str, indent: str = r"[ \t]*") -> list[tuple[str, str]]:
    """(name, value) of each of these fields of the top level that has a plain value, in JSON or YAML.

    A key of YAML is taken for a field wherever its line begins with ``indent``: a node has no YAML library.
    """
    document = _json(text)
    if document is not None:
        found = [(name, document.get(name)) for name in names]
        return [(name, str(value)) for name, value in found if isinstance(value, (str, int)) and value != ""]
    pattern = r"^%s[\"']?(%s)[\"']?%s" % (indent, "|".join(map(re.escape, names)), _VALUE)
    return [(each[0], each[1]) for each in re.findall(pattern, text, re.MULTILINE)]


def _json(text: str) -> dict[str, Any] | None:
    """The object of a JSON text; None for any other text."""
    body = text.lstrip("\ufeff \t\r\n")
    if not body.startswith("{"):
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
