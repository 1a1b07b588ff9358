# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The explanation of a code, from the page of findings, for a terminal."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.findings_page import (
    explanation_of,
    explanations,
    require_known_codes,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.explanation import (
    WIDTH,
    parse_page,
    render_explanation,
)

PAGE = """# Findings

## The node

### too-warm
error or warning · misaligned or none

The node is *too* `warm`; see
[cold](#too-cold). Set `systemReserved`.

- one
  more line
- two

| value | means |
| ----- | ----- |
| `auto` | as [kubelet](kubelet.md) does |

**Do:** Open the window (`colocation_feature_gates`).

Source: kernel#1, kernel#2.

### too-cold
info · none

Cold.

**Do:** Wait.

Said of both.

## Against the profile

What the group says.

Source: the group.

### cannot-be-aligned
error · misaligned

No profile fits.

| refusal | means | what to do |
| ------- | ----- | ---------- |
| `too-cold` | it is cold | wait |
| `no-door` | the door is missing, `colocation_drain` | install a door first |

**Do:** See the table.

## Problems without a finding

Nothing.
"""
EXPLAINED = parse_page(PAGE)


def test_all_codes_are_explained_and_a_finding_beats_a_refusal() -> None:
    assert set(EXPLAINED) == {"too-warm", "too-cold", "cannot-be-aligned", "no-door"}
    assert EXPLAINED["too-cold"].remedy == "Wait."


def test_the_text_for_a_terminal_has_all_parts_without_markup() -> None:
    text = render_explanation(EXPLAINED["too-warm"], "/docs/findings.md")
    assert text.split("\n") == [
        "too-warm",
        "  severity: error or warning",
        "  verdict: misaligned (a setting is wrong now); or none (the verdict of the node does not change)",
        "",
        "What it means",
        "  The node is *too* warm; see cold. Set systemReserved.",
        "",
        "  - one more line",
        "  - two",
        "",
        "  - auto: as kubelet does",
        "",
        "What to do",
        "  Open the window (colocation_feature_gates).",
        "",
        "Variables",
        "  colocation_feature_gates",
        "  colocation_system_reserved (kubelet's systemReserved)",
        "",
        "Sources",
        "  kernel#1, kernel#2",
        "",
        "/docs/findings.md, section too-warm",
    ]


def test_what_the_group_says_comes_after_the_section() -> None:
    group = EXPLAINED["cannot-be-aligned"]
    assert group.meaning == "No profile fits.\n\ntoo-cold, no-door\n\nWhat the group says."
    assert (group.source, list(group.variables)) == ("the group", [])


def test_a_refusal_has_the_texts_of_its_row() -> None:
    refusal = EXPLAINED["no-door"]
    assert refusal.meaning.startswith("The door is missing, colocation_drain. A profile for the node is refused")
    assert (refusal.remedy, list(refusal.variables)) == ("Install a door first.", ["colocation_drain"])


def test_the_result_names_its_section() -> None:
    result = EXPLAINED["too-warm"].to_result()
    assert result["page"] == "docs/findings.md#too-warm"
    assert result["effects"] == ["misaligned", "none"]


@pytest.mark.parametrize("code", sorted(explanations()))
def test_no_explanation_has_markup_or_a_long_line(code: str) -> None:
    text = render_explanation(explanations()[code], "/docs/findings.md")
    assert not any(mark in text for mark in ("`", "**", "](", "| "))
    assert {line for line in text.split("\n") if len(line) > WIDTH + 20 and " " in line.strip()} == set()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("driver-mismtch", "no finding has the code driver-mismtch; did you mean driver-mismatch?"),
        ("kubelet-mising", "did you mean kubelet-missing?"),
        ("xyz", "no finding has the code xyz. docs/findings.md lists all codes."),
    ],
)
def test_an_unknown_code_names_the_nearest(code: str, says: str) -> None:
    with pytest.raises(ProfileError) as refused:
        explanation_of("code", code)
    assert refused.value.variable == "code"
    assert says in refused.value.message


def test_all_known_codes_pass() -> None:
    require_known_codes("finding_codes", explanations())
