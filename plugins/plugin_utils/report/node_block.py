# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text report of one node: the verdict, the facts, what disagrees, what to do."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.safe_text import one_line
from ..profile.option_names import variable_of
from .explanation import REMEDIES

Facts = Mapping[str, Any]

SEVERITIES = ("error", "warning", "info")
SHOWN_EVIDENCE = 3
WIDTH = 160
_SOURCES = {"set": "set", "role-default": "defaults of the role"}
_ID = re.compile(r"(?<![0-9a-f])([0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])")
_LEADS = {
    "aligned": "All running components agree, and a restart will not change that.",
    "latent": "All running components agree now, but the next restart or reboot will break that:",
    "misaligned": "The node does not work as intended:",
    "unsupported": "This node is not supported:",
    "unknown": "The state of the node cannot be determined:",
}


@dataclass(frozen=True)
class Filter:
    """Which findings to show; empty means all."""

    codes: Sequence[str] = ()
    severities: Sequence[str] = ()

    def admits(self, finding: Mapping[str, Any]) -> bool:
        return (not self.codes or finding["code"] in self.codes) and (
            not self.severities or finding["severity"] in self.severities
        )


EVERYTHING = Filter()


def failing_codes(facts: Facts, severities: Iterable[str]) -> list[str]:
    """The distinct codes of a node's findings with these severities."""
    selected = set(severities)
    return list(dict.fromkeys(finding["code"] for finding in facts["findings"] if finding["severity"] in selected))


def sort_findings(facts: Facts, selection: Filter = EVERYTHING) -> list[Mapping[str, Any]]:
    """The selected findings, errors first, otherwise in the order of the rules."""
    return sorted(
        filter(selection.admits, facts["findings"]), key=lambda finding: SEVERITIES.index(finding["severity"])
    )


def render_line(text: str) -> str:
    """One line for a terminal: short IDs, control characters escaped, long texts shortened in the middle."""
    line = one_line(_ID.sub(r"\1", text))
    if len(line) <= WIDTH:
        return line
    return f"{line[: WIDTH * 2 // 3]}…{line[-WIDTH // 3 :]}"


def render_row(name: str, text: str) -> str:
    """A row of a node's report."""
    return render_line(f"  {name:<10} {text}")


def render_rows(name: str, text: str) -> Iterator[str]:
    """A row of a node's report, continued on further lines where it is too long for one."""
    return _wrap(f"  {name:<10} ", text)


def _wrap(begin: str, text: str) -> Iterator[str]:
    """Lines of at most ``WIDTH`` characters, the first with ``begin``, the others indented by its length."""
    for line in textwrap.wrap(one_line(_ID.sub(r"\1", text)), WIDTH - len(begin), break_on_hyphens=False):
        yield render_line(f"{begin}{line}")
        begin = " " * len(begin)


def render_profile(profile: Mapping[str, Any]) -> Iterator[str]:
    """The profile that the node was compared with, by source of the values; many values are wrapped into lines."""
    if not profile["specified"]:
        yield render_row("profile", "none given; the node is compared with itself, now and after a restart")
        return
    title = "profile"
    for source, word in _SOURCES.items():
        values = [option for option in profile["options"] if option["source"] == source]
        settings = ", ".join(f"{variable_of(option['option'])} {_value(option['value'])}" for option in values)
        if settings:
            yield from render_rows(title, f"{word}: {settings}")
            title = ""


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _on(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, "unknown")


def _node(facts: Facts) -> str:
    parts = [f"cgroup {facts['cgroup']['mode']}"]
    if facts["cgroup"]["mode"] == "unknown":
        parts[0] += f" ({facts['cgroup']['reason']})"
    parts.append(f"systemd {facts['systemd']['version'] or 'unknown'}")
    parts.append(f"kernel {facts['kernel']['release'] or 'unknown'}")
    parts.append(f"CPUs {facts['cpu']['online'] or 'unknown'}")
    if facts.get("layout") not in (None, "unknown", "standalone"):
        parts.append(str(facts["layout"]))
    return ", ".join(parts)


def render_driver(side: Mapping[str, Any]) -> str:
    """The cgroup driver of kubelet or of the runtime."""
    return str(side["cgroup_driver"] or "unknown")


def _kubelet(facts: Facts) -> str:
    kubelet = facts["kubelet"]
    if not kubelet["installed"]:
        return "not installed"
    driver_source = kubelet["cgroup_driver_source"] if facts["verdict"] != "aligned" else None
    source = f" ({driver_source})" if driver_source else ""
    state = "running" if kubelet["running"] else "not running"
    healthy = {True: "healthy", False: "not healthy"}.get(kubelet["healthy"], state)
    return (
        f"{kubelet['version'] or 'version unknown'}, {healthy}, cgroup driver {render_driver(kubelet)}{source},"
        f" CPU manager {kubelet['cpu_manager_policy'] or 'unknown'}"
    )


def _runtime(runtime: Mapping[str, Any]) -> str:
    if not runtime["installed"]:
        return "no container runtime"
    handlers = ", ".join(
        f"{name} {handler['running'] or handler['configured']}" for name, handler in sorted(runtime["handlers"].items())
    )
    nri = "not supported" if runtime["nri"]["supported"] is False else _on(runtime["nri"]["running"])
    version = runtime["version"] or "version unknown"
    # CRI-O and docker have one driver for all handlers.
    driver = f"handlers: {handlers}" if handlers else f"cgroup driver {render_driver(runtime)}"
    return f"{runtime['name'] or 'runtime'} {version}, {driver}, NRI {nri}"


def _pods(pods: Mapping[str, Any]) -> str:
    places = [
        f"{count} {text}"
        for count, text in (
            (pods["systemd_paths"], "in kubepods.slice"),
            (pods["cgroupfs_paths"], "in kubepods"),
            (len(pods["misplaced_paths"]), "misplaced"),
        )
        if count
    ]
    return f"{pods['sandboxes']} pod(s), cgroups of processes: {', '.join(places) or 'none'}"


def render_lead(facts: Facts) -> str:
    """The verdict in one sentence, with the finding that decides it."""
    sentence = _LEADS.get(str(facts["verdict"]), "")
    summary = deciding_summary(facts)
    return render_line(f"{sentence} {summary}" if summary else sentence.replace(":", "."))


def deciding_summary(facts: Facts) -> str:
    """The summary of the finding that decides the verdict; empty if the node has none."""
    verdict = facts["verdict"]
    return next((str(finding["summary"]) for finding in facts["findings"] if finding["effect"] == verdict), "")


def _finding(finding: Mapping[str, Any], reported: set[str]) -> Iterator[str]:
    """A finding with its evidence, without lines that are already in ``reported``."""
    yield render_line(f"    {finding['severity']:<7} {finding['summary']} [{finding['code']}]")
    evidence = [line for line in finding["evidence"] if line not in reported]
    reported.update(evidence[:SHOWN_EVIDENCE])
    for line in evidence[:SHOWN_EVIDENCE]:
        yield render_line(f"              {line}")
    if len(evidence) > SHOWN_EVIDENCE:
        yield f"              and {len(evidence) - SHOWN_EVIDENCE} more"


def _remedies(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The distinct remedies in the order of the findings, each with the codes of its findings."""
    codes: dict[str, list[str]] = {}
    for finding in findings:
        codes.setdefault(finding["remedy"], []).append(finding["code"])
    for number, (remedy, helped) in enumerate(codes.items(), 1):
        yield from _wrap(f"    {number}. ", f"{remedy} [{', '.join(dict.fromkeys(helped))}]")


def render_node(name: str, facts: Facts, selection: Filter = EVERYTHING) -> str:
    """Several lines about a node, from its facts document. A healthy node without a profile takes six."""
    verdict = str(facts["verdict"])
    lines = [
        f"{render_line(name)}: {verdict if verdict == 'aligned' else verdict.upper()}. {render_lead(facts)}",
        render_row("node", _node(facts)),
        render_row("kubelet", _kubelet(facts)),
        render_row("runtime", _runtime(facts["runtime"])),
        render_row("pods", _pods(facts["pods"])),
        *render_profile(facts["profile"]),
    ]
    findings = sort_findings(facts, selection)
    if findings:
        lines.append("  what disagrees" if verdict != "aligned" else "  worth knowing")
        reported: set[str] = set()
        for finding in findings:
            lines.extend(_finding(finding, reported))
        lines += [f"  {REMEDIES}", *_remedies(findings)]
    hidden = len(facts["findings"]) - len(findings)
    if hidden:
        lines.append(f"  {hidden} finding(s) hidden by your filter; the JSON report has them all.")
    return "\n".join(lines)
