# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that are safe to show: control and direction characters are escaped, tokens are known by their shape.

The shapes serve redaction on the controller and the masking of log lines on the node.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

_ASCII = "\x00-\x08\x0b-\x1f"
_OTHERS = (
    "\x7f-\x9f"  # DEL, and C1: U+009B alone begins an escape sequence
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # direction and invisible characters, Unicode TR36, TR9
    "\u2028\u2029"  # separators of lines and paragraphs
    "\ufff9-\ufffb\U000e0000-\U000e007f"  # annotations and tags
    "\ud800-\udfff"  # bytes that are not UTF-8, as Python keeps them
)
_TEXT = re.compile("[" + _ASCII + _OTHERS + "]")
_LINE = re.compile("[\t\n" + _ASCII + _OTHERS + "]")
_DOCUMENT = re.compile("[" + _OTHERS + "]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LINES = ("before_header", "after_header")
"""Ansible prints these of a diff as one line each."""
_DOCUMENTS = ("snapshot",)
"""A replay reads these; their ASCII control characters stay, which JSON and YAML output escape."""


def printable(text: str) -> str:
    r"""A text of several lines. Newlines and tabs stay; a carriage return is shown as ``\r``, others as ``\x1b``."""
    return _TEXT.sub(_escape, text)


def one_line(text: str) -> str:
    r"""A text that must stay on one line: newlines and tabs are shown as ``\n`` and ``\t``."""
    return _LINE.sub(_escape, text)


def printable_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """A module's result with all its texts, keys included, made printable. Other values and the structure stay."""
    return {
        _substitute(key, _LINE): _escape_nested(value, _DOCUMENT if key in _DOCUMENTS else _TEXT)
        for key, value in result.items()
    }


def _pattern(key: Any, outer: re.Pattern[str]) -> re.Pattern[str]:
    """What is unsafe in the value of a key inside a value."""
    return _LINE if key in _LINES and outer is _TEXT else outer


def _escape_nested(value: Any, unsafe: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return _substitute(value, unsafe)
    if isinstance(value, Mapping):
        return {_substitute(key, _LINE): _escape_nested(each, _pattern(key, unsafe)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escape_nested(each, unsafe) for each in value]
    return value


def _substitute(value: Any, unsafe: re.Pattern[str]) -> Any:
    """Ansible marks texts by types of its own, which stay where nothing has to be escaped; keys may be no texts."""
    return unsafe.sub(_escape, value) if isinstance(value, str) and unsafe.search(value) else value


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # the byte that surrogateescape stands for
    if code > 0xFFFF:
        return "\\U%08x" % code
    return _SHORT.get(character) or ("\\x%02x" if code < 0x100 else "\\u%04x") % code


# docs.gitlab.com/security/tokens, api.slack.com/authentication/token-types, docs.stripe.com/keys
VENDORS = (
    r"(?<![A-Za-z0-9])(?:"
    r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w.-]{16,}"
    r"|xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-\d-[\w-]{10,}"
    r"|AIza[\w-]{20,}|(?:npm|hf)_[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{10,})"
)
# Signatures of URLs: Azure's SAS, CloudFront's, those of S3 and Cloud Storage. Go writes & in JSON as \u0026.
SIGNATURES = (
    r"(?:(?<=[?&;][Ss]ig=)|(?<=\\u0026sig=)|(?<=[?&;]Signature=)|(?<=\\u0026Signature=)"
    r"|(?<=X-Amz-Signature=)|(?<=X-Goog-Signature=))[^\s&\"'\\<>\#]+"
)
