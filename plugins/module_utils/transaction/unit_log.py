# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a unit's log that say why it failed."""

from __future__ import annotations

import re

from ..host import Host
from ..token_shapes import SIGNATURES, VENDORS

LINES = 400
SHOWN = 8
WIDTH = 400

# klog marks errors E and fatal ones F, followed by the date; containerd uses logrus key=value.
TELLING = re.compile(
    r"^[EF][0-9]{4} |level=(error|fatal)|Main process exited"
    r"|\b(fatal|panic|failed|cannot|error|invalid|unknown flag)\b",
    re.IGNORECASE,
)
KLOG_PREFIX = re.compile(r"^[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ ")
SECRET = re.compile(r"(?i)((?:token|password|passwd|secret|authorization|bearer|api-?key)[\"']?\s*[:= ]\s*)(\S+)")
# A run of base64 that is longer than any path component or container id, such as a key or a certificate.
OPAQUE = re.compile(r"[A-Za-z0-9+=_-]{80,}")
TOKEN = re.compile(VENDORS + "|" + SIGNATURES)
MASK = "********"


def mask(line: str) -> str:
    """``line`` without what looks like a credential."""
    return TOKEN.sub(MASK, OPAQUE.sub(MASK, SECRET.sub(lambda found: found.group(1) + MASK, line)))


def telling_lines(text: str) -> list[str]:
    """The last lines that speak of a failure, each once, masked and shortened."""
    lines: list[str] = []
    seen = set()
    for line in reversed(text.splitlines()):
        core = KLOG_PREFIX.sub("", line.strip())
        if TELLING.search(line) and core not in seen:
            seen.add(core)
            lines.insert(0, mask(core)[:WIDTH])
        if len(lines) == SHOWN:
            break
    return lines


def explain(host: Host, unit: str, since: float) -> str:
    """What the unit's log says of a failure since ``since`` (seconds since 1970), as text to append; may be empty."""
    span = ["--since", f"@{int(since)}", "--lines", str(LINES)]
    argv = ["journalctl", "--unit", unit, *span, "--output", "cat", "--no-pager", "--quiet"]
    answer = host.run(argv, timeout=30.0)
    lines = telling_lines(answer.stdout) if answer.rc == 0 else []
    if not lines:
        return ""
    return f". The log of {unit} says: {' | '.join(lines)}"
