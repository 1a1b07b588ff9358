# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree and the home of ansible-test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import matrix, sanity, venvs
from ansible_collections.volcano.colocation.tests.run.sanity import (
    copy_tree,
    environment,
    home_directory,
    main,
    pip_conf,
    script_name,
    write,
)


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


def test_a_pip_without_settings_gets_an_empty_file() -> None:
    assert pip_conf("") == ""


def test_nothing_leads_ansible_test_to_the_checkout() -> None:
    base = {"PATH": "/bin", "HOME": "/home/someone", "PYTHONPATH": "/checkout", "ANSIBLE_COLLECTIONS_PATH": "/checkout"}
    assert environment(base, Path("/home/sanity")) == {"PATH": "/bin", "HOME": "/home/sanity"}


def test_all_checkouts_share_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert home_directory(Path(sys.executable)).parent == tmp_path / "volcano-colocation" / "sanity"


def test_the_script_has_the_name_that_ansible_test_looks_for() -> None:
    assert script_name(Path(sys.executable)) == "get_pip_24_2.py"


def test_another_form_of_ansible_test_is_named(tmp_path: Path) -> None:
    source = tmp_path / "lib/python3.11/site-packages/ansible_test/_internal/python_requirements.py"
    source.parent.mkdir(parents=True)
    source.write_text("pip = None\n")
    with pytest.raises(ValueError, match="has 0 versions of pip"):
        script_name(tmp_path / "bin" / "python")


def test_each_release_runs_and_failures_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[Path] = []

    def run(python: Path) -> int:
        ran.append(python)
        return int(python == Path("/2.21"))

    monkeypatch.setattr(sanity, "copy_tree", lambda _source, _target: None)
    monkeypatch.setattr(sanity, "run", run)
    monkeypatch.setattr(matrix, "find_python", lambda _version: None)
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    monkeypatch.setattr(venvs, "provide", lambda recipe: Path("/") / recipe.name.removeprefix("core-"))
    assert main(["--releases"]) == 0
    assert ran == [Path("/2.17"), Path("/2.18")]
    assert "not run: sanity on ansible-core 2.21: install Python 3.12" in capsys.readouterr().out
    monkeypatch.setattr(matrix, "find_python", lambda _version: Path("/python3.12"))
    assert main(["--releases"]) == 1
    assert capsys.readouterr().out.endswith("failed: ansible-core 2.21\n")


def test_a_file_is_replaced_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "pip.conf"
    write(path, "one")
    write(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
