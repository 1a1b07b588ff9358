# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/variables.md, from the argument specifications of the roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import FIELDS

from .field_docs import PREFIX
from .places import CHECKOUT

ROLES = ("node", "qos", "rollout", "scheduler", "agent", "bundle")
"""In the order of the page. A variable of several roles is in the table of the first one that has it."""

FIRST_RELEASE = "0.1.0"
"""Of a variable without ``version_added``."""

HEAD = ("| variable | type | default | unit | meaning | since |", "|---|---|---|---|---|---|")

_UNITS_BY_WORD = (
    (re.compile(r"\bNanoseconds\b"), "ns"),
    (re.compile(r"\bMicroseconds\b"), "µs"),
    (re.compile(r"\b[Ss]econds\b"), "s"),
    (re.compile(r"\b[Pp]ercent(age)?\b"), "%"),
)
_UNITS: Mapping[str, str] = {
    "colocation_nri_plugin_registration_timeout": "a duration",
    "colocation_nri_plugin_request_timeout": "a duration",
    "colocation_qos.be.cpu_quota": "% of the CPUs, or CPUs",
    "colocation_qos.be.memory_high": "% of the memory, or bytes",
    "colocation_qos.be.memory_max": "% of the memory, or bytes",
    "colocation_qos.be.pids_max": "processes",
    "colocation_qos.ls.memory_low": "% of the memory, or bytes",
    "colocation_qos.ls.memory_min": "% of the memory, or bytes",
    "colocation_scheduler_usage.memory": "%",
    "colocation_scheduler_usage.weight": "a weight",
    "colocation_scheduler_usage.cpu_weight": "a weight",
    "colocation_scheduler_usage.memory_weight": "a weight",
    "colocation_scheduler_binpack.weight": "a weight",
    "colocation_scheduler_binpack.cpu": "a weight",
    "colocation_scheduler_binpack.memory": "a weight",
    "colocation_scheduler_metrics.interval": "a duration",
    "colocation_scheduler_watermarks.memory_high": "%",
    "colocation_scheduler_watermarks.memory_low": "%",
    "colocation_priority_classes[].value": "a priority",
    "colocation_queues[].weight": "a share",
    "colocation_agent_port": "a TCP port",
    "colocation_detailed_hosts": "hosts",
    "colocation_agent_verbosity": "a level",
}
"""Units that no word of the description shows."""


_ROLE_DEFAULTS: Mapping[str, str] = {
    **{f"{PREFIX}{field.option}": field.role_default for field in FIELDS if field.role_default},
    "colocation_nri_enabled": "true",
}
"""Defaults that the role uses for some playbooks only, so that they are not in its argument specification."""


@dataclass(frozen=True)
class Variable:
    """A variable of a role, or an entry of one: ``colocation_queues[].name``."""

    name: str
    option: Mapping[str, Any]

    @property
    def is_number(self) -> bool:
        return self.option["type"] in ("int", "float")


def variables(role: str) -> tuple[Variable, ...]:
    """The variables of a role that no earlier role has, with their entries."""
    earlier = {name for other in ROLES[: ROLES.index(role)] for name in _options(other)}
    return tuple(_walk({name: option for name, option in _options(role).items() if name not in earlier}, ""))


def variables_table(role: str) -> str:
    return "\n".join((*HEAD, *map(_row, variables(role)), ""))


def unit(variable: Variable) -> str:
    """The unit of the value; empty if it has none, or none that is known."""
    field = next((field for field in FIELDS if f"{PREFIX}{field.option}" == variable.name), None)
    if field is not None and field.unit:
        return field.unit
    first = _paragraphs(variable.option)[0]
    by_word = next((name for pattern, name in _UNITS_BY_WORD if pattern.search(first)), "")
    return _UNITS.get(variable.name, by_word if variable.is_number else "")


@cache
def _options(role: str) -> Mapping[str, Any]:
    path = CHECKOUT / "roles" / role / "meta" / "argument_specs.yml"
    specification: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]
    options: Mapping[str, Any] = specification["options"]
    return options


def _walk(options: Mapping[str, Any], prefix: str) -> Iterator[Variable]:
    for name, option in options.items():
        yield Variable(f"{prefix}{name}", option)
        dot = "[]." if option["type"] == "list" else "."
        yield from _walk(option.get("options") or {}, f"{prefix}{name}{dot}")


def _row(variable: Variable) -> str:
    option = variable.option
    cells = (
        f"`{variable.name}`",
        _type(option),
        _default(variable),
        _plain(unit(variable)),
        _plain(_first_sentences(option)),
        str(option.get("version_added", FIRST_RELEASE)),
    )
    return re.sub(r" +", " ", f"| {' | '.join(cells)} |")


def _type(option: Mapping[str, Any]) -> str:
    kind = f"{option['type']} of {option['elements']}" if option.get("elements") else str(option["type"])
    choices = ", ".join(f"`{choice}`" for choice in option.get("choices", ()) if choice != "")
    required = ", required" if option.get("required") else ""
    return f"{kind}: {choices}{required}" if choices else f"{kind}{required}"


def _default(variable: Variable) -> str:
    if variable.name in _ROLE_DEFAULTS:
        return f"`{_ROLE_DEFAULTS[variable.name]}` in `provision` and `verify`"
    option = variable.option
    default = option.get("default")
    if default in (None, "", [], {}) and default is not False:
        return ""
    if isinstance(default, (list, dict)) and option.get("options"):
        return "see `ansible-doc`"
    text = yaml.safe_dump(default, default_flow_style=True, width=1 << 20).removesuffix("...\n").strip()
    return f"`{text}`"


def _paragraphs(option: Mapping[str, Any]) -> list[str]:
    description = option["description"]
    return [description] if isinstance(description, str) else list(description)


def _first_sentences(option: Mapping[str, Any]) -> str:
    """The first paragraph, up to its second sentence."""
    sentences = re.split(r"(?<=[a-z)\]][.])\s+(?=[A-Z])", _paragraphs(option)[0])
    return " ".join(sentences[:2])


def _plain(text: str) -> str:
    """Ansible's markup as that of Markdown, in a cell of a table."""
    return re.sub(r"\b[COV]\((?:[\w.]+#\w+:)?([^)]*)\)", r"`\1`", text).replace("|", "\\|")
