# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs this code on the node as an engine that runs independently of the Ansible module that copied it.

Files and directory entries are synced to disk before the engine is used: it may have to roll the node back after a
power cut.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import zipfile

from ..host import Host
from .atomic_file import sync_directory

ENGINE_DIRECTORY = "/usr/local/lib/volcano-colocation"
PACKAGE = "volcano_colocation"
# Files of the engine, below module_utils.
ENGINE_FILES = (
    "__init__.py",
    "chroot_path.py",
    "containerd_fields.py",
    "errors.py",
    "host.py",
    "quantity.py",
    "safe_text.py",
)
ENGINE_PACKAGES = ("cgroup/", "cri/", "health/", "kube_api/", "settings/", "state/", "systemd/", "transaction/")
QOS_LINK = "qos"
"""A link to the engine that is started by the unit of settings/reapply_unit.py."""
MAIN = b"""\
import sys

if sys.argv[1:] == ["qos"]:
    from volcano_colocation.settings.reapply import main
else:
    from volcano_colocation.transaction.cli import main

sys.exit(main(sys.argv[1:]))
"""
"""The command that runs at each boot does not import the code of transactions."""


def running_engine() -> str:
    """Directory of the installed engine that runs this code; empty if the code runs from elsewhere."""
    directory = os.path.dirname(os.path.abspath(os.path.dirname(os.path.dirname(__file__))))
    return directory if os.path.dirname(directory) == ENGINE_DIRECTORY else ""


def sources() -> dict[str, bytes]:
    """{path in the engine's directory: content} of the running code, loaded from a zip (AnsiballZ) or a directory."""
    package = sys.modules[__name__.rpartition(".")[0].rpartition(".")[0]]
    directory = os.path.dirname(str(package.__file__))
    archive = getattr(package.__loader__, "archive", None)
    contents = (
        _read_directory(directory)
        if archive is None
        else _read_archive(archive, os.path.relpath(directory, archive) + "/")
    )
    code = {f"{PACKAGE}/{name}": text for name, text in contents.items()}
    code["__main__.py"] = MAIN
    return code


def engine_path(code: dict[str, bytes]) -> str:
    """Path on a node of the engine with these sources."""
    version = hashlib.sha256(b"".join(name.encode() + b"\0" + text + b"\0" for name, text in sorted(code.items())))
    return f"{ENGINE_DIRECTORY}/{version.hexdigest()[:16]}"


def install_engine(host: Host) -> str:
    """Install the engine if it is missing or incomplete, and return its path on the node."""
    code = sources()
    path = engine_path(code)
    target = host.path(path)
    if _is_installed(target, code):
        return path
    temporary = f"{target}.{os.getpid()}"
    for name, text in code.items():
        _write(os.path.join(temporary, name), text)
    for directory, _directories, _names in os.walk(temporary):
        sync_directory(directory)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(temporary, target)
    sync_directory(os.path.dirname(target))
    return path


def remove_other_engines(host: Host, path: str) -> None:
    """Remove other engines, except the target of the link. Call this only if no transaction is unfinished."""
    link = host.path(f"{ENGINE_DIRECTORY}/{QOS_LINK}")
    required = {os.path.basename(path)} | ({QOS_LINK, os.readlink(link)} if os.path.islink(link) else set())
    for name in host.list(ENGINE_DIRECTORY):
        if name not in required:
            shutil.rmtree(host.path(f"{ENGINE_DIRECTORY}/{name}"), ignore_errors=True)


def _is_engine_file(name: str) -> bool:
    return name in ENGINE_FILES or (name.endswith(".py") and name.startswith(ENGINE_PACKAGES))


def _read_directory(directory: str) -> dict[str, bytes]:
    contents = {}
    for inner, _directories, names in os.walk(directory):
        for name in names:
            path = os.path.join(inner, name)
            relative = os.path.relpath(path, directory)
            if _is_engine_file(relative):
                with open(path, "rb") as stream:
                    contents[relative] = stream.read()
    return contents


def _read_archive(archive: str, prefix: str) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if name.startswith(prefix) and _is_engine_file(name[len(prefix) :])]
        return {name[len(prefix) :]: packed.read(name) for name in names}


def _is_installed(target: str, code: dict[str, bytes]) -> bool:
    for name, text in code.items():
        try:
            with open(os.path.join(target, name), "rb") as stream:
                if stream.read() != text:
                    return False
        except OSError:
            return False
    return True


def _write(path: str, text: bytes) -> None:
    _make_directory(os.path.dirname(path))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "wb") as stream:
        os.fchmod(handle, 0o644)
        stream.write(text)
        stream.flush()
        os.fsync(handle)


def _make_directory(path: str) -> None:
    """Create a directory that every user can read, whatever the umask."""
    if not os.path.isdir(path):
        _make_directory(os.path.dirname(path))
        os.mkdir(path)
        os.chmod(path, 0o755)  # noqa: S103 - only root writes there
        sync_directory(os.path.dirname(path))
