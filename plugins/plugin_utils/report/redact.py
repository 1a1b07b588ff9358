# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts, command lines and whole snapshots as people may see them: what looks secret is replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .secrets import MARK, PASSWORD_FLAG, REACH, is_password, is_public_value, is_secret_name, without_tokens

_ASSIGNS = re.compile(r"[\s=:]")

__all__ = ("MARK", "redact_argv", "redact_snapshot", "redact_text")


def redact_text(text: str) -> str:
    """A text of any format, line for line, without secret values, PEM blocks, known tokens and passwords in URLs."""
    # Only here: Ansible compiles what a plugin imports anew in every run, and most runs redact no text.
    from .redact_lines import LineRedactor
    from .secrets import Hints

    redactor, hints = LineRedactor(), Hints.of(text)
    lines, start = [], 0
    for line in text.split("\n"):
        body = line.rstrip("\r")
        shown = body if redactor.at_rest and start not in hints.names else redactor.line(body)
        lines.append((without_tokens(shown) if start in hints.tokens else shown) + line[len(body) :])
        start += len(line) + 1
    return "\n".join(lines)


def redact_argv(argv: Sequence[str]) -> list[str]:
    """A command line with the values of secret-looking options replaced, in both forms."""
    shown: list[str] = []
    value_follows = False
    for position, word in enumerate(argv):
        name, equals, value = word.partition("=")
        secret = is_secret_name(name)
        if name == PASSWORD_FLAG:
            secret = is_password(
                " ".join(argv[max(0, position - REACH) : position]),
                value or " ".join(argv[position + 1 : position + 2]),
            )
        if value_follows and not word.startswith("-"):
            shown.append(word if is_public_value(word) else MARK)
        elif secret and equals:
            shown.append(word if is_public_value(value) else f"{name}={MARK}")
        else:
            shown.append(_redact_word(word))
        value_follows = secret and not equals and word.startswith("-")
    return shown


def _redact_word(word: str) -> str:
    inner = word.replace('"', " ").replace("'", " ").replace("=", " ").replace(":", " ").split()
    is_text = any(each == PASSWORD_FLAG or is_secret_name(each) for each in inner) or "-----BEGIN " in word
    return redact_text(word) if is_text else without_tokens(word)


def redact_snapshot(value: Any, key: str = "") -> Any:
    """A snapshot that can be shown or kept. Its shape is unchanged, and what it does not know it takes for a text."""
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, (list, tuple)):
        if key == "argv" or _is_command_line(value):
            return redact_argv([str(each) for each in value])
        return [redact_snapshot(each) for each in value]
    if not isinstance(value, str):
        return value
    if key == "kernel_command_line":
        return _redact_kernel_line(value)
    # A single word assigns nothing, and a snapshot has a thousand of them.
    return redact_text(value) if key == "text" or _ASSIGNS.search(value) else without_tokens(value)


def _redact_kernel_line(line: str) -> str:
    """Its words end at spaces outside of double quotes, lib/cmdline.c."""
    words = re.findall(r'(?:[^\s"]|"[^"]*"?)+', line)
    return " ".join(redact_argv(words))


def _is_command_line(value: Sequence[Any]) -> bool:
    return all(isinstance(each, str) for each in value) and any(each.startswith("-") for each in value)


def _redact_mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    shown = {}
    for name, each in value.items():
        text = str(name)
        shown[without_tokens(text)] = _hide(each) if _is_secret(text, value) else redact_snapshot(each, text)
    if "sha256" in shown and shown.get("text") != value.get("text"):
        # Who knows the rest of a file could find a short secret by its hash.
        shown["sha256"] = MARK
    return shown


def _is_secret(name: str, siblings: Mapping[Any, Any]) -> bool:
    """Whether an entry of a mapping is secret by its name, or by the name beside a ``value``."""
    if name == "value":
        return is_secret_name(str(siblings.get("name") or siblings.get("key") or ""))
    # A path is the name of a file, which may well be called token.conf and hold evidence.
    is_group = name == "authorization" and isinstance(siblings[name], Mapping)
    return "/" not in name and is_secret_name(name) and not is_group


def _hide(value: Any) -> Any:
    """A secret of any shape: every text and number in it replaced, switches kept."""
    if isinstance(value, Mapping):
        return {name: _hide(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hide(each) for each in value]
    if value is None or isinstance(value, bool) or is_public_value(str(value)):
        return value
    return MARK
