# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from the boot loader's files, the directory of static pods and rubik's file, without other content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.boot_evidence import (
    ENTRIES,
    GRUB,
    GRUB_DIRECTORY,
    KERNEL_INSTALL,
    LONGEST,
    MAX_FILES,
    boot,
    cgroup_words,
    grub_line,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_evidence import (
    DIRECTORY_LIMIT,
    NAME_LIMIT,
    static_pods,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.process_evidence import RUBIK_CONFIG, rubik

V1 = "systemd.unified_cgroup_hierarchy=0"
SECRET = "password=hunter2-Zm9v"


def grow(root: Path, files: dict[str, str]) -> Host:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Host(str(root))


def test_only_watched_words_are_taken() -> None:
    assert cgroup_words(f"quiet {SECRET} 'psi=1' {V1} \"cgroup_disable=memory\" psix=1 xpsi=1") == [
        "psi=1",
        V1,
        "cgroup_disable=memory",
    ]
    assert cgroup_words("x" * LONGEST + " psi=1") == []


GRUB_TEXTS = {
    "the last assignment wins": (['GRUB_CMDLINE_LINUX="psi=0"\nGRUB_CMDLINE_LINUX="psi=1"\n'], ["psi=1"]),
    "a comment": (["#GRUB_CMDLINE_LINUX=psi=0\n"], []),
    "both lines, in grub's order": (
        ["GRUB_CMDLINE_LINUX_DEFAULT='psi=1'\nGRUB_CMDLINE_LINUX=psi=0\n"],
        ["psi=0", "psi=1"],
    ),
    "a later file takes up the earlier": (
        ['GRUB_CMDLINE_LINUX="psi=1"\n', f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {V1}"\n'],
        ["psi=1", V1],
    ),
    "with braces": (
        ['GRUB_CMDLINE_LINUX="psi=1"\n', 'export GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX} psi_v1=1"\n'],
        ["psi=1", "psi_v1=1"],
    ),
    "more": (['GRUB_CMDLINE_LINUX="psi=1"\nGRUB_CMDLINE_LINUX+=" psi_v1=1"\n'], ["psi=1", "psi_v1=1"]),
    "another variable is empty": (['GRUB_CMDLINE_LINUX="psi=1$(cat /x) $OTHER"\n'], ["psi=1$(cat"]),
    "a quote that does not end": (['GRUB_CMDLINE_LINUX="psi=1'], ["psi=1"]),
    "nothing after the sign": (["GRUB_CMDLINE_LINUX=\n"], []),
    "another line": (["GRUB_CMDLINE_LINUX_RECOVERY=psi=1\n"], []),
}


@pytest.mark.parametrize("case", GRUB_TEXTS)
def test_what_grubs_defaults_come_to(case: str) -> None:
    texts, words = GRUB_TEXTS[case]
    assert cgroup_words(grub_line(texts)) == words


def test_a_line_that_doubles_itself_stays_bounded() -> None:
    doubling = 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX$GRUB_CMDLINE_LINUX x"\n'
    assert len(grub_line([doubling * 200])) <= LONGEST + 1


def test_missing_files_are_distinguished_from_files_without_parameters(tmp_path: Path) -> None:
    assert boot(Host(str(tmp_path))) == {}
    assert boot(grow(tmp_path, {GRUB: "GRUB_TIMEOUT=1\n"})) == {GRUB: []}


def test_switches_in_grubs_drop_ins_are_taken_and_nothing_else(tmp_path: Path) -> None:
    files = {
        GRUB: f'GRUB_CMDLINE_LINUX="{V1}"\n',
        f"{GRUB_DIRECTORY}/50-cloud.cfg": f'GRUB_CMDLINE_LINUX_DEFAULT="psi=1 {SECRET}"\n',
        f"{GRUB_DIRECTORY}/60.cfg.bak": 'GRUB_CMDLINE_LINUX=""\n',
    }
    assert boot(grow(tmp_path, files)) == {GRUB: [V1, "psi=1"]}


def test_variables_in_boot_entries_are_resolved_and_secrets_left(tmp_path: Path) -> None:
    files = {
        KERNEL_INSTALL: f"root=/dev/vda1 {SECRET} psi=1\n",
        "/boot/grub2/grubenv": f"# GRUB Environment Block\nkernelopts=ro {V1}\n####\n",
        f"{ENTRIES}/a.conf": "title a\noptions $kernelopts $tuned_params\noptions psi=0\n",
        f"{ENTRIES}/b.conf": "title b\n",
        f"{ENTRIES}/0-rescue.conf": "options psi=1\n",
        f"{ENTRIES}/README": "options psi=1\n",
    }
    assert boot(grow(tmp_path, files)) == {
        KERNEL_INSTALL: ["psi=1"],
        f"{ENTRIES}/a.conf": [V1, "psi=0"],
        f"{ENTRIES}/b.conf": [],
    }


def test_the_chosen_entry_alone_counts(tmp_path: Path) -> None:
    files = {
        "/boot/grub/grubenv": "saved_entry=b\n",
        f"{ENTRIES}/a.conf": "options psi=0\n",
        f"{ENTRIES}/b.conf": "options psi=1\n",
    }
    assert boot(grow(tmp_path, files)) == {f"{ENTRIES}/b.conf": ["psi=1"]}


def test_an_entry_that_is_chosen_and_gone(tmp_path: Path) -> None:
    files = {"/boot/grub/grubenv": "saved_entry=../../etc/shadow\n", f"{ENTRIES}/a.conf": "options psi=0\n"}
    assert boot(grow(tmp_path, files)) == {f"{ENTRIES}/a.conf": ["psi=0"]}


def test_entries_are_bounded(tmp_path: Path) -> None:
    files = {f"{ENTRIES}/{number:03}.conf": "options psi=0\n" for number in range(MAX_FILES + 9)}
    assert len(boot(grow(tmp_path, files))) == MAX_FILES


def test_what_is_no_file(tmp_path: Path) -> None:
    place = tmp_path / ENTRIES.lstrip("/")
    place.mkdir(parents=True)
    os.mkfifo(place / "pipe.conf")
    (place / "loop.conf").symlink_to("loop.conf")
    (tmp_path / "etc/default/grub").mkdir(parents=True)
    assert boot(Host(str(tmp_path))) == {}


DIRECTORY = "/etc/kubernetes/manifests"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["kubelet", f"--pod-manifest-path={DIRECTORY}/"], ""),
        ([], f"staticPodPath: {DIRECTORY}\n"),
        ([], f'kind: x\n"staticPodPath": "{DIRECTORY}/" # here\n'),
        ([], f'{{"a": 1,\n "staticPodPath": "{DIRECTORY}"}}\n'),
    ],
)
def test_the_directory_of_static_pods_wherever_it_is_named(tmp_path: Path, words: list[str], text: str) -> None:
    host = grow(tmp_path, {f"{DIRECTORY}/a.yaml": SECRET, f"{DIRECTORY}/.b.swp": "", f"{DIRECTORY}/old/c.yaml": ""})
    assert static_pods(host, words, [text]) == {DIRECTORY: [".b.swp", "a.yaml"]}


def test_directories_of_static_pods_that_are_none(tmp_path: Path) -> None:
    host = grow(tmp_path, {"/etc/file": ""})
    text = "staticPodPath: relative\nstaticPodPath: /\n#staticPodPath: /no\nstaticPodPath: /nowhere\n"
    assert static_pods(host, [], [text, "staticPodPath: /etc/file\n"]) == {"/etc/file": [], "/nowhere": []}


def test_static_pods_are_bounded(tmp_path: Path) -> None:
    host = grow(tmp_path, {f"{DIRECTORY}/{number:04}.yaml": "" for number in range(NAME_LIMIT + 9)})
    text = f"staticPodPath: {DIRECTORY}\n" + "".join(f"staticPodPath: /x/{number}\n" for number in range(40))
    evidence = static_pods(host, [], [text])
    assert len(evidence) == DIRECTORY_LIMIT
    assert len(evidence[DIRECTORY]) == NAME_LIMIT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"agent": {"cgroupDriver": "systemd", "logDir": "x"}}', {"cgroup_driver": "systemd", "features": []}),
        ('{"agent": {"enabledFeatures": ["psi", 7]}}', {"cgroup_driver": None, "features": ["psi"]}),
        ('{"agent": {"cgroupDriver": 1, "enabledFeatures": {}}}', {"cgroup_driver": None, "features": []}),
        ("{}", {"cgroup_driver": None, "features": []}),
        ('{"agent": []}', None),
        ("[]", None),
        ('{"agent":', None),
        ("[" * 100_000, None),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), None),
    ],
)
def test_driver_and_features_are_read_from_rubiks_file(tmp_path: Path, text: str, expected: object) -> None:
    assert rubik(grow(tmp_path, {RUBIK_CONFIG: text})) == expected


def test_a_node_without_rubiks_file_has_no_evidence_of_it(tmp_path: Path) -> None:
    assert rubik(Host(str(tmp_path))) is None
