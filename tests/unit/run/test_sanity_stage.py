# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree and the home that ansible-test gets."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ansible_collections.volcano.colocation.tests.run.sanity import HOME, copy_tree, environment, pip_conf


def test_the_copy_holds_what_git_tracks_or_would(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "plugins").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", source], check=True)
    for name in ("tracked", "untracked", "gone", "ignored", "plugins/deep"):
        (source / name).write_text(name)
    (source / ".gitignore").write_text("ignored\n")
    subprocess.run(["git", "add", "tracked", "gone", ".gitignore"], cwd=source, check=True)
    (source / "gone").unlink()
    target.mkdir()
    (target / "stale").write_text("from the last run")

    copy_tree(source, target)

    copied = {str(path.relative_to(target)): path for path in target.rglob("*") if path.is_file()}
    assert {name for name in copied if not name.startswith(".git/")} == {
        *("tracked", "untracked", ".gitignore", "plugins/deep"),
    }
    assert copied["plugins/deep"].read_text() == "plugins/deep"


def test_pip_is_set_as_the_developers_is_and_variables_win() -> None:
    listed = ":env:.timeout='180'\nglobal.index-url='file:///one'\nglobal.timeout='15'\ninstall.no-index='true'\n"
    assert pip_conf(listed) == ("[global]\nindex-url = file:///one\ntimeout = 180\n[install]\nno-index = true\n")


def test_pip_without_settings() -> None:
    assert pip_conf("") == ""


def test_nothing_leads_ansible_test_to_the_checkout() -> None:
    base = {"PATH": "/bin", "HOME": "/home/someone", "PYTHONPATH": "/checkout", "ANSIBLE_COLLECTIONS_PATH": "/checkout"}
    assert environment(base) == {"PATH": "/bin", "HOME": str(HOME)}
