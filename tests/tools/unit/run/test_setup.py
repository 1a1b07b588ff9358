# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/setup: packages that cannot be installed, and existing Python tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT
from ansible_collections.volcano.colocation.tests.run.venvs import STAMP

LAB = "import sys; print('no-such-package'); sys.exit(1)\n"
PROGRAMS = {
    "bwrap": "exit 1",
    "apt-get": 'echo "$@" >>"$CALLS"; echo \'E: no network\' >&2; exit 1',
    "id": "echo 1000",
    "sudo": 'if [ "$1" = -n ]; then shift; fi; exec "$@"',
}
"""Programs of a user who may call sudo, on a machine without a network."""


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    """A checkout with a lab that lacks a package, whose Python tools are complete."""
    root = tmp_path / "checkout"
    for name in ("tests/setup", "tests/run/venvs.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, root / name)
    shutil.copytree(CHECKOUT / "requirements", root / "requirements")
    (root / "tests" / "lab").mkdir()
    (root / "tests" / "lab" / "__main__.py").write_text(LAB)
    (tmp_path / "bin").mkdir()
    for name, script in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    tools = subprocess.run(
        [sys.executable, "-I", "tests/run/venvs.py", "path"],
        cwd=root,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    Path(tools).mkdir(parents=True)
    (Path(tools) / STAMP).touch()
    return root


def environment(directory: Path) -> dict[str, str]:
    return {
        **os.environ,
        "CALLS": str(directory / "calls"),
        "PATH": os.pathsep.join([str(directory / "bin"), os.environ["PATH"]]),
        "XDG_CACHE_HOME": str(directory / "cache"),
    }


def setup(checkout: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["tests/setup", *arguments],
        cwd=checkout,
        env={**environment(checkout.parent), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_packages_that_cannot_be_installed_are_named_and_the_rest_goes_on(checkout: Path) -> None:
    done = setup(checkout)
    assert done.returncode == 0, done.stderr
    assert "E: no network" in done.stderr
    assert "setup: apt-get could not install: no-such-package" in done.stderr
    assert (checkout / ".cache" / "venv" / STAMP).exists()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("apt-get", "this is not a Debian; install what corresponds to: no-such-package"),
        ("sudo", "neither root nor sudo; run as root: apt-get install no-such-package"),
    ],
)
def test_without_a_program_the_packages_are_named(checkout: Path, program: str, reason: str) -> None:
    programs = checkout.parent / "bin"
    (programs / program).unlink()
    for name in (
        "bash",
        "dirname",
        "echo",
        "env",
        "gpg",
        "gpg-agent",
        "ln",
        "mkdir",
        "openssl",
        "sort",
        "ssh",
        "xargs",
    ):
        (programs / name).symlink_to(shutil.which(name) or name)
    done = setup(checkout, PATH=str(programs))
    assert done.returncode == 0, done.stderr
    assert f"setup: {reason}\n" in done.stderr
    assert (checkout / ".cache" / "venv" / STAMP).exists()
    assert not (checkout.parent / "calls").exists()


def test_tools_of_another_checkout_are_linked(checkout: Path) -> None:
    (checkout / "tests" / "lab" / "__main__.py").write_text("")
    done = setup(checkout)
    assert done.returncode == 0, done.stderr
    assert "will install" not in done.stdout
    assert (checkout / ".cache" / "venv").resolve().parent == checkout.parent / "cache/volcano-colocation/venv"
