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
    """``changed``, ``diff``, ``settings``, ``unsupported`` and ``control_group``.

    Not ``skipped``: Ansible takes a result with that key for that of a task that was not run.
    """
    return {
        "changed": plan.changed,
        "control_group": _control_group(plan),
        "settings": [_setting(step) for step in plan.steps],
        "unsupported": [{"knob": each.knob, "reason": each.reason} for each in plan.left_out],
        "diff": {"before": _lines(plan, "before"), "after": _lines(plan, "expected")},
    }


def _setting(step: Step) -> dict[str, Any]:
    return {
        "cgroup": step.target.cgroup,
        "knob": step.knob.name,
        "before": shown(step.knob, step.before),
        "after": shown(step.knob, step.expected),
        "backend": step.backend.value,
        "changed": step.changed,
        "cause": step.cause,
    }


def warnings(plan: Plan) -> list[str]:
    """What will not last, and why."""
    undone = [step for step in plan.steps if plan.states[step.target.cgroup].undone(step.knob)]
    return [f"{step.knob.name} of {step.target.cgroup} will not last: {step.knob.note}" for step in undone]


def _control_group(plan: Plan) -> str:
    """The cgroup, or the one that all of them are in."""
    cgroups = [target.cgroup for target in plan.targets]
    return "/" + os.path.commonpath(cgroups) if cgroups else ""


def _lines(plan: Plan, moment: str) -> str:
    steps = [step for step in plan.steps if step.changed]
    return "".join(
        f"{step.target.cgroup} {step.knob.name}: {shown(step.knob, getattr(step, moment))}\n" for step in steps
    )
