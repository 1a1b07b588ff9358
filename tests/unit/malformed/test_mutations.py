# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of real nodes with a line deleted, doubled or reversed, or cut off anywhere.

Either exactly the desired edit is made, or it is refused and the tree stays; in check mode it always stays.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, RUNTIME
from ansible_collections.volcano.colocation.tests.unit.malformed.case import everything, grow

FIXTURES = Path(__file__).parent.parent / "fixtures" / "config_files"
STATE_DIRECTORY = "image/var/lib/volcano-colocation"
Read = Callable[[str], Mapping[str, Any]]
SUBJECTS: dict[str, tuple[str, str, Read]] = {
    **{path.name: ("kubelet_config", KUBELET, read_yaml) for path in FIXTURES.glob("kubelet-*")},
    **{path.name: ("containerd_config", RUNTIME, read_toml) for path in FIXTURES.glob("containerd-*")},
}
SETTINGS = ("cgroupDriver", "SystemdCgroup")
ADDED = ("runtime_type", "version")
"""Keys that are added for a handler without them, and for an empty file; existing lines are compared separately."""


def mutated(text: bytes, kind: str, at: float) -> bytes:
    """``at``: the position in the text, from 0 to 1."""
    if kind == "cut off":
        return text[: int(at * len(text))]
    lines = text.splitlines(keepends=True)
    number = min(int(at * len(lines)), len(lines) - 1)
    line = lines[number]
    turned = {
        "delete": b"",
        "double": line * 2,
        "turn": line.strip()[::-1] + b"\n",
        "flip": bytes([line[0] ^ 1]) + line[1:],
    }
    return b"".join([*lines[:number], turned[kind], *lines[number + 1 :]])


def without_settings(values: Any) -> Any:
    """A document without the driver, and without tables that contain only the driver."""
    if isinstance(values, Mapping):
        inner = {key: without_settings(value) for key, value in values.items() if key not in SETTINGS + ADDED}
        return {key: value for key, value in inner.items() if value not in ({}, None)}
    return values


def check_one(name: str, kind: str, at: float, directory: Path) -> None:
    module, path, read = SUBJECTS[name]
    text = mutated((FIXTURES / name).read_bytes(), kind, at)
    root = grow(directory / "image", {path: text})
    before = everything(directory)
    task = {"root": str(root), "cgroup_driver": "systemd"}
    predicted = run(module, task, check=True)
    assert everything(directory) == before
    result = run(module, task)
    after = {name: value for name, value in everything(directory).items() if not name.startswith(STATE_DIRECTORY)}
    assert (result.get("failed"), result.get("diff")) == (predicted.get("failed"), predicted.get("diff"))
    if result.get("failed") or not result["changed"]:
        assert after == before
        assert not result.get("failed") or f"/{path}" in result["msg"]
        return
    edited = (root / path).read_bytes()
    assert without_settings(read(edited.decode())) == without_settings(read(text.decode()))
    assert set(text.splitlines()) - set(edited.splitlines()) <= {
        line for line in text.splitlines() if any(setting.encode() in line for setting in SETTINGS)
    }
    assert {name: value for name, value in after.items() if name != f"image/{path}"} == {
        name: value for name, value in before.items() if name != f"image/{path}"
    }


@pytest.mark.parametrize("name", sorted(SUBJECTS))
@settings(max_examples=25)
@given(some.sampled_from(["cut off", "delete", "double", "turn", "flip"]), some.floats(0, 1))
def test_it_is_edited_correctly_or_refused(name: str, kind: str, at: float) -> None:
    with tempfile.TemporaryDirectory() as directory:
        check_one(name, kind, at, Path(directory))
