# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that are safe to print: control and direction characters are escaped, tokens are recognized by their format.

The token formats are used for redaction on the controller and for masking log lines on the node.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

_ASCII = "\x00-\x08\x0b-\x1f"
_NON_ASCII = (
    "\x7f-\x9f"  # DEL, and C1: U+009B alone begins an escape sequence
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # direction and invisible characters, Unicode TR36, TR9
    "\u2028\u2029"  # separators of lines and paragraphs
    "\ufff9-\ufffb\U000e0000-\U000e007f"  # annotations and tags
    "\ud800-\udfff"  # bytes that are not UTF-8, as Python keeps them
)
_TEXT = re.compile("[" + _ASCII + _NON_ASCII + "]")
_LINE = re.compile("[\t\n" + _ASCII + _NON_ASCII + "]")
_DOCUMENT = re.compile("[" + _NON_ASCII + "]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LINES = ("before_header", "after_header")
"""Fields of a diff that Ansible prints on one line."""
_DOCUMENTS = ("snapshot",)
"""Keys that a replay reads. Their ASCII control characters stay: JSON and YAML output escapes them."""


def printable(text: str) -> str:
    r"""A multi-line text with escapes. Newlines and tabs stay; a carriage return becomes ``\r``, others as ``\x1b``."""
    return _TEXT.sub(_escape, text)


def one_line(text: str) -> str:
    r"""A text for one line: newlines and tabs are escaped as ``\n`` and ``\t``."""
    return _LINE.sub(_escape, text)


def quote_value(value: Any) -> str:
    """A user's value in a message: a text in quotes, anything else as in YAML and JSON."""
    return repr(value) if isinstance(value, str) else json.dumps(value, default=str)


def printable_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """A module's result with all its texts, keys included, made printable. Other values and the structure stay."""
    return {
        _substitute(key, _LINE): _escape_nested(value, _DOCUMENT if key in _DOCUMENTS else _TEXT)
        for key, value in result.items()
    }


def _pattern(key: Any, outer: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern of unsafe characters in the value of a nested key."""
    return _LINE if key in _LINES and outer is _TEXT else outer


def _escape_nested(value: Any, unsafe: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return _substitute(value, unsafe)
    if isinstance(value, Mapping):
        return {_substitute(key, _LINE): _escape_nested(item, _pattern(key, unsafe)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escape_nested(item, unsafe) for item in value]
    return value


def _substitute(value: Any, unsafe: re.Pattern[str]) -> Any:
    """The value with escapes; without a match the same object, which keeps Ansible's string subclasses."""
    return unsafe.sub(_escape, value) if isinstance(value, str) and unsafe.search(value) else value


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # the byte that surrogateescape encodes
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
# Signatures in URLs: Azure SAS, CloudFront, S3 and Cloud Storage. Go writes & in JSON as \u0026.
SIGNATURES = (
    r"(?:(?<=[?&;][Ss]ig=)|(?<=\\u0026sig=)|(?<=[?&;]Signature=)|(?<=\\u0026Signature=)"
    r"|(?<=X-Amz-Signature=)|(?<=X-Goog-Signature=))[^\s&\"'\\<>\#]+"
)
