# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-test sanity` on a copy of the checkout, because it refuses a tree that is reached by a link.

It needs only a package index. For its virtual environments it would download a script that installs pip; it uses a
script of that name in its cache instead, which installs the pip of Python's ensurepip. The cache is below HOME, so
ansible-test gets a separate home, with a pip.conf that has the developer's settings of pip. All checkouts share that
home, because its virtual environments take a minute: one process creates them all before any test runs.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import venvs
from .places import CACHE, CHECKOUT, tool_environment

TREE = CACHE / "sanity" / "ansible_collections" / "volcano" / "colocation"

GET_PIP = Path(".ansible") / "test" / "cache" / "get_pip_24_2.py"
"""The name of the script for ansible-core 2.19: ansible_test/_data/requirements, pip_version."""

PIP_CONF = Path(".config") / "pip" / "pip.conf"

GET_PIP_SCRIPT = """\
import ensurepip

ensurepip.bootstrap(upgrade=True)
"""


def main() -> int:
    copy_tree(CHECKOUT, TREE)
    try:
        home = venvs.obtain(home_directory(), prime)
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd}: exit status {error.returncode}; the next run creates the virtual environments again")
        return 1
    write(home / PIP_CONF, pip_settings())
    return call(home, *sys.argv[1:])


def home_directory() -> Path:
    """The home, named by the digest of ansible-test's requirements and of the Python."""
    lists = sorted(
        (Path(sysconfig.get_path("purelib")) / "ansible_test" / "_data" / "requirements").glob("sanity.*.txt")
    )
    texts = [path.read_text(encoding="utf-8") for path in lists]
    return venvs.shared("sanity") / venvs.digest([venvs.identity(Path(sys.executable)), GET_PIP_SCRIPT, *texts])


def prime(home: Path) -> None:
    """Create every virtual environment without running a test."""
    write(home / GET_PIP, GET_PIP_SCRIPT)
    write(home / PIP_CONF, pip_settings())
    if status := call(home, "--prime-venvs"):
        raise subprocess.CalledProcessError(status, "ansible-test sanity --prime-venvs")


def call(home: Path, *arguments: str) -> int:
    # Without a version it uses every Python on PATH; vermin checks the other versions.
    python = "{}.{}".format(*sys.version_info)
    command = ["ansible-test", "sanity", "--python", python, "--color", "no", "--truncate", "0", *arguments]
    return subprocess.run(
        command, cwd=TREE, env=environment(tool_environment(os.environ), home), check=False
    ).returncode


def copy_tree(source: Path, target: Path) -> None:
    """Copy the files of ``source`` that git tracks, or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    shutil.rmtree(target, ignore_errors=True)
    for name in filter(None, listed.split("\0")):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name, follow_symlinks=False)
    # Without a separate repository the copy would be part of the checkout's, which ignores it.
    subprocess.run(["git", "init", "--quiet"], cwd=target, check=True)


def environment(base: Mapping[str, str], home: Path) -> dict[str, str]:
    """``base`` with ``home``, and without variables that lead Python and Ansible to the checkout."""
    misleading = {"ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_HOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX"}
    return {**{name: value for name, value in base.items() if name not in misleading}, "HOME": str(home)}


def pip_settings() -> str:
    """The settings of pip from all files and variables, as a pip.conf, because ansible-test removes the variables."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    return pip_conf(listed)


def pip_conf(listed: str) -> str:
    """The output of `pip config list` as a pip.conf; variables override files."""
    sections: dict[str, dict[str, str]] = {}
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, value = line.split("=", 1)
        section, option = name.replace(":env:", "global").split(".", 1)
        sections.setdefault(section, {})[option] = ast.literal_eval(value)
    lines = []
    for section, options in sections.items():
        lines += [f"[{section}]", *(f"{option} = {value}" for option, value in options.items())]
    return "".join(f"{line}\n" for line in lines)


def write(path: Path, text: str) -> None:
    """Write a file that only its owner can read, because the URL of a package index may contain a password."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as partial:
        partial.write(text)
    Path(partial.name).rename(path)


if __name__ == "__main__":
    sys.exit(main())
