# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball as a user has it: installed into an empty directory, and used by FQCN from another one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.install import install
from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT, tool_environment

MODULES = sorted(path.stem for path in (CHECKOUT / "plugins" / "modules").glob("*.py"))
PLAYBOOKS = sorted(path.stem for path in (CHECKOUT / "playbooks").glob("*.yml"))


@pytest.fixture(scope="module")
def environment(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user, who has only the directory in which the tarball is installed."""
    directory = tmp_path_factory.mktemp("collections")
    project_environment = tool_environment(os.environ)
    install(tarball, directory, project_environment)
    users = {name: value for name, value in project_environment.items() if name != "PYTHONPATH"}
    return {
        **users,
        "ANSIBLE_COLLECTIONS_PATH": str(directory),
        "FIXTURES": str(CHECKOUT / "tests" / "unit" / "fixtures"),
    }


def call(environment: dict[str, str], directory: Path, *command: str) -> str:
    result = subprocess.run(
        command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_only_what_a_user_needs_is_shipped(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        tops = {name.split("/")[0] for name in archive.getnames()}
    assert tops == {
        *(
            "CHANGELOG.md",
            "CODE_OF_CONDUCT.md",
            "CONTRIBUTING.md",
            "COPYING",
            "LICENSES",
            "MAINTAINERS.md",
            "README.md",
        ),
        *("FILES.json", "MANIFEST.json", "REUSE.toml", "SECURITY.md"),
        *("changelogs", "docs", "meta", "playbooks", "plugins", "requirements", "roles"),
    }


def test_the_sample_inventory_is_shipped_with_its_variables(environment: dict[str, str], tmp_path: Path) -> None:
    collection = Path(environment["ANSIBLE_COLLECTIONS_PATH"]) / "ansible_collections" / "volcano" / "colocation"
    inventory = collection / "docs" / "examples" / "inventory.yml"
    listing = json.loads(call(environment, tmp_path, "ansible-inventory", "-i", str(inventory), "--list"))
    hosts = listing["_meta"]["hostvars"]
    assert {name: host["colocation_cpu_manager_policy"] for name, host in hosts.items()} == {
        "node1": "static",
        "node2": "none",
    }
    assert {host["colocation_cgroup_driver"] for host in hosts.values()} == {"systemd"}


def test_requirements_of_a_controller_are_shipped(tarball: Path) -> None:
    """meta/execution-environment.yml names the first; the second has the tested versions with their hashes."""
    with tarfile.open(tarball) as archive:
        shipped = [info.name for info in archive if info.isfile() and info.name.startswith("requirements/")]
    assert sorted(shipped) == ["requirements/controller.txt", "requirements/locks/controller.txt"]


def test_the_changelog_is_shipped_without_fragments(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        shipped = [info.name for info in archive if info.isfile() and info.name.startswith("changelogs/")]
    assert sorted(shipped) == ["changelogs/changelog.yaml", "changelogs/config.yaml"]


def test_links_and_home_of_the_project_are_in_the_manifest(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        content = archive.extractfile("MANIFEST.json")
        assert content
        described = json.load(content)["collection_info"]
    repository = described["repository"]
    assert described["homepage"] == repository
    assert described["issues"] == f"{repository}/issues"
    assert described["documentation"] == f"{repository}/tree/main/docs"


def test_every_module_is_documented(environment: dict[str, str], tmp_path: Path) -> None:
    names = [f"volcano.colocation.{name}" for name in MODULES]
    documented = json.loads(call(environment, tmp_path, "ansible-doc", "--type", "module", "--json", *names))
    assert sorted(documented) == names
    assert all(entry["doc"]["short_description"] for entry in documented.values())


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_every_playbook_is_found_by_its_name(environment: dict[str, str], tmp_path: Path, name: str) -> None:
    call(environment, tmp_path, "ansible-playbook", "--syntax-check", f"volcano.colocation.{name}")


def test_a_localhost_playbook_runs(environment: dict[str, str], tmp_path: Path) -> None:
    playbook = tmp_path / "replay.yml"
    playbook.write_text((CHECKOUT / "tests" / "package" / "replay.yml").read_text())
    assert "failed=0" in call(environment, tmp_path, "ansible-playbook", str(playbook))


def test_defaults_reach_the_modules_of_the_action_group(environment: dict[str, str], tmp_path: Path) -> None:
    snapshot = next((CHECKOUT / "tests" / "unit" / "fixtures" / "snapshots").glob("*.json"))
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {"group/volcano.colocation.node": {"snapshot": str(snapshot)}},
        "tasks": [
            {"volcano.colocation.node_facts": {}},
            {"ansible.builtin.assert": {"that": "ansible_facts.colocation.verdict is defined"}},
        ],
    }
    playbook = tmp_path / "defaults.yml"
    playbook.write_text(json.dumps([play]))
    call(environment, tmp_path, "ansible-playbook", str(playbook))


@pytest.mark.parametrize("module", ["cgroup_qos", "node_ledger", "node_transaction"])
def test_a_module_that_installs_the_engine_brings_all_of_it(
    environment: dict[str, str], tmp_path: Path, module: str
) -> None:
    """Ansible sends a module with the files that it imports; the engine's own command line imports more."""
    keep = {**environment, "ANSIBLE_KEEP_REMOTE_FILES": "1", "ANSIBLE_REMOTE_TEMP": str(tmp_path)}
    # The module is sent, then fails because it has no arguments.
    argv = ["ansible", "localhost", "--connection", "local", "--module-name", f"volcano.colocation.{module}"]
    subprocess.run(argv, cwd=tmp_path, env=keep, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    sent = next(tmp_path.rglob("AnsiballZ_*.py"))
    call(environment, tmp_path, sys.executable, str(sent), "explode")
    engine = tmp_path / "engine"
    call(
        {**environment, "PYTHONPATH": str(sent.parent / "debug_dir")},
        *(tmp_path, sys.executable, str(Path(__file__).with_name("engine.py")), str(engine)),
    )
    main = (engine / "__main__.py").read_text()
    begins = re.findall(r"from (\S+) import main", main)
    assert len(begins) == 2
    call(environment, engine, sys.executable, "-c", f"import {', '.join(begins)}")
