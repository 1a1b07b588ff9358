# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The readable block of one node: what is true, what disagrees, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def _row(name: str, text: str) -> str:
    return f"  {name:<10} {text}"


def _on(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, "unknown")


def _kubelet(kubelet: Mapping[str, Any]) -> str:
    if not kubelet["installed"]:
        return "not installed"
    source = f" ({kubelet['cgroup_driver_source']})" if kubelet["cgroup_driver_source"] else ""
    state = "healthy" if kubelet["healthy"] else "not healthy"
    driver = kubelet["cgroup_driver"] or "unknown"
    return (
        f"{kubelet['version'] or 'version unknown'}, {state}, cgroup driver {driver}{source},"
        f" CPU manager {kubelet['cpu_manager_policy'] or 'unknown'}"
    )


def _runtime(runtime: Mapping[str, Any]) -> str:
    if not runtime["installed"]:
        return "no containerd"
    handlers = ", ".join(
        f"{name} {each['running'] or each['configured']}" for name, each in sorted(runtime["handlers"].items())
    )
    nri = "not supported" if runtime["nri"]["supported"] is False else _on(runtime["nri"]["running"])
    return f"{runtime['name']} {runtime['version'] or 'version unknown'}, handlers: {handlers}, NRI {nri}"


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


def _finding(finding: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {finding['severity']:<7} {finding['summary']} [{finding['code']}]"
    for line in finding["evidence"]:
        yield f"          - {line}"
    yield f"          > {finding['remedy']}"


def node_block(name: str, facts: Mapping[str, Any]) -> str:
    """Several lines about a node, from its published facts."""
    lines = [
        f"{name}: {facts['verdict'].upper()}",
        _row("cgroup", f"{facts['cgroup']['mode']} ({facts['cgroup']['reason']})"),
        _row("system", f"systemd {facts['systemd']['version']}, kernel {facts['kernel']['release']},"
                       f" CPUs {facts['cpu']['online']}"),
        _row("kubelet", _kubelet(facts["kubelet"])),
        _row("runtime", _runtime(facts["runtime"])),
        _row("pods", _pods(facts["pods"])),
    ]  # fmt: skip
    for finding in facts["findings"]:
        lines.extend(_finding(finding))
    return "\n".join(lines)
