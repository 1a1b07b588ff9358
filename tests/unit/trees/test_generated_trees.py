# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated nodes below a root: no traceback, no foreign byte changed, and check mode answers as the real run.

``python -m ansible_collections.volcano.colocation.tests.trees NUMBER`` prints the tree of a number.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.chroot_path import resolve_parent
from ansible_collections.volcano.colocation.plugins.module_utils.safe_text import printable
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import redact_text
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import Result, run
from ansible_collections.volcano.colocation.tests.trees.entries import Tree, digests, plant
from ansible_collections.volcano.colocation.tests.trees.node import generate

NUMBERS = range(220)
PARTS = 11
"""A failure of one tree must not hide those of others, and a test for each would take longer to set up than to run."""
STATE, PARENTS = "/var/lib/volcano-colocation", ("root/var", "root/var/lib")
WANTS = "/etc/systemd/system/slices.target.wants"
"""Links here start slices at boot."""
ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")
KUBELET: tuple[dict[str, Any], ...] = (
    {"cgroup_driver": "systemd"},
    {"cgroup_driver": "cgroupfs", "kubelet_strategy": "main-file"},
    {"cgroup_driver": "systemd", "cpu_manager_policy": "static", "system_reserved": {"cpu": "500m", "memory": "1Gi"}},
    {"feature_gates": {"MemoryQoS": True}, "pod_pids_limit": 4096},
    {"cpu_manager_policy": "none", "kubelet_strategy": "drop-in"},
    {"enforce_node_allocatable": ["pods"], "reserved_system_cpus": "0-1"},
)
RUNTIME: tuple[dict[str, Any], ...] = (
    {"cgroup_driver": "systemd"},
    {"cgroup_driver": "cgroupfs", "nri": {"enabled": False}},
    {"nri": {"enabled": True, "socket_path": "/run/nri.sock", "unsupported": "skip"}},
)
SLICES: tuple[dict[str, Any], ...] = (
    {"name": "node.slice", "properties": {"CPUWeight": 50}},
    {"name": "system.slice", "properties": {"MemoryLow": "1G"}},
    {"name": "node.slice", "state": "absent"},
)
SWITCHES: tuple[list[str], ...] = ([], ["vm.memcg_qos_enable"])


def tasks(tree: Tree) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tasks for a tree, in order."""
    random = Random(tree.number)  # noqa: S311 - a choice, nothing secret
    crio = any(path.startswith("usr/bin/crio") for path in tree.entries)
    yield "kubelet_config", random.choice(KUBELET)
    yield ("crio_config" if crio else "containerd_config"), random.choice(RUNTIME)
    if tree.number % 3 == 0:
        yield "systemd_slice", random.choice(SLICES)
    if tree.number % 3 == 1:
        yield "agent_sysctls", {"sysctls": random.choice(SWITCHES)}
    if tree.number % 2 == 0:
        yield "node_restore", {}


def comparable(result: Result) -> dict[str, Any]:
    """The part of a result that check mode and the real run must share, without transaction IDs."""
    message = ID.sub("ID", str(result.get("msg", "")))
    return {
        "failed": bool(result.get("failed")),
        "changed": result.get("changed"),
        "diff": result.get("diff"),
        "msg": message,
    }


def named(directory: Path, result: Result) -> dict[str, str]:
    """The files in a diff, resolved below the root, with their expected redacted content."""
    diff = result.get("diff") or []
    entries = diff if isinstance(diff, list) else [diff]
    return {_place(directory, entry["after_header"]): entry["after"] for entry in entries}


def _place(directory: Path, path: str) -> str:
    """Directories may be links to others below the root."""
    try:
        return os.path.relpath(resolve_parent(str(directory / "root"), path), directory)
    except OSError:
        return f"root{path}"


def without_state(directory: Path, tree: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    """The tree without the collection's own files and their parent directories."""
    state = _place(directory, STATE)
    return {path: attributes for path, attributes in tree.items() if not path.startswith(state) and path not in PARENTS}


def odd_state(directory: Path, tree: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    """Files at paths of the collection's directories, which the collection must not change."""
    state = _place(directory, STATE)
    places = (state, *(f"{state}/{name}" for name in ("transactions", "originals")))
    return {place: tree[place] for place in places if place in tree and not (directory / place).is_dir()}


def contradictions(directory: Path, module: str, options: dict[str, Any]) -> Iterator[str]:
    """Errors in what a task does with the tree below ``directory/root``."""
    arguments = {**options, "root": str(directory / "root")}
    before = digests(directory)
    odd = odd_state(directory, before)
    checked = run(module, arguments, check=True)
    if digests(directory) != before:
        yield "check mode changed the tree"
    real = run(module, arguments)
    if comparable(checked) != comparable(real):
        yield f"check mode said {comparable(checked)}, the real run {comparable(real)}"
    after = digests(directory)
    old, new = (without_state(directory, tree) for tree in (before, after))
    touched = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
    written = _written(directory, module, options, real)
    foreign = {path for path in touched if not _is_of(path, written)}
    if foreign:
        yield f"changed beside what it says: {sorted(foreign)}"
    if real.get("failed"):
        if odd_state(directory, after) != odd:
            yield f"failed and changed one of {sorted(odd)}"
        if touched:
            yield f"failed and changed {sorted(touched)}"
        return
    yield from (f"{path} is not as its diff says" for path in _unexpected_texts(directory, real))
    again = run(module, arguments)
    if again.get("failed") or again.get("changed"):
        yield f"a second run said {comparable(again)}"


def _is_of(path: str, written: Iterable[str]) -> bool:
    """Whether a path is in the diff, or is a parent directory of one."""
    return any(path == written_path or written_path.startswith(f"{path}/") for written_path in written)


def _written(directory: Path, module: str, options: Mapping[str, Any], result: Result) -> set[str]:
    """The paths in the diff, and the links that start slices at boot."""
    files = set(named(directory, result))
    slices = {os.path.basename(path) for path in files if module == "node_restore" and path.endswith(".slice")}
    if module == "systemd_slice":
        slices = {options["name"]}
    return files | {_place(directory, f"{WANTS}/{name}") for name in slices}


def _unexpected_texts(directory: Path, result: Result) -> Iterator[str]:
    for path, text in named(directory, result).items():
        place = directory / path
        output = place.read_bytes().decode("utf-8", "surrogateescape") if place.is_file() else ""
        if printable(redact_text(output)) != text:
            yield path


def wrong(number: int, directory: Path) -> Iterator[str]:
    tree = generate(number)
    plant(tree, directory / "root")
    before = digests(directory)
    facts = run("node_facts", {"root": str(directory / "root")})
    if facts.get("failed"):
        yield f"{number}: node_facts: {facts['msg']}"
    if digests(directory) != before:
        yield f"{number}: node_facts changed the tree"
    for module, options in tasks(tree):
        for message in contradictions(directory, module, options):
            yield f"{number}: {module} {options}: {message}"


@pytest.mark.parametrize("part", range(PARTS))
def test_a_generated_node_is_changed_as_check_mode_says_or_left_alone(part: int, tmp_path: Path) -> None:
    result: list[str] = []
    for number in NUMBERS[part::PARTS]:
        directory = tmp_path / str(number)
        directory.mkdir()
        try:
            result += wrong(number, directory)
        except Exception as error:  # a traceback of whatever kind is what is looked for
            result.append(f"{number}: {type(error).__name__}: {error}")
    assert result == [], "\n".join(result)


def test_there_are_enough_of_them_and_none_is_like_another() -> None:
    assert len(NUMBERS) >= 200
    assert len({generate(number).described() for number in NUMBERS}) == len(NUMBERS)


def test_a_number_has_one_tree_in_every_process() -> None:
    module = "ansible_collections.volcano.colocation.tests.trees"
    result = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(
        [sys.executable, "-m", module, "7"], capture_output=True, text=True, check=True, env=result
    ).stdout
    assert printed == generate(7).described() + "\n"
