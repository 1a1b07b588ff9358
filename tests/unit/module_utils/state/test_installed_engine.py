# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine

NAME = "ansible_collections/volcano/colocation/plugins/module_utils"
MODULE_UTILS = Path(str(installed_engine.__file__)).parent.parent


def archive(path: Path) -> Path:
    """A zip like those of AnsiballZ: this package with its parents and other files."""
    with zipfile.ZipFile(str(path), "w") as packed:
        parts = NAME.split("/")
        for depth in range(1, len(parts)):
            packed.writestr("/".join(parts[:depth]) + "/__init__.py", "")
        for source in sorted(MODULE_UTILS.rglob("*.py")):
            packed.write(str(source), NAME + "/" + str(source.relative_to(MODULE_UTILS)))
        packed.writestr("ansible/module_utils/basic.py", "raise SystemExit")
    return path


def test_the_engine_is_installed(tmp_path: Path) -> None:
    host = Host(str(tmp_path))
    path = installed_engine.install_engine(host)
    target = Path(host.path(path))
    assert path.startswith("/usr/local/lib/volcano-colocation/")
    installed = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert {"__main__.py", "volcano_colocation/host.py", "volcano_colocation/transaction/runner.py"} <= installed
    assert not [name for name in installed if "snapshot" in name]
    assert {stat.S_IMODE(source.stat().st_mode) for source in target.rglob("*.py")} == {0o644}
    assert {stat.S_IMODE(directory.stat().st_mode) for directory in target.rglob("*") if directory.is_dir()} == {0o755}
    before = target.stat().st_mtime_ns
    assert installed_engine.install_engine(host) == path
    assert target.stat().st_mtime_ns == before, "a complete engine is not written again"


def test_a_narrow_umask_does_not_matter(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        target = Path(Host(str(tmp_path)).path(installed_engine.install_engine(Host(str(tmp_path)))))
    finally:
        os.umask(previous)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in [target, target.parent, *target.rglob("*")]}
    assert modes == {0o755, 0o644}


def test_a_damaged_engine_is_replaced(tmp_path: Path) -> None:
    host = Host(str(tmp_path))
    target = Path(host.path(installed_engine.install_engine(host)))
    (target / "volcano_colocation" / "host.py").write_text("damaged")
    (target / "volcano_colocation" / "cri" / "grpc.py").unlink()
    installed_engine.install_engine(host)
    assert "damaged" not in (target / "volcano_colocation" / "host.py").read_text()
    assert (target / "volcano_colocation" / "cri" / "grpc.py").exists()


def test_other_versions_are_removed(tmp_path: Path) -> None:
    host = Host(str(tmp_path))
    path = installed_engine.install_engine(host)
    Path(host.path(installed_engine.ENGINE_DIRECTORY + "/0123456789abcdef")).mkdir()
    installed_engine.remove_other_engines(host, path)
    assert [engine.name for engine in Path(host.path(installed_engine.ENGINE_DIRECTORY)).iterdir()] == [
        os.path.basename(path)
    ]


INSTALL = """
import sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import cli
print(installed_engine.install_engine(Host(sys.argv[2])))
"""


def pythons() -> list[str]:
    """Every available interpreter of a supported version."""
    installed = Path(os.environ.get("PYENV_ROOT", "/root/.pyenv"), "versions").glob("3.*/bin/python3")
    supported = [str(path) for path in sorted(installed) if tuple(map(int, path.parts[-3].split(".")[:2])) >= (3, 7)]
    return supported or [sys.executable]


@pytest.mark.parametrize("python", pythons())
def test_a_module_s_zip_installs_an_engine_that_starts(python: str, tmp_path: Path) -> None:
    """Zip and directory yield the same engine, which needs only its directory and the standard library."""
    packed = archive(tmp_path / "payload.zip")
    done = subprocess.run(
        [python, "-I", "-B", "-c", INSTALL, str(packed), str(tmp_path)], stdout=subprocess.PIPE, check=True
    )
    path = done.stdout.decode().strip()
    assert path == installed_engine.install_engine(Host(str(tmp_path / "again")))
    packed.unlink()
    target = Host(str(tmp_path)).path(path)
    started = subprocess.run([python, "-I", "-B", target], stderr=subprocess.PIPE, check=False, cwd="/")
    assert (started.returncode, started.stderr) == (
        2,
        b"usage: run ID | finish ID | undo ID | recover | recover-at-boot | qos\n",
    )
    assert not list(Path(target).rglob("*.pyc"))
