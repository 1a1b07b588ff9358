# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshot on its way to the controller: one short line, so that ``-vvv`` shows nobody the files in it."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, Mapping

from ..errors import ColocationError


class NotPacked(ColocationError):
    """A text that ``pack`` did not make."""


def pack(snapshot: Mapping[str, Any]) -> str:
    """zlib-compressed JSON in base64. Compressed, not encrypted: whoever can read the connection can read it."""
    document = json.dumps(snapshot, separators=(",", ":"))
    return base64.b64encode(zlib.compress(document.encode("ascii"))).decode("ascii")


def unpack(text: str) -> Any:
    """What was packed, made of plain builtins; NotPacked when ``text`` was cut or is something else."""
    try:
        return json.loads(zlib.decompress(base64.b64decode(text, validate=True)).decode("ascii"))
    except (ValueError, zlib.error) as error:
        raise NotPacked("the node's snapshot did not arrive whole: %s" % error, "Run this again") from error
