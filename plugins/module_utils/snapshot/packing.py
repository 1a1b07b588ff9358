# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshot in transit to the controller: one compressed line, so that ``-vvv`` does not show file texts."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, Mapping

from ..errors import ColocationError

SIZE_LIMIT = 1 << 24
"""Bytes of JSON. A node with 110 pods needs less than a twentieth of them. The largest set of kubelet's files (4 MiB)
and containerd's (2 MiB) fits too. Parsing the worst document of this size took 476 MiB and 1.7 s."""
TOO_LARGE = (
    "Look on the node at what is unusually large: kubelet's or the runtime's configuration files and directories, or"
    " the number of mounts and processes. If nothing is, do not trust the data from this node"
)


class NotUnpacked(ColocationError):
    """The input is not from ``pack``. The message continues a sentence that begins with the packed value's name."""


def pack(snapshot: Mapping[str, Any]) -> str:
    """zlib-compressed JSON in base64. Compressed, not encrypted: anyone who can read the connection can read it."""
    document = json.dumps(snapshot, separators=(",", ":"))
    return base64.b64encode(zlib.compress(document.encode("ascii"))).decode("ascii")


def unpack(text: Any) -> Any:
    """The packed value, as plain builtins; NotUnpacked when ``text`` is truncated, too large or not a packed value."""
    if not isinstance(text, str):
        raise NotUnpacked("arrived as %s, not as a string" % type(text).__name__, "Run this again")
    try:
        return json.loads(_decompress(base64.b64decode(text, validate=True)).decode("ascii"))
    except (ValueError, zlib.error, RecursionError) as error:
        raise NotUnpacked("did not arrive whole", "Run this again") from error


def _decompress(packed: bytes) -> bytes:
    """At most ``SIZE_LIMIT`` bytes; a longer stream is decompressed only to one byte beyond it."""
    stream = zlib.decompressobj()
    content = stream.decompress(packed, SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        raise NotUnpacked("has more than %d bytes when decompressed, which is the limit" % SIZE_LIMIT, TOO_LARGE)
    if not stream.eof or stream.unused_data:
        raise ValueError("its compressed data are not one whole stream")
    return content
