# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds and accepted words of kubelet's fields, determined by loading files with one field each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.tests.judges.kubelet_generator import HEAD
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge, Machine

MACHINE = Machine(cpus=4, memory=4 << 30)
UNKNOWN_WORD = "no-such-word"
LONGEST = 48 * 3600 * 1000
"""Milliseconds; a duration with a greater bound counts as unbounded."""
STEPS = {"userNamespaces.idsPerPod": 65536}
"""Fields that accept only multiples of a number."""
ACCEPTED = (0, 1, 2, 5, 1000, 60000, 65536)
"""Values at which a search begins, for a field without a default."""
COMPANIONS: Mapping[str, Mapping[str, Any]] = {
    "cpuCFSQuotaPeriod": {"featureGates": {"CustomCPUCFSQuotaPeriod": True}},
    "imageGCHighThresholdPercent": {"imageGCLowThresholdPercent": 0},
    "imageGCLowThresholdPercent": {"imageGCHighThresholdPercent": 100},
    "imagePullCredentialsVerificationPolicy": {"featureGates": {"KubeletEnsureSecretPulledImages": True}},
    "crashLoopBackOff.maxContainerRestartPeriod": {"featureGates": {"KubeletCrashLoopBackOffMax": True}},
    "maxParallelImagePulls": {"serializeImagePulls": False},
    "memorySwap.swapBehavior": {"featureGates": {"NodeSwap": True}},
    "shutdownGracePeriodCriticalPods": {"shutdownGracePeriod": "72h"},
}
"""Fields that the file needs so that a field has its own bounds, and not those of another field or a gate."""

_WHOLE = {
    **{f"int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
Check = Callable[[Any], "str | None"]


def limits(judge: KubeletJudge) -> dict[str, dict[str, str]]:
    """``LIMITS`` and ``WORDS`` of fields that the collection does not use, outside lists and tables."""
    from ansible_collections.volcano.colocation.tests.judges.kubelet_tables import kinds

    used = {field.key for field in OBSERVED}
    bounds, words = {}, {}
    for path, kind in sorted(kinds(judge.table("types"), "")):
        if path.split(".")[0].split("[")[0] in used or "[" in path or "{" in path:
            continue
        check = _checker(judge, path)
        if kind in _WHOLE:
            limits_text = _bounds(check, *_WHOLE[kind], STEPS.get(path, 1))
        elif kind == "duration":
            limits_text = _bounds(_of_milliseconds(check), -LONGEST, LONGEST)
        elif kind == "string":
            limits_text, accepted = "", _words(check)
            words.update({path: accepted} if accepted else {})
        else:
            continue
        bounds.update({path: limits_text} if limits_text else {})
    return {"LIMITS": bounds, "WORDS": words}


def text_of(path: str, value: Any, *, alone: bool = False) -> str:
    """A file with this field, and the fields that it needs unless it is ``alone``."""
    top, *inner = path.split(".")
    whole = value
    for key in reversed(inner):
        whole = {key: whole}
    fields = {**({} if alone else COMPANIONS.get(path, {})), top: whole}
    return HEAD + "".join(f"{key}: {json.dumps(field)}\n" for key, field in fields.items())


def _checker(judge: KubeletJudge, path: str) -> Check:
    def check(value: Any) -> str | None:
        (verdict,) = judge.load([Case(path, text_of(path, value))], MACHINE)
        return verdict.error

    return check


def _of_milliseconds(check: Check) -> Check:
    return lambda number: check(f"{number}ms")


def _bounds(check: Check, least: int, greatest: int, step: int = 1) -> str:
    """``LEAST..GREATEST``; a bound that the type sets is omitted, and the text is empty without bounds."""
    low, high = _edges(lambda number: check(number * step), least // step, greatest // step)
    texts = ["" if edge is None else str(edge * step) for edge in (low, high)]
    return "..".join(texts) if any(texts) else ""


def _edges(check: Check, least: int, greatest: int) -> tuple[int | None, int | None]:
    inside = next((number for number in ACCEPTED if least <= number <= greatest and check(number) is None), None)
    if inside is None:
        return None, None
    low = None if check(least) is None else _edge(check, inside, least)
    return low, None if check(greatest) is None else _edge(check, inside, greatest)


def _edge(check: Check, inside: int, outside: int) -> int:
    """The last number between ``inside`` and ``outside`` that kubelet accepts."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if check(middle) is None else (inside, middle)
    return inside


def _words(check: Check) -> str:
    """The words that kubelet lists when it refuses an unknown one, if it accepts them."""
    message = check(UNKNOWN_WORD)
    if message is None:
        return ""
    named = re.findall(r'"([^"\s]*)"', message)
    return "|".join(sorted({word for word in named if word not in ("", UNKNOWN_WORD) and check(word) is None}))


_LACKING = re.compile(r"(\w+) is enabled, but depends on features that are disabled: \[([\w ]+)\]")


def gate_needs(judge: KubeletJudge) -> dict[str, str]:
    """Gates that a gate depends on, by the dependent gate; kubelet lists those that are off when it refuses.

    Each gate is set to the opposite of its default, alone and with all others, which shows further dependencies.
    """
    newest = {name: stages[-1] for name, stages in judge.table("gates").items()}
    flipped = {name: not stage["default"] for name, stage in newest.items() if not stage["locked"]}
    flipped = {name: on for name, on in flipped.items() if name not in ("AllAlpha", "AllBeta")}
    files = [{name: on} for name, on in flipped.items()]
    cases = [Case("gates", f"{HEAD}featureGates: {json.dumps(gates)}\n") for gates in [*files, flipped]]
    missing_gates: dict[str, set[str]] = {}
    for verdict in judge.load(cases, MACHINE):
        for name, needed in _LACKING.findall(verdict.error or ""):
            missing_gates.setdefault(name, set()).update(needed.split())
    return {name: "|".join(sorted(needed)) for name, needed in sorted(missing_gates.items())}
