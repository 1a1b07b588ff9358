# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/findings.md has each code once, with the severities and effects that rules give it."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.findings_page import explanations
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Severity
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.supported_runtimes import DEFECTS
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    FIXTURES,
    captured,
    facts_of,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules import (
    variants_around,
    variants_basic,
    variants_kubelet,
    variants_machine,
    variants_runtime,
)

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins" / "plugin_utils"
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
PARTS = re.findall(r"^### (\S+)\n(.+)\n\n(\S.*)$", PAGE, re.MULTILINE)
REFUSALS = re.findall(r"^\| `([a-z0-9-]+)` \| \S.* \|$", PAGE, re.MULTILINE)
VARIANTS = {
    **variants_basic.VARIANTS,
    **variants_around.VARIANTS,
    **variants_kubelet.VARIANTS,
    **variants_machine.VARIANTS,
    **variants_runtime.VARIANTS,
}
PARAMETER = "code"
"""The name of the parameter through which helpers and loops over tables pass a code; the callers have the code."""


def makers(trees: Iterable[ast.Module], kind: str) -> set[str]:
    """The names that create a value of this kind from a code: its class, and helpers that take the code first."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {kind} | {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and node.args.args
        and node.args.args[0].arg == PARAMETER
        and isinstance(node.returns, ast.Name)
        and node.returns.id == kind
    }


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The constants of a module: some codes are constants."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def first_arguments(tree: ast.Module, names: set[str]) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
            yield node.args[0]


def handed_on(code: ast.expr) -> bool:
    """Whether the code is a parameter, or that of a finding which becomes a refusal: then it is defined elsewhere."""
    return (isinstance(code, ast.Name) and code.id == PARAMETER) or (
        isinstance(code, ast.Attribute) and code.attr == PARAMETER
    )


def codes(directory: str, kind: str) -> set[str]:
    """All codes in the sources of a directory. A code that is composed at run time is an error."""
    codes_in_sources = set()
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((PLUGINS / directory).rglob("*.py"))]
    names = makers(trees, kind)
    for tree in trees:
        named = constants(tree)
        for code in first_arguments(tree, names):
            if not handed_on(code):
                codes_in_sources.add(ast.literal_eval(named[code.id] if isinstance(code, ast.Name) else code))
    return codes_in_sources


def words(text: str) -> set[str]:
    return set(text.split(" or "))


ON_PAGE = {code: tuple(map(words, line.split(" · "))) for code, line, _text in PARTS}


def severities_and_effects() -> dict[str, tuple[set[str], set[str]]]:
    """The severities and effects that rules give each code, on all nodes that tests know."""
    by_code: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for _verdict, variant in VARIANTS.values():
        for finding in findings(facts_of(variant(captured(ALIGNED)))):
            by_code[finding.code][0].add(finding.severity.value)
            by_code[finding.code][1].add(finding.effect.value)
    for path in (FIXTURES / "hosts").glob("*.facts.json"):
        for golden in json.loads(path.read_text(encoding="utf-8"))["findings"]:
            by_code[golden["code"]][0].add(golden["severity"])
            by_code[golden["code"]][1].add(golden["effect"])
    return by_code


def test_the_page_has_every_code_once_and_no_other() -> None:
    headings = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(codes("rules", "Finding") | codes("scheduler", "Finding") | set(DEFECTS))


def test_the_page_has_every_refusal_once_and_no_other() -> None:
    assert sorted(REFUSALS) == sorted(
        set().union(*(codes(directory, "Refusal") for directory in ("plan", "rules", "assessment")))
    )


def test_each_code_is_explained() -> None:
    """colocation_explain prints it."""
    assert set(explanations()) == set(ON_PAGE) | set(REFUSALS)
    parts = {
        code: (bool(explanation.meaning), bool(explanation.remedy)) for code, explanation in explanations().items()
    }
    assert {code for code, present in parts.items() if present != (True, True)} == set()


def test_each_code_has_its_line_and_a_text() -> None:
    assert [code for code, _line, _text in PARTS] == re.findall(r"^### (.+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("code", ON_PAGE)
def test_severity_and_effect_are_the_known_words(code: str) -> None:
    severities, effects = ON_PAGE[code]
    assert severities <= {severity.value for severity in Severity}
    assert effects <= {effect.value for effect in Effect}


def test_severities_and_effects_of_rules_are_on_the_page() -> None:
    differing = {
        code: (severities, effects)
        for code, (severities, effects) in severities_and_effects().items()
        if code not in ON_PAGE or not severities <= ON_PAGE[code][0] or not effects <= ON_PAGE[code][1]
    }
    assert differing == {}


@pytest.mark.parametrize("anchor", sorted(set(re.findall(r"\]\(#([^)]+)\)", PAGE))))
def test_a_link_within_the_page_leads_to_a_code(anchor: str) -> None:
    assert anchor in ON_PAGE
