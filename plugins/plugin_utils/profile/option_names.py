# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of a setting: a module's option and a role's variable. A message has the one that its reader set.

Texts have the variable. An error about an option has the option until it is known who called the module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .variable_names import VARIABLES

PREFIX = "colocation_"
_NRI = "nri."
_VARIABLE = re.compile(rf"\b{PREFIX}[a-z0-9_]+")
_INSIDE = re.compile(r"[.\[, ]")
"""What separates the name of an option from a place within its value."""

PREFIXES: Mapping[str, tuple[str, ...]] = {
    "agent_deploy": ("agent_", ""),
    "bundle_build": ("bundle_",),
    "bundle_info": ("bundle_",),
    "kubeadm_config": ("kubeadm_", ""),
    "manifest_apply": ("volcano_", ""),
    "node_drain": ("drain_", ""),
    "node_report": ("report_", ""),
    "node_restore": ("restore_", ""),
    "node_table": ("report_", ""),
    "qos_audit_info": ("volcano_", ""),
    "rollout_preview": ("drain_", "rollout_", ""),
    "scheduler_config": ("scheduler_", "volcano_", ""),
    "scheduler_usage_info": ("scheduler_", "volcano_", ""),
}
"""By module: the prefixes of its variables behind ``colocation_``, the first that makes a known variable."""

OWN_NAMES: Mapping[str, Mapping[str, str]] = {
    "agent_archive_info": {
        "path": "colocation_agent_image_archive",
        "image": "colocation_agent_image",
        "digest": "colocation_agent_image_digest",
    },
    "explain_finding": {"code": "colocation_explain"},
    "manifest_apply": {"sha256": "colocation_volcano_manifest_sha256"},
    "qos_plan": {"profile": "colocation_qos"},
}
"""By module: variables that no prefix makes."""


def variable_of(option: str) -> str:
    """The variable for an option of the profile, and for a place within its value."""
    if option.startswith(PREFIX):
        return option
    if option + "." == _NRI:
        return f"{PREFIX}nri_enabled"
    return PREFIX + (option.replace(_NRI, "nri_", 1) if option.startswith(_NRI) else option)


@dataclass(frozen=True)
class OptionNames:
    """The variables of one module's options; an option without a variable is not in it."""

    variables: Mapping[str, str]

    def variable(self, place: str) -> str:
        """The variable for an option, with the place within its value behind it; as it is if no role sets it."""
        for option in sorted(self.variables, key=len, reverse=True):
            inside = place[len(option) :]
            if place.startswith(option) and (not inside or _INSIDE.match(inside)):
                return self.variables[option] + inside
        return place

    def with_options(self, value: Any) -> Any:
        """The same value; texts in it have the module's options in the place of variables."""
        if isinstance(value, str):
            return _VARIABLE.sub(self._option, value) if PREFIX in value else value
        if isinstance(value, Mapping):
            return {key: self.with_options(item) for key, item in value.items()}
        return [self.with_options(item) for item in value] if isinstance(value, (list, tuple)) else value

    def _option(self, match: re.Match[str]) -> str:
        names = {variable: option for option, variable in self.variables.items()}
        return names.get(match[0], match[0])


def option_names(module: str, spec: Mapping[str, Mapping[str, Any]]) -> OptionNames:
    """The names of a module, by its argument specification."""
    own = OWN_NAMES.get(module, {})
    known = {option: own.get(option) or _known(module, option) for option in _options(spec)}
    return OptionNames({option: variable for option, variable in known.items() if variable})


def _options(spec: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The options, and those of nri, each of which has a variable."""
    for option, argument in spec.items():
        yield option
        if option + "." == _NRI:
            yield from (_NRI + inner for inner in argument["options"])


def _known(module: str, option: str, variables: Collection[str] = VARIABLES) -> str | None:
    name = variable_of(option).removeprefix(PREFIX)
    candidates = (f"{PREFIX}{prefix}{name}" for prefix in PREFIXES.get(module, ("",)))
    return next((candidate for candidate in candidates if candidate in variables), None)
