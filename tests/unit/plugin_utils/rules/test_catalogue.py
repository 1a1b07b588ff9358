# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue has every rule of the package once; a rule that it does not list would never run."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils import rules
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import FINDING_RULES, REFUSAL_RULES
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.containerd_files import CONTAINERD_REFUSALS
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.containerd_outcome import refuse_key_case
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.crio import CRIO_REFUSALS
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.docker import DOCKER_REFUSALS

FINDING_ANNOTATIONS = {"facts": "NodeFacts", "return": "Iterator[Finding]"}
REFUSAL_ANNOTATIONS = {"draft": "PlanDraft", "return": "Iterator[Refusal]"}


def public_functions(annotations: dict[str, str]) -> Iterator[str]:
    """Functions of the package with these annotations, ``file.function``."""
    for info in pkgutil.iter_modules(rules.__path__):
        module = importlib.import_module(f"{rules.__name__}.{info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and function.__annotations__ == annotations:
                yield f"{info.name}.{name}"


def names(rules: tuple[Any, ...]) -> list[str]:
    return [f"{rule.__module__.rpartition('.')[2]}.{rule.__name__}" for rule in rules]


def test_every_rule_of_findings_is_listed_once() -> None:
    assert Counter(names(FINDING_RULES)) == Counter(public_functions(FINDING_ANNOTATIONS))


def test_every_rule_of_refusals_is_listed_once() -> None:
    listed = names((*REFUSAL_RULES, *CONTAINERD_REFUSALS, refuse_key_case, *CRIO_REFUSALS, *DOCKER_REFUSALS))
    public = [name for name in listed if not name.partition(".")[2].startswith("_")]
    assert Counter(public) == Counter(public_functions(REFUSAL_ANNOTATIONS))
