# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/findings.md says of a code, for a terminal. The page is the only source of these texts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..profile.kubelet_fields import FIELDS
from ..profile.option_names import variable_of
from ..profile.variable_names import VARIABLES

PAGE = "docs/findings.md"
COMMAND = "ansible-playbook volcano.colocation.assess -e colocation_explain=CODE"
"""Prints the explanation of a code."""
REMEDIES = f"what to do (explain a code: {COMMAND})"
"""The title of the remedies in a report."""
WIDTH = 100

_GROUP = re.compile(r"^## .+\n", re.MULTILINE)
_SECTION = re.compile(r"^### (\S+)\n([^\n]+)\n", re.MULTILINE)
_REFUSAL = re.compile(r"^\| `([a-z0-9-]+)` \| (\S.*) \| (\S.*) \|$", re.MULTILINE)
_DO, _SOURCE = "**Do:** ", "Source: "
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_REFUSED = "cannot-be-aligned"
_EFFECTS: Mapping[str, str] = {
    "none": "the verdict of the node does not change",
    "unknown": "the state of the node cannot be determined",
    "unsupported": "the collection does not support the node",
    "misaligned": "a setting is wrong now",
    "latent": "the node works now, and its next restart or reboot breaks it",
}


@dataclass(frozen=True)
class Explanation:
    """A code: its severities, what its effects mean, and its texts without markup.

    ``variables``: those of the roles that the texts name, and those of the kubelet fields that the texts name.
    """

    code: str
    severity: str
    effects: tuple[str, ...]
    meaning: str
    remedy: str
    source: str
    variables: Mapping[str, str]

    def to_result(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity,
            "effects": list(self.effects),
            "meaning": self.meaning,
            "remedy": self.remedy,
            "source": self.source,
            "variables": list(self.variables),
            "page": f"{PAGE}#{self.code}",
        }


def parse_page(page: str) -> dict[str, Explanation]:
    """All codes of findings and refusals on the page; a code of both has the text of the finding."""
    sections = {code: section for group in _GROUP.split(page)[1:] for code, section in _sections(group)}
    refused = sections[_REFUSED]
    refusals = {code: _refusal(code, means, remedy, refused) for code, means, remedy in _REFUSAL.findall(page)}
    return {**refusals, **sections}


def _sections(group: str) -> Iterator[tuple[str, Explanation]]:
    """(code, explanation) of each section; then what the group says of all its sections."""
    common, *parts = _SECTION.split(group)
    for code, line, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        severity, _dot, effects = line.partition(" · ")
        yield code, _explanation(code, severity, tuple(effects.split(" or ")), f"{text}\n{common}")


def _explanation(code: str, severity: str, effects: tuple[str, ...], body: str) -> Explanation:
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\n\s*\n", body) if paragraph.strip()]
    remedies = [paragraph for paragraph in paragraphs if paragraph.startswith(_DO)]
    sources = [paragraph for paragraph in paragraphs if paragraph.startswith(_SOURCE)]
    meaning = [paragraph for paragraph in paragraphs if paragraph not in remedies + sources]
    return Explanation(
        code,
        severity,
        effects,
        "\n\n".join(map(_plain, meaning)),
        "\n\n".join(_plain(remedy.removeprefix(_DO)) for remedy in remedies),
        " ".join(_plain(source.removeprefix(_SOURCE)) for source in sources).rstrip("."),
        _variables(_REFUSAL.sub("", body)),
    )


def _refusal(code: str, means: str, remedy: str, refused: Explanation) -> Explanation:
    meaning = f"{_sentence(means)} A profile for the node is refused for this reason, and the node is not changed."
    variables = _variables(f"{means} {remedy}")
    return Explanation(code, refused.severity, refused.effects, meaning, _sentence(remedy), "", variables)


def _sentence(words: str) -> str:
    plain = _plain(words)
    return f"{plain[0].upper()}{plain[1:].rstrip('.')}."


def _plain(paragraph: str) -> str:
    """A paragraph, a list or a table without markup; of the table of refusals only the codes."""
    refusals = _REFUSAL.findall(paragraph)
    if refusals:
        return ", ".join(code for code, _means, _remedy in refusals)
    lines = paragraph.split("\n")
    if lines[0].startswith("|"):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
        return "\n".join(f"- {': '.join(map(_words, row))}" for row in rows)
    if lines[0].startswith("- "):
        items = re.split(r"\n(?=- )", paragraph)
        return "\n".join(_words(" ".join(item.split())) for item in items)
    return _words(" ".join(lines))


def _words(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("`", "").replace("**", "")


def _variables(body: str) -> dict[str, str]:
    """The roles' variables that a text names, each with the kubelet field that it sets, if the text names that."""
    named = {name: "" for name in re.findall(r"\bcolocation_\w+", body) if name in VARIABLES}
    fields = {
        variable_of(field.option): field.key for field in FIELDS if field.option and re.search(rf"`{field.key}\b", body)
    }
    return {**named, **fields}


def render_explanation(explanation: Explanation, page: str) -> str:
    """The text for a terminal; ``page`` is the path of the page on this machine."""
    effects = "; or ".join(f"{effect} ({_EFFECTS[effect]})" for effect in explanation.effects)
    parts = [
        f"{explanation.code}\n{_indent(f'severity: {explanation.severity}')}\n{_indent(f'verdict: {effects}')}",
        f"What it means\n{_indent(explanation.meaning)}",
        f"What to do\n{_indent(explanation.remedy)}",
    ]
    if explanation.variables:
        names = "\n".join(
            f"{name} (kubelet's {field})" if field else name for name, field in explanation.variables.items()
        )
        parts.append(f"Variables\n{textwrap.indent(names, '  ')}")
    if explanation.source:
        parts.append(f"Sources\n{_indent(explanation.source)}")
    parts.append(f"{page}, section {explanation.code}")
    return "\n\n".join(parts)


def _indent(text: str) -> str:
    """Paragraphs and items, wrapped and indented."""
    lines = []
    for line in text.split("\n"):
        begin, more = ("  - ", "    ") if line.startswith("- ") else ("  ", "  ")
        words = line.removeprefix("- ")
        wrapped = textwrap.wrap(
            words, WIDTH, initial_indent=begin, subsequent_indent=more, break_long_words=False, break_on_hyphens=False
        )
        lines += wrapped or [""]
    return "\n".join(lines)
