# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which language a kubelet file is written in, and its values.

kubelet decodes with the UniversalDecoder, which takes a text for JSON when its first character that is not whitespace
is `{` (k8s.io/apimachinery pkg/util/yaml, hasPrefix; pkg/runtime/serializer/recognizer). YAML's flow style, which
begins alike, is then an error.
"""

from __future__ import annotations

from typing import Any

from .errors import ParseError
from .lines import BOM
from .read import read_first_document
from .read_json import read_object

FLOW_REMEDY = "Write it as JSON, with keys and texts in double quotes, or one key a line without the outer braces"


def begins_as_json(text: str) -> bool:
    """Whether a text is JSON by its first character; with a byte order mark kubelet reads it as YAML all the same."""
    return text.removeprefix(BOM).lstrip().startswith("{")


def decodes_as_json(text: str) -> bool:
    """Whether kubelet takes a text for JSON."""
    return begins_as_json(text) and not text.startswith(BOM)


def read_kubelet(text: str) -> dict[str, Any]:
    """The values of a kubelet file, in JSON or YAML; {} for an empty one.

    ParseError where kubelet reads none, or takes no notice of a part (``decode_kubelet``).
    """
    values, notes = decode_kubelet(text)
    for note in notes:
        raise note
    return values


def decode_kubelet(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """The values of a kubelet file as kubelet decodes them, and of what it takes no notice.

    Its strict decoding fails over a repeated key, and then it decodes leniently and warns (pkg/kubelet/kubeletconfig/
    util/codec); of several documents it reads the first. ParseError where it does not start.
    """
    if not begins_as_json(text):
        return read_first_document(text)
    try:
        return read_object(text)
    except ParseError as error:
        if not decodes_as_json(text):
            return read_first_document(text)
        if error.remedy:
            raise
        message = f"begins with {{, so that kubelet reads it as JSON, and it is {error.message}"
        raise ParseError(message, error.line, error.column, FLOW_REMEDY) from None
