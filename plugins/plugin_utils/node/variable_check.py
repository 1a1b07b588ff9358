# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong variables of hosts, by the argument specifications of roles and by the rules of their profiles.

A playbook checks the variables of all its hosts in one task, before it reads the first host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..profile.argspec import NODE_ALIGN, QOS_PROFILE, Spec
from ..profile.node_profile import parse_profile, parse_targets
from ..profile.option_names import option_names, variable_of
from ..profile.validators import ProfileError, seconds
from ..settings.qos_profile import parse_qos_profile
from .findings_page import require_known_codes
from .spec_problems import convert, find_problems, with_defaults

VALIDATE_VARIABLES: Spec = {
    "hosts": {"type": "list", "elements": "str", "default": []},
    "assess_only": {"type": "list", "elements": "str", "default": []},
    "roles": {"type": "list", "elements": "str", "default": []},
}
ROLES = Path(__file__).parents[3] / "roles"
NAMED_HOSTS = 3
_TARGETS = ("target_kubernetes", "target_containerd", "target_systemd")
_CODES = "colocation_finding_codes"
_NODE = {
    option: variable
    for option, variable in option_names("node_align", NODE_ALIGN).variables.items()
    if "options" not in NODE_ALIGN.get(option, {})
}
"""By option of the profile, or by option in an option such as ``nri.enabled``: the role's variable."""


@cache
def role_options(role: str) -> Spec:
    """The variables of a role, from its argument specification."""
    document = yaml.safe_load((ROLES / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    options: Spec = document["argument_specs"]["main"]["options"]
    return options


def find_misplaced(names: Collection[str], variables: Mapping[str, Any]) -> list[str]:
    """Which of the variables ``names``, which only the playbook assess reads from the command line, have a value."""
    return [
        f"{name} works only with the playbook assess, and only on the command line:"
        f" ansible-playbook volcano.colocation.assess -e {name}={variables[name]}"
        for name in names
        if variables.get(name)
    ]


def find_variable_problems(specs: Mapping[str, Spec], variables: Mapping[str, Any]) -> list[str]:
    """The problems, each once. ``specs``: by role; a variable that no role of ``specs`` has is not checked."""
    arguments = {name: argument for spec in specs.values() for name, argument in spec.items()}
    values = {name: variables[name] for name in arguments if variables.get(name) is not None}
    wrong = {name: list(find_problems(name, arguments[name], value)) for name, value in values.items()}
    converted = {name: convert(arguments[name], value) for name, value in values.items() if not wrong[name]}
    of_types = [problem for problems in wrong.values() for problem in problems]
    of_rules = [problem for role, check in _CHECKS.items() if role in specs for problem in check(converted)]
    return list(dict.fromkeys(of_types + of_rules))


def _check_node(values: Mapping[str, Any]) -> Iterator[str]:
    """Each variable of the profile alone: a plan compares them with each other and with the node."""
    for option, variable in _NODE.items():
        if variable in values and values[variable] != "":
            outer, _dot, inner = option.partition(".")
            profile = {outer: {inner: values[variable]}} if inner else {option: values[variable]}
            yield from _problem(parse_profile, profile)
    for option in _TARGETS:
        yield from _problem(parse_targets, {option: values.get(variable_of(option))})
    timeout = values.get("colocation_health_timeout")
    if timeout is not None:
        yield from _problem(lambda value: seconds("health_timeout", value), timeout)
    yield from _problem(lambda codes: require_known_codes("finding_codes", codes), values.get(_CODES, ()))


def _check_qos(values: Mapping[str, Any]) -> Iterator[str]:
    profile = values.get("colocation_qos")
    if profile:
        yield from _problem(parse_qos_profile, with_defaults(QOS_PROFILE, profile), "colocation_qos")


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {"node": _check_node, "qos": _check_qos}
"""By role: what its variables must be apart from their types. The other roles check them before the first change."""


def _problem(check: Callable[[Any], Any], value: Any, variable: str = "") -> Iterator[str]:
    try:
        check(value)
    except ProfileError as error:
        name = error.variable.replace("profile", variable, 1) if variable else variable_of(error.variable)
        yield f"{name}: {error.message}"


def describe_problems(by_host: Mapping[str, Sequence[str]], specs: Mapping[str, Spec]) -> str:
    """All problems of all hosts in one text, each once with the hosts that have it; empty without problems."""
    hosts: dict[str, list[str]] = {}
    for host, problems in by_host.items():
        for problem in problems:
            hosts.setdefault(problem, []).append(host)
    if not hosts:
        return ""
    sentences = [f"{_on_hosts(named, by_host)}{_end(problem)}" for problem, named in hosts.items()]
    roles = [role for role, spec in specs.items() if any(_is_about(problem, spec) for problem in hosts)]
    documented = " ".join(f"volcano.colocation.{role}" for role in roles)
    more = f" 'ansible-doc -t role {documented}' describes the variables." if documented else ""
    return f"{' '.join(sentences)} Nothing was done.{more}"


def _on_hosts(named: Sequence[str], hosts: Collection[str]) -> str:
    if len(named) == len(hosts):
        return ""
    more = f" and {len(named) - NAMED_HOSTS} more" if len(named) > NAMED_HOSTS else ""
    return f"{', '.join(named[:NAMED_HOSTS])}{more}: "


def _end(problem: str) -> str:
    return problem if problem.endswith((".", "?")) else f"{problem}."


def _is_about(problem: str, names: Collection[str]) -> bool:
    return re.split(r"[^a-z0-9_]", problem, maxsplit=1)[0] in names
