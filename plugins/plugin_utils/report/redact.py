# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redaction of texts, command lines and whole snapshots: values that look secret are replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .secrets import MARK, PASSWORD_FLAG, REACH, is_password, is_public_value, is_secret_name, without_tokens

_ASSIGNS = re.compile(r"[\s=:]")

__all__ = ("MARK", "redact_argv", "redact_snapshot", "redact_text")


def redact_text(text: str) -> str:
    """A text of any format, line by line, without secret values, PEM blocks, known tokens and passwords in URLs."""
    # Imported here: Ansible compiles imports again in every run, and most runs redact no text.
    from .redact_lines import LineRedactor
    from .secrets import Hints

    redactor, hints = LineRedactor(), Hints.of(text)
    lines, start = [], 0
    for line in text.split("\n"):
        body = line.rstrip("\r")
        redacted = body if redactor.at_rest and start not in hints.names else redactor.line(body)
        lines.append((without_tokens(redacted) if start in hints.tokens else redacted) + line[len(body) :])
        start += len(line) + 1
    return "\n".join(lines)


def redact_argv(argv: Sequence[str]) -> list[str]:
    """A command line with the values of secret options replaced: ``--name=value`` and ``--name value``."""
    words: list[str] = []
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
            words.append(word if is_public_value(word) else MARK)
        elif secret and equals:
            words.append(word if is_public_value(value) else f"{name}={MARK}")
        else:
            words.append(_redact_word(word))
        value_follows = secret and not equals and word.startswith("-")
    return words


def _redact_word(word: str) -> str:
    inner = word.replace('"', " ").replace("'", " ").replace("=", " ").replace(":", " ").split()
    is_text = any(part == PASSWORD_FLAG or is_secret_name(part) for part in inner) or "-----BEGIN " in word
    return redact_text(word) if is_text else without_tokens(word)


def redact_snapshot(value: Any, key: str = "") -> Any:
    """A snapshot that can be printed or saved. Its structure is unchanged; unknown values are treated as texts."""
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, (list, tuple)):
        if key == "argv" or _is_command_line(value):
            return redact_argv([str(word) for word in value])
        return [redact_snapshot(item) for item in value]
    if not isinstance(value, str):
        return value
    if key == "kernel_command_line":
        return _redact_kernel_line(value)
    # A single word has no assignment, and a snapshot has a thousand of them.
    return redact_text(value) if key == "text" or _ASSIGNS.search(value) else without_tokens(value)


def _redact_kernel_line(line: str) -> str:
    """The kernel's words end at spaces outside double quotes, lib/cmdline.c."""
    words = re.findall(r'(?:[^\s"]|"[^"]*"?)+', line)
    return " ".join(redact_argv(words))


def _is_command_line(value: Sequence[Any]) -> bool:
    return all(isinstance(word, str) for word in value) and any(word.startswith("-") for word in value)


def _redact_mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    redacted = {}
    for name, item in value.items():
        text = str(name)
        redacted[without_tokens(text)] = _hide(item) if _is_secret(text, value) else redact_snapshot(item, text)
    if "sha256" in redacted and redacted.get("text") != value.get("text"):
        # The hash and the rest of the file would reveal a short secret.
        redacted["sha256"] = MARK
    return redacted


def _is_secret(name: str, siblings: Mapping[Any, Any]) -> bool:
    """Whether an entry of a mapping is secret by its name, or by the name beside a ``value``."""
    if name == "value":
        return is_secret_name(str(siblings.get("name") or siblings.get("key") or ""))
    # A path is the name of a file, which may be called token.conf and contain evidence.
    is_group = name == "authorization" and isinstance(siblings[name], Mapping)
    return "/" not in name and is_secret_name(name) and not is_group


def _hide(value: Any) -> Any:
    """A secret of any shape with all its texts and numbers replaced; booleans stay."""
    if isinstance(value, Mapping):
        return {name: _hide(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hide(item) for item in value]
    if value is None or isinstance(value, bool) or is_public_value(str(value)):
        return value
    return MARK
