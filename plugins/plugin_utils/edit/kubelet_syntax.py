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
from .read import read_yaml
from .read_json import read_json

FLOW_REMEDY = "Write it as JSON, with keys and texts in double quotes, or one key a line without the outer braces"


def begins_as_json(text: str) -> bool:
    """Whether kubelet takes a text for JSON."""
    return text.removeprefix(BOM).lstrip().startswith("{")


def read_kubelet(text: str) -> dict[str, Any]:
    """The values of a kubelet file, in JSON or YAML; {} for an empty one, ParseError where kubelet reads none."""
    if not begins_as_json(text):
        return read_yaml(text)
    try:
        return read_json(text)
    except ParseError as error:
        if error.remedy:
            raise
        message = f"begins with {{, so that kubelet reads it as JSON, and it is {error.message}"
        raise ParseError(message, error.line, error.column, FLOW_REMEDY) from None
