# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Putting this code on the node as an engine that does not depend on the Ansible module that brought it.

It is on disk, names and all, before it is used: it may be what puts the node back after a power cut.
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
# What the engine consists of, below module_utils.
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
"""A link to the engine that the unit of settings/reapply_unit.py starts."""
MAIN = b"""\
import sys

if sys.argv[1:] == ["qos"]:
    from volcano_colocation.settings.reapply import main
else:
    from volcano_colocation.transaction.cli import main

sys.exit(main(sys.argv[1:]))
"""
"""What is started at each boot does not load what transactions need."""


def running_engine() -> str:
    """Where this code is installed, empty when it is run from anywhere else."""
    folder = os.path.dirname(os.path.abspath(os.path.dirname(os.path.dirname(__file__))))
    return folder if os.path.dirname(folder) == ENGINE_DIRECTORY else ""


def sources() -> dict[str, bytes]:
    """{path in the engine's folder: content} of this very code, run from a zip (AnsiballZ) or from a folder."""
    package = sys.modules[__name__.rpartition(".")[0].rpartition(".")[0]]
    folder = os.path.dirname(str(package.__file__))
    archive = getattr(package.__loader__, "archive", None)
    found = (
        _read_directory(folder) if archive is None else _read_archive(archive, os.path.relpath(folder, archive) + "/")
    )
    code = {f"{PACKAGE}/{name}": text for name, text in found.items()}
    code["__main__.py"] = MAIN
    return code


def engine_path(code: dict[str, bytes]) -> str:
    """Where on a node the engine of these sources belongs."""
    version = hashlib.sha256(b"".join(name.encode() + b"\0" + text + b"\0" for name, text in sorted(code.items())))
    return f"{ENGINE_DIRECTORY}/{version.hexdigest()[:16]}"


def install_engine(host: Host) -> str:
    """Path on the node of the installed engine; it is written only when it is not there or not complete."""
    code = sources()
    path = engine_path(code)
    target = host.path(path)
    if _is_installed(target, code):
        return path
    temporary = f"{target}.{os.getpid()}"
    for name, text in code.items():
        _write(os.path.join(temporary, name), text)
    for folder, _folders, _names in os.walk(temporary):
        sync_directory(folder)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(temporary, target)
    sync_directory(os.path.dirname(target))
    return path


def remove_other_engines(host: Host, path: str) -> None:
    """Remove engines of other versions but that of the link; only while no transaction is unfinished."""
    link = host.path(f"{ENGINE_DIRECTORY}/{QOS_LINK}")
    kept = {os.path.basename(path)} | ({QOS_LINK, os.readlink(link)} if os.path.islink(link) else set())
    for name in host.list(ENGINE_DIRECTORY):
        if name not in kept:
            shutil.rmtree(host.path(f"{ENGINE_DIRECTORY}/{name}"), ignore_errors=True)


def _is_engine_file(name: str) -> bool:
    return name in ENGINE_FILES or (name.endswith(".py") and name.startswith(ENGINE_PACKAGES))


def _read_directory(folder: str) -> dict[str, bytes]:
    found = {}
    for inner, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(inner, name)
            relative = os.path.relpath(path, folder)
            if _is_engine_file(relative):
                with open(path, "rb") as stream:
                    found[relative] = stream.read()
    return found


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
    """Readable for all, whatever the umask says: it is a program like any other."""
    if not os.path.isdir(path):
        _make_directory(os.path.dirname(path))
        os.mkdir(path)
        os.chmod(path, 0o755)  # noqa: S103 - only root writes there
        sync_directory(os.path.dirname(path))
