# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is built of the installed collection, and prepares a controller without a network.

The wheels come from the package index of this machine. What is imported on nodes is in molecule/agent.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab import oci
from ansible_collections.volcano.colocation.tests.package.controller import Controller
from ansible_collections.volcano.colocation.tests.run.install import install
from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT, tool_environment

MANIFEST = CHECKOUT / "tests" / "unit" / "fixtures" / "manifests" / "volcano.yaml.txt"
AGENT = "docker.io/volcanosh/vc-agent:v1.14.1"
IMAGES = (
    AGENT,
    "docker.io/volcanosh/vc-webhook-manager:v1.14.0",
    "docker.io/volcanosh/vc-scheduler:v1.14.0",
    "docker.io/library/busybox:1.36",
)
LIBRARY = "kubernetes"
PIP = "TASK [volcano.colocation.bundle : Install the Python libraries of the controller]"


def archive(path: Path, image: str) -> str:
    content = oci.Image((image,), (oci.File("program", image.encode()),), ("/program",))
    path.write_bytes(oci.archive([content]))
    return str(path)


@pytest.fixture(scope="module", name="bundle")
def _bundle(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that the installed collection builds, with archives that a user already has."""
    root = tmp_path_factory.mktemp("connected")
    environment = tool_environment(os.environ)
    install(tarball, root / "collections", environment)
    users = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    variables = {
        "colocation_bundle_directory": str(root / "bundle"),
        "colocation_bundle_volcano_manifest": str(MANIFEST),
        "colocation_bundle_image_archives": {
            image: archive(root / f"{number}.tar", image) for number, image in enumerate(IMAGES)
        },
    }
    command = ("ansible-playbook", "volcano.colocation.bundle_build", "-e", json.dumps(variables))
    subprocess.run(command, env={**users, "ANSIBLE_COLLECTIONS_PATH": str(root / "collections")}, cwd=root, check=True)
    return root / "bundle"


@pytest.fixture(scope="module", name="commands")
def _commands(bundle: Path) -> list[list[str]]:
    """The commands in the bundle's README."""
    block = re.search(r"```sh\n(.*?)```", (bundle / "README.md").read_text(), re.DOTALL)
    assert block
    return [shlex.split(line) for line in block[1].splitlines()]


@pytest.fixture(scope="module", name="controller")
def _controller(tmp_path_factory: pytest.TempPathFactory) -> Controller:
    return Controller.create(tmp_path_factory.mktemp("controller"))


def prepare(
    controller: Controller, bundle: Path, *arguments: str, **variables: Any
) -> subprocess.CompletedProcess[str]:
    """Run the part of bundle_install that prepares the controller."""
    play = {"hosts": "localhost", "gather_facts": False, "roles": ["volcano.colocation.bundle"]}
    playbook = controller.root / "prepare.yml"
    playbook.write_text(json.dumps([play]))
    options = {"colocation_bundle_directory": str(bundle), **variables}
    return controller.run("ansible-playbook", playbook, "-e", json.dumps(options), *arguments)


def test_the_bundle_has_exactly_what_is_listed(bundle: Path) -> None:
    subprocess.run(["sha256sum", "--strict", "--quiet", "--check", "SHA256SUMS"], cwd=bundle, check=True)
    described = json.loads((bundle / "bundle.json").read_text())
    assert sorted(image["image"] for image in described["images"]) == sorted(IMAGES)
    assert list((bundle / "wheels").glob(f"{LIBRARY}-*.whl"))
    assert not [path for path in (bundle / "wheels").iterdir() if path.suffix != ".whl"]


def test_the_controller_has_no_network_and_no_library(controller: Controller) -> None:
    links = controller.run("ip", "-oneline", "link").stdout.splitlines()
    assert len(links) == 1
    assert "LOOPBACK" in links[0]
    assert ",UP" not in links[0]
    assert not controller.has(LIBRARY)


def test_the_commands_of_the_readme_install_the_collection(
    controller: Controller, bundle: Path, commands: list[list[str]]
) -> None:
    check, pip, galaxy, playbook = commands
    assert playbook[:4] == ["ansible-playbook", "-i", "INVENTORY", "volcano.colocation.bundle_install"]
    for command in (check, galaxy):
        done = controller.run(*command, directory=bundle)
        assert done.returncode == 0, done.stdout
    assert pip[:3] == ["python3", "-m", "pip"]
    dry_run = controller.run(*pip, "--dry-run", directory=bundle)
    assert "Would install" in dry_run.stdout, dry_run.stdout
    assert not controller.has(LIBRARY)


def test_check_mode_shows_missing_libraries_and_installs_none(controller: Controller, bundle: Path) -> None:
    done = prepare(controller, bundle, "--check")
    assert done.returncode == 0, done.stdout
    assert "changed=1" in done.stdout
    assert not controller.has(LIBRARY)


def test_the_playbook_installs_missing_libraries_once(controller: Controller, bundle: Path) -> None:
    first, second = prepare(controller, bundle), prepare(controller, bundle)
    assert first.returncode == 0, first.stdout
    assert "changed=1" in first.stdout
    assert controller.has(LIBRARY)
    assert second.returncode == 0, second.stdout
    assert "changed=0" in second.stdout


def test_the_installation_goes_on_to_the_nodes(controller: Controller, bundle: Path) -> None:
    """Only in check mode: the node is the machine that the tests run on, which has no API server."""
    variables = {
        "colocation_bundle_directory": str(bundle),
        "colocation_kubeconfig": str(controller.root / "nowhere.conf"),
        "ansible_become": False,
    }
    options = ("--check", "-i", "localhost,", "-c", "local", "-e", json.dumps(variables))
    done = controller.run("ansible-playbook", "volcano.colocation.bundle_install", *options)
    assert done.returncode != 0
    read = done.stdout.partition("TASK [volcano.colocation.agent : Read the archive of the agent's image]")[2]
    assert read.split("\n")[1] == "ok: [localhost]", done.stdout
    assert "TASK [volcano.colocation.agent : Check whether the node has the image or can import it]" in read
    assert "changed=0" in done.stdout


@pytest.mark.parametrize("name", ["images/docker.io_volcanosh_vc-agent_v1.14.1.tar", "bundle.json", "requirements.txt"])
def test_a_changed_file_is_refused_before_the_first_change(
    controller: Controller, bundle: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "bundle"
    shutil.copytree(bundle, copy)
    with (copy / name).open("ab") as stream:
        stream.write(b"\n")
    done = prepare(controller, copy)
    assert done.returncode != 0
    assert f"colocation_bundle_directory: {copy}: {name} was changed. Nothing was changed." in done.stdout
    assert PIP not in done.stdout


def test_another_bundle_than_the_expected_one_is_refused(controller: Controller, bundle: Path) -> None:
    done = prepare(controller, bundle, colocation_bundle_sha256="0" * 64)
    assert done.returncode != 0
    assert "colocation_bundle_sha256: " in done.stdout


def test_another_build_of_the_collection_is_refused(controller: Controller, bundle: Path) -> None:
    (installed,) = (controller.root / "home").rglob("ansible_collections/volcano/colocation/MANIFEST.json")
    before = installed.read_bytes()
    installed.write_bytes(before + b"\n")
    try:
        done = prepare(controller, bundle)
    finally:
        installed.write_bytes(before)
    assert done.returncode != 0
    assert "another build of the collection runs (0.1.0)" in done.stdout
    assert "ansible-galaxy collection install --offline --force" in done.stdout
