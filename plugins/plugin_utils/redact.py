# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets leave neither node nor controller: texts are redacted wherever a person can see them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MARK = "REDACTED"
_SECRET_KEY = re.compile(
    r"pass(?:word|wd|phrase)?$|secret|token|(?<!un)auth$|authorization|credential|api[-_]?key|private[-_]?key|header",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    r"""(?P<lead>\s*(?:-\s+)?)(?P<quote>["']?)(?P<key>[\w./-]+)(?P=quote)(?P<mid>\s*[:=]\s*)(?P<value>.*?)(?P<end>\r?)$"""
)
_URL_PASSWORD = re.compile(r"(?<=://)[^/\s:@\"']+:[^/\s@\"']+(?=@)")
_TABLE_HEADER = re.compile(r"\s*\[\[?(?P<name>[^\]]+)\]\]?")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _redact_line(line: str) -> str:
    found = _ASSIGNMENT.match(line)
    if found and _SECRET_KEY.search(found["key"]) and found["value"] not in ("", "{}", "[]", "|", ">", "true", "false"):
        line = f"{line[: found.start('value')]}{MARK}{found['end']}"
    return _URL_PASSWORD.sub(MARK, line)


class _Block:
    """Lines below a secret key: deeper ones in YAML, those up to the end of a PEM block or of a TOML table."""

    def __init__(self) -> None:
        self.indent: int | None = None
        self.pem = False
        self.table = False

    def covers(self, line: str) -> bool:
        stripped = line.strip()
        if self.pem:
            self.pem = "-----END" not in line
            return True
        if "-----BEGIN" in line:
            self.pem = "-----END" not in line
            return True
        header = _TABLE_HEADER.fullmatch(line.rstrip())
        if header:
            self.table = bool(_SECRET_KEY.search(header["name"].replace('"', "").split(".")[-1]))
            self.indent = None
            return False
        if self.indent is not None and stripped and _indent(line) <= self.indent and not stripped.startswith("- "):
            self.indent = None
        return bool(stripped) and (self.indent is not None or (self.table and "=" in line))

    def enter(self, line: str) -> None:
        found = _ASSIGNMENT.match(line)
        if found and ":" in found["mid"] and _SECRET_KEY.search(found["key"]) and found["value"] in ("", "|", ">"):
            self.indent = _indent(line)


def redact_text(text: str) -> str:
    """A configuration text with the values of secret-looking keys, URL passwords and PEM blocks replaced."""
    block = _Block()
    lines = []
    for line in text.split("\n"):
        if block.covers(line):
            lines.append(" " * _indent(line) + MARK + ("\r" if line.endswith("\r") else ""))
            continue
        block.enter(line)
        lines.append(_redact_line(line))
    return "\n".join(lines)


def redact_argv(argv: list[str]) -> list[str]:
    """A command line with the values of secret-looking options replaced, in both forms."""
    shown: list[str] = []
    for position, word in enumerate(argv):
        name, equals, _value = word.partition("=")
        previous = argv[position - 1] if position else ""
        if equals and _SECRET_KEY.search(name):
            word = f"{name}={MARK}"
        elif previous.startswith("-") and "=" not in previous and _SECRET_KEY.search(previous):
            word = MARK
        shown.append(_URL_PASSWORD.sub(MARK, word))
    return shown


def redact_snapshot(value: Any, key: str = "") -> Any:
    """A snapshot that can be shown or kept: every text and command line in it redacted, its shape unchanged."""
    if isinstance(value, Mapping):
        return {name: redact_snapshot(each, str(name)) for name, each in value.items()}
    if key == "argv":
        return redact_argv(list(value))
    if isinstance(value, list):
        return [redact_snapshot(each) for each in value]
    if key in ("text", "kernel_command_line") and isinstance(value, str):
        return redact_text(value)
    return value
