# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as the module's answer: the same in check mode and after the deed."""

from __future__ import annotations

import os
from typing import Any

from .engine import Plan
from .plan import Step
from .shown import shown


def answer(plan: Plan) -> dict[str, Any]:
    """``changed``, ``diff``, ``settings``, ``skipped``, ``control_group``, and warnings."""
    return {
        "changed": plan.changed,
        "control_group": _control_group(plan),
        "settings": [_setting(step) for step in plan.steps],
        "skipped": [{"knob": each.knob, "reason": each.reason} for each in plan.skipped],
        "warnings": [_warning(step) for step in plan.steps if plan.states[step.target.cgroup].undone(step.knob)],
        "diff": {"before": _lines(plan, "before"), "after": _lines(plan, "expected")},
    }


def _setting(step: Step) -> dict[str, Any]:
    return {
        "cgroup": step.target.cgroup,
        "knob": step.knob.name,
        "before": shown(step.before),
        "after": shown(step.expected),
        "backend": step.backend.value,
        "changed": step.changed,
        "cause": step.cause,
    }


def _warning(step: Step) -> str:
    return f"{step.knob.name} of {step.target.cgroup} will not last until the next boot: {step.knob.note}"


def _control_group(plan: Plan) -> str:
    """The cgroup, or the one that all of them are in."""
    cgroups = [target.cgroup for target in plan.targets]
    return "/" + os.path.commonpath(cgroups) if cgroups else ""


def _lines(plan: Plan, moment: str) -> str:
    steps = [step for step in plan.steps if step.changed]
    return "".join(f"{step.target.cgroup} {step.knob.name}: {shown(getattr(step, moment))}\n" for step in steps)
