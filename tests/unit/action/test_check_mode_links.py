# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode refuses the same images as the real run, and changes nothing in them or next to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import (
    RUNTIME,
    STATE,
    contents,
    grow,
    without_state,
)

SLICES = "etc/systemd/system"
Spoil = Callable[[Path], None]


def outside(root: Path) -> Path:
    """A directory on this machine outside the image, which a link could point to."""
    outside_directory = root.parent / "outside"
    outside_directory.mkdir(exist_ok=True)
    (outside_directory / "config.toml").write_text("version = 2\n# of this machine\n")
    return outside_directory


def replaced(root: Path, directory: str, target: str | Path) -> None:
    """A link at the path of a directory, whose content is deleted."""
    place = root / directory
    if place.is_dir():
        place.rename(root.parent / "moved")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def leads_out(directory: str) -> Spoil:
    return lambda root: replaced(root, directory, outside(root))


def circle(directory: str) -> Spoil:
    return lambda root: replaced(root, directory, "/" + directory)


def leads_inside(directory: str) -> Spoil:
    def spoil(root: Path) -> None:
        (root / "data").mkdir()
        replaced(root, directory, "/data")

    return spoil


def is_a_file(directory: str) -> Spoil:
    def spoil(root: Path) -> None:
        replaced(root, directory, "nowhere")
        (root / directory).unlink()
        (root / directory).write_text("not a directory")

    return spoil


WAYS = {"leads out": leads_out, "circle": circle, "leads inside": leads_inside, "is a file": is_a_file}
REFUSED = ("leads out", "circle", "is a file")
DRIVER = {"cgroup_driver": "systemd"}
RUNS: dict[str, tuple[str, dict[str, Any], str]] = {
    "containerd": ("containerd_config", DRIVER, "etc/containerd"),
    "containerd, above": ("containerd_config", DRIVER, "etc"),
    "crio": ("crio_config", {"cgroup_driver": "cgroupfs"}, "etc/crio"),
    "slice": ("systemd_slice", {"name": "node.slice"}, SLICES),
    "slice, above": ("systemd_slice", {"name": "node.slice"}, "etc"),
    "slice, link": ("systemd_slice", {"name": "node.slice"}, f"{SLICES}/slices.target.wants"),
    "slice, drop-in": (
        "systemd_slice",
        {"name": "system.slice", "properties": {"CPUWeight": 50}},
        f"{SLICES}/system.slice.d",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RUNS)
def test_check_mode_refuses_what_the_real_run_does(tmp_path: Path, name: str, way: str) -> None:
    module, options, directory = RUNS[name]
    own = {"usr/bin/crio": "", "usr/bin/containerd": None, RUNTIME: None} if module == "crio_config" else {}
    root = grow(tmp_path / "image", own)
    WAYS[way](directory)(root)
    before = contents(tmp_path)
    checked = in_process.run(module, {**options, "root": str(root)}, check=True)
    assert contents(tmp_path) == before
    real = in_process.run(module, {**options, "root": str(root)})
    for key in ("failed", "changed", "msg"):
        assert checked.get(key, False) == real.get(key, False), key
    assert bool(real.get("failed")) is (way in REFUSED), real
    if real.get("failed"):
        assert without_state(contents(root)) == without_state(contents_below(before, "image/"))
    assert {path: text for path, text in contents(tmp_path).items() if not path.startswith("image")} == {
        path: text for path, text in before.items() if not path.startswith("image")
    }


@pytest.mark.parametrize("place", [STATE, f"{STATE}/transactions"])
def test_check_mode_is_refused_where_no_transaction_can_be_kept(tmp_path: Path, place: str) -> None:
    """A file at the path of a directory."""
    root = grow(tmp_path / "image", {place: "no directory\n"})
    before = contents(root)
    results = [
        in_process.run("containerd_config", {**DRIVER, "root": str(root)}, check=check) for check in (True, False)
    ]
    assert contents(root) == before
    assert [result.get("failed") for result in results] == [True, True]
    assert results[0]["msg"] == results[1]["msg"]
    assert f"/{place}: cannot list it: Not a directory" in results[0]["msg"]


@pytest.mark.parametrize("place", ["originals", "transactions", "lock"])
def test_a_link_in_the_place_of_what_is_ours_is_refused_and_not_followed(tmp_path: Path, place: str) -> None:
    """Originals that no ledger entry names are removed; in a foreign directory this would be all files."""
    root = grow(tmp_path / "image", {})
    (root / STATE).mkdir(parents=True)
    (root / STATE / place).symlink_to("/outside" if place == "lock" else outside(root))
    before = contents(tmp_path)
    results = [
        in_process.run("containerd_config", {**DRIVER, "root": str(root)}, check=check) for check in (True, False)
    ]
    assert [result.get("failed") for result in results] == [True, True]
    assert results[0]["msg"] == results[1]["msg"]
    assert f"{STATE}/{place}: " in results[0]["msg"]
    assert without_mode(contents(tmp_path)) == without_mode(before)


def without_mode(tree: dict[str, bytes | str]) -> dict[str, bytes | str]:
    """A refused transaction leaves its result, and sets the mode of the state directory."""
    return {
        path: text
        for path, text in tree.items()
        if f"{STATE}/transactions/" not in path and not path.endswith((f"{STATE}:mode", f"{STATE}/transactions:mode"))
    }


def contents_below(tree: dict[str, bytes | str], prefix: str) -> dict[str, bytes | str]:
    return {path[len(prefix) :]: text for path, text in tree.items() if path.startswith(prefix)}
