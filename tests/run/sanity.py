# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-test sanity` on a copy of the checkout, because it refuses a tree that is reached by a link.

It needs only a package index. For its virtual environments it would download a script that installs pip; it uses a
script of that name in its cache instead, which installs the pip of Python's ensurepip. The cache is below HOME, so
ansible-test gets a separate home, with a pip.conf that has the developer's settings of pip. All checkouts share that
home, because its virtual environments take a minute: one process creates them all before any test runs.

`--releases` runs all tests with the other releases of ansible-core instead, as far as the machine has their Python.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import matrix, venvs
from .places import CACHE, CHECKOUT
from .report import NOT_RUN

TREE = CACHE / "sanity" / "ansible_collections" / "volcano" / "colocation"

OTHER_RELEASES = "--releases"

GET_PIP = Path(".ansible") / "test" / "cache"
"""The directory of the script."""

PIP_VERSION = re.compile(r"\bpip='([0-9.]+)'")
"""The version in the name of the script: ansible_test/_internal/python_requirements.py, get_venv_packages."""

PIP_CONF = Path(".config") / "pip" / "pip.conf"

GET_PIP_SCRIPT = """\
import ensurepip

ensurepip.bootstrap(upgrade=True)
"""


def main(arguments: Sequence[str]) -> int:
    copy_tree(CHECKOUT, TREE)
    if OTHER_RELEASES not in arguments:
        return run(Path(sys.executable), *arguments)
    failed = [release for release, python in other_releases().items() if run(python)]
    print(f"failed: ansible-core {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def other_releases() -> dict[str, Path]:
    """The Python of the environment of each release; a release without a Python is named."""
    pythons = {}
    for release in matrix.RELEASES:
        # ansible-test makes virtual environments, which Debian's Python in the lab's root file system cannot.
        interpreter = matrix.installed_python(release)
        if interpreter is None:
            print(f"{NOT_RUN}sanity on ansible-core {release}: install Python {matrix.NEWER_PYTHONS[0]}")
        else:
            pythons[release] = venvs.provide(venvs.Recipe(f"core-{release}", interpreter))
    return pythons


def run(python: Path, *arguments: str) -> int:
    """The status of ansible-test with the ansible-core of an environment."""
    try:
        home = venvs.obtain(home_directory(python), lambda home: prime(python, home))
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd}: exit status {error.returncode}; the next run creates the virtual environments again")
        return 1
    write(home / PIP_CONF, pip_settings())
    return call(python, home, *arguments)


def ansible_test(python: Path) -> Path:
    """The directory of ansible-test in an environment."""
    (packages,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    return packages / "ansible_test"


def home_directory(python: Path) -> Path:
    """The home, named by the digest of ansible-test's requirements and of the Python."""
    lists = sorted((ansible_test(python) / "_data" / "requirements").glob("sanity.*.txt"))
    texts = [path.read_text(encoding="utf-8") for path in lists]
    return venvs.shared("sanity") / venvs.digest([venvs.identity(python), GET_PIP_SCRIPT, *texts])


def script_name(python: Path) -> str:
    """The name of the script that installs pip. ValueError if ansible-test has another form than expected."""
    source = ansible_test(python) / "_internal" / "python_requirements.py"
    versions = PIP_VERSION.findall(source.read_text(encoding="utf-8"))
    if len(versions) != 1:
        raise ValueError(f"{source} has {len(versions)} versions of pip where one was expected; correct PIP_VERSION")
    return f"get_pip_{versions[0].replace('.', '_')}.py"


def prime(python: Path, home: Path) -> None:
    """Create every virtual environment without running a test."""
    write(home / GET_PIP / script_name(python), GET_PIP_SCRIPT)
    write(home / PIP_CONF, pip_settings())
    if status := call(python, home, "--prime-venvs"):
        raise subprocess.CalledProcessError(status, "ansible-test sanity --prime-venvs")


def call(python: Path, home: Path, *arguments: str) -> int:
    # Without a version it uses every Python on PATH; vermin checks the other versions.
    version = "import sys; print('{}.{}'.format(*sys.version_info))"
    number = subprocess.run([python, "-I", "-c", version], capture_output=True, text=True, check=True).stdout.strip()
    command = ["ansible-test", "sanity", "--python", number, "--color", "no", "--truncate", "0", *arguments]
    return subprocess.run(command, cwd=TREE, env=environment(matrix.environment(python), home), check=False).returncode


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
    sys.exit(main(sys.argv[1:]))
