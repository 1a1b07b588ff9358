# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots in files: readable by their owner only, replayed like the node, and refused with a reason if broken."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import SIZE_LIMIT
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.profile_comparison import assess
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import SnapshotError
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.output_files import (
    name_write_errors,
    replace_file,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.snapshot_files import (
    assess_recorded,
    read_snapshot,
    recorded_snapshots,
    save_snapshot,
    write_report,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.hosts import described_hosts as hosts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DESIRED,
    DIFFERING,
    NAMES,
    captured,
    kubelet_adds,
    kubelet_flags,
    put,
)

PLANTED = "hunter2-Zm9v"
PLUGINS = Path(__file__).resolve().parents[4] / "plugins"


def replayed(directory: Path, snapshot: dict[str, Any], **profile: Any) -> dict[str, Any]:
    path = str(save_snapshot(directory, "node", snapshot))
    return assess_recorded(path, read_snapshot(path), profile)


def refused(directory: Path, document: Any) -> str:
    """The reason why the document is refused; it must name the file."""
    path = directory / "broken.snapshot.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SnapshotError) as caught:
        assess_recorded(str(path), read_snapshot(str(path)), DESIRED)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


@pytest.mark.parametrize("profile", [{}, DESIRED], ids=["no profile", "profile"])
@pytest.mark.parametrize("name", NAMES)
def test_a_captured_node_is_replayed_as_it_was(name: str, profile: dict[str, Any], tmp_path: Path) -> None:
    assert replayed(tmp_path, captured(name), **profile) == assess(captured(name), profile)


@pytest.mark.parametrize("name", hosts.NAMES)
def test_a_described_host_is_replayed_as_it_was(name: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    snapshot = hosts.snapshot_of(hosts.described(name).host, tree)
    assert replayed(tmp_path, snapshot, **DESIRED) == assess(snapshot, DESIRED)


def test_a_node_with_secrets_is_replayed_as_it_was_without_them(tmp_path: Path) -> None:
    snapshot = kubelet_flags(
        captured(DIFFERING), f"--api-token={PLANTED}", "--cgroup-driver=cgroupfs", "--token", PLANTED
    )
    snapshot = kubelet_adds(snapshot, f"staticPodURLHeader:\n  X-Access: [{PLANTED}]\n")
    assert replayed(tmp_path, snapshot, **DESIRED) == assess(snapshot, DESIRED)
    assert PLANTED not in (tmp_path / "node.snapshot.json").read_text(encoding="utf-8")


def test_a_snapshot_is_its_owners_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    os.umask(0o022)
    directory = tmp_path / "a" / "b"
    for _twice in range(2):
        path = save_snapshot(directory, "rack/7", captured(ALIGNED))
    assert path == directory / "rack_7.snapshot.json"
    assert [path.name for path in directory.iterdir()] == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert json.loads(path.read_text(encoding="utf-8"))["redacted"] is True


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "x", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_report_is_replaced(tmp_path: Path) -> None:
    for number in (1, 2):
        path = write_report(tmp_path / "new", "a/b", {"x": number})
    assert json.loads(path.read_text(encoding="utf-8")) == {"x": 2}
    assert sorted(item.name for item in path.parent.iterdir()) == [".gitignore", "a_b.json"]


def test_a_report_is_its_owners_alone(tmp_path: Path) -> None:
    os.umask(0o022)
    path = write_report(tmp_path / "new", "n1", {"x": 1})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


Writer = Callable[[Path, str, dict[str, Any]], Path]


@pytest.mark.parametrize("write", [write_report, save_snapshot])
@pytest.mark.parametrize("suffix", ["", ".part"])
def test_a_planted_link_is_not_written_through(write: Writer, suffix: str, tmp_path: Path) -> None:
    victim, directory = tmp_path / "victim", tmp_path / "reports"
    victim.write_text("precious", encoding="utf-8")
    path = write(directory, "n1", captured(ALIGNED))
    path.unlink()
    path.with_name(path.name + suffix).symlink_to(victim)
    write(directory, "n1", captured(ALIGNED))
    assert victim.read_text(encoding="utf-8") == "precious"
    assert not path.is_symlink()
    assert path.is_file()


IN_MEMORY, READS = "collection_tarball.py", "checksums.py"
"""Files that the search finds too: one makes an archive in memory, the other opens a file to read it."""


def test_only_two_files_write_files_on_the_controller() -> None:
    """``keep_snapshot`` writes into Ansible's own private directory, and creates files exclusively."""
    writes = re.compile(r"\.write_text\((?!plan|found)|\.write_bytes\(|open\([^)]*[\"'][wax]|os\.(?:open|fdopen)\(")
    result = {
        path.name
        for directory in ("action", "plugin_utils")
        for path in sorted((PLUGINS / directory).rglob("*.py"))
        if writes.search(path.read_text(encoding="utf-8"))
    }
    assert result - {IN_MEMORY, READS} == {"output_files.py", "snapshot_files.py"}


def test_nodes_are_called_what_their_files_are_called(tmp_path: Path) -> None:
    for name in ("b.snapshot.json", "a.json", ".hidden.json", "notes.txt", "a.b.snapshot.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [name for name, _path in recorded_snapshots(tmp_path)] == ["a.b", "a", "b"]
    assert list(recorded_snapshots(tmp_path / "a.json")) == [("a", str(tmp_path / "a.json"))]


def test_a_directory_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"^snapshots: .* has no snapshot, no file whose name ends with .json\. Set"):
        list(recorded_snapshots(tmp_path))
    with pytest.raises(ProfileError, match=r"^snapshots: .*gone cannot be read: No such file or directory\. Set it to"):
        list(recorded_snapshots(tmp_path / "gone"))


@pytest.mark.parametrize("write", [write_report, save_snapshot])
def test_a_directory_that_cannot_be_written_names_the_option(write: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(ProfileError, match=r"^directory: .*file cannot be written: File exists\. Set it to a directory"),
        name_write_errors("directory", str(tmp_path / "file")),
    ):
        write(tmp_path / "file", "n1", {})


def test_what_is_no_regular_file_or_too_large_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.json")
    (tmp_path / "directory.json").mkdir()
    (tmp_path / "link.json").symlink_to("link.json")
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(SIZE_LIMIT + 1)
    words = {
        "fifo": "not a regular file",
        "directory": "Is a directory",
        "link": "symbolic",
        "large": "bytes are more",
    }
    for name, message in words.items():
        with pytest.raises(SnapshotError, match=message):
            read_snapshot(str(tmp_path / f"{name}.json"))


@pytest.mark.parametrize(
    "text", ["", "{", '{"schema": 1', "[" * 100_000, '{"a":' * 100_000, "\x00", "null", "9" * 5000]
)
def test_what_is_no_document_is_refused_with_the_file_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SnapshotError, match=r"x\.json: not a "):
        read_snapshot(str(path))


MISSHAPEN: dict[str, tuple[Any, tuple[str | int, ...], str]] = {
    "boot": ({"/etc/default/grub": "psi=1"}, ("boot",), "boot./etc/default/grub is a string, not a list"),
    "static pods": ({"/m": [7]}, ("kubelet", "static_pods"), "kubelet.static_pods./m[0] is a number, not a string"),
    "rubik": ({"rubik": {"cgroup_driver": 1, "features": []}}, ("writers",), "writers.rubik.cgroup_driver is a number"),
    "tuned": (
        {"tuned": {"profiles": ["a"], "cpu_affinity": "", "isolated_cores": []}},
        ("writers",),
        "writers.tuned.isolated_cores is a list",
    ),
    "files": ([], ("kubelet", "files"), "kubelet.files is a list, not a mapping"),
    "text": (7, ("runtime", "files", "/etc/containerd/config.toml", "text"), "is a number, not a string"),
    "word": ([1], ("kubelet", "processes", 0, "argv"), "kubelet.processes[0].argv[0] is a number, not a string"),
    "processes": ({}, ("kubelet", "processes"), "kubelet.processes is a mapping, not a list"),
    "started": (True, ("kubelet", "processes", 0, "started_at"), "is true or false, not a number"),
    "mounts": ("x", ("cgroups", "mountinfo"), "cgroups.mountinfo is a string, not a list"),
    "hostname": (None, ("system", "kernel_release"), ""),
    "handlers": ({"runc": {"systemd_cgroup": "no"}}, ("runtime", "cri", "config", "handlers"), "not true or false"),
    "section": ([], ("kubelet",), "incomplete snapshot, missing sections: kubelet"),
    "schema": (2, ("schema",), "snapshot schema 2"),
    "checkpoint path": ("/gone", ("kubelet", "checkpoint_path"), "/gone is missing"),
}


@pytest.mark.parametrize("name", MISSHAPEN)
def test_a_wrong_type_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    value, place, message = MISSHAPEN[name]
    document = put(captured(DIFFERING), value, *place)
    if message:
        assert message in refused(tmp_path, document)
    else:
        assert replayed(tmp_path, document)["kernel"]["release"] is None


@pytest.mark.parametrize("place", [("kubelet", "config_path"), ("runtime", "cri"), ("services", "units")])
def test_what_is_missing_is_named(place: tuple[str, str], tmp_path: Path) -> None:
    document = captured(DIFFERING)
    del document[place[0]][place[1]]
    assert refused(tmp_path, document).endswith(f"{place[0]} lacks {place[1]}")


def test_a_wrong_profile_is_not_blamed_on_the_file() -> None:
    with pytest.raises(ProfileError):
        assess_recorded("x.json", captured(ALIGNED), {"kube_reserved": {"cpu": "half"}})


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    result = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return result + [deeper for key, item in inner for deeper in places(item, (*path, key))]


PLACES = places(captured(DIFFERING))
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def survives(document: Any) -> None:
    refusal = "x.json: "
    try:
        assess_recorded("x.json", document, DESIRED)
    except SnapshotError as error:
        refusal = str(error)
    assert refusal.startswith("x.json: ")


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
@example(("cpus", "online"), "0-99999999999999")
@example(("kubelet", "files", "/var/lib/kubelet/config.yaml", "text"), "a: &a [x]\nb: [*a, *a]\n? [c]\n: d")
@example(("cgroups", "mountinfo", 0), "")
@example(("kubelet", "version"), "\udcff")
def test_anything_in_any_place_is_read_or_refused(place: tuple[str | int, ...], value: Any) -> None:
    survives(put(captured(DIFFERING), value, *place))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PLACES), ANYTHING), min_size=2, max_size=5))
def test_several_wrong_places_are_read_or_refused(wrong: list[tuple[tuple[str | int, ...], Any]]) -> None:
    document = captured(DIFFERING)
    for place, value in wrong:
        try:
            document = put(document, value, *place)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    survives(document)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from([*captured(ALIGNED), "x"]), ANYTHING, max_size=12))
def test_any_document_is_read_or_refused(document: dict[str, Any]) -> None:
    survives({"schema": 1, **document})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(json.dumps(captured(DIFFERING))) - 1))
def test_a_truncated_file_is_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.json"
    path.write_text(json.dumps(captured(DIFFERING))[:length], encoding="utf-8")
    with pytest.raises(SnapshotError, match=r"x\.json: not a JSON document"):
        read_snapshot(str(path))
