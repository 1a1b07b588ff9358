# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of bundle_build, which runs only on the controller: collect all files of an installation in a directory."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ansible.module_utils.urls import open_url

from ..module_utils.errors import reason_of
from ..plugin_utils.bundle.bundle_build import (
    Sources,
    Worker,
    build_bundle,
    existing_bundle,
    partial_directory,
    require_same,
)
from ..plugin_utils.bundle.bundle_document import CHECKSUMS, DIRECTORY
from ..plugin_utils.bundle.bundle_plan import BUNDLE_BUILD, BuildPlan, build_options, plan_build
from ..plugin_utils.bundle.checksums import file_sha256
from ..plugin_utils.bundle.collection_tarball import (
    COLLECTION,
    CollectionManifest,
    pack_collection,
    read_tarball,
    running_manifest,
)
from ..plugin_utils.bundle.python_wheels import LOCK, running_python
from ..plugin_utils.bundle.volcano_manifest import SHA256, SOURCE, read_volcano_manifest
from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.validators import ProfileError

COMMAND = "ansible.builtin.command"
DOWNLOAD_SECONDS = 60
SHOWN_LINES = 3


class ActionModule(ColocationAction):
    ARGUMENTS = BUNDLE_BUILD

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        directory = Path(arguments["directory"]).absolute()
        existing = existing_bundle(directory)
        collection, tarball = _collection(arguments["collection"])
        options = build_options(arguments)
        manifest = read_volcano_manifest(options.manifest, arguments[SHA256], _download, _read)
        plan = plan_build(options, manifest, collection, running_python(), shutil.which)
        if existing is not None:
            require_same(existing, plan.document, directory)
            return _result(plan, directory, file_sha256(directory / CHECKSUMS), changed=False)
        partial_directory(directory)
        _require_pip()
        if self._task.check_mode:
            return _result(plan, directory, "", changed=True)
        sha256 = build_bundle(plan, Sources(tarball, LOCK), directory, Worker(partial(self._run, node), self._show))
        return _result(plan, directory, sha256, changed=True)

    def _run(self, node: Node, option: str, command: Sequence[str]) -> None:
        """Run a command on this machine, with the user's environment; ProfileError with its last lines if it fails."""
        done = node.execute(COMMAND, {"argv": list(command)})
        if done.get("failed"):
            printed = str(done.get("stderr") or done.get("stdout") or done.get("msg") or "").strip()
            lines = " ".join(printed.splitlines()[-SHOWN_LINES:])
            raise ProfileError(
                option, f"{' '.join(command)} failed: {lines or 'it gave no reason'}. No bundle was written"
            )

    def _show(self, text: str) -> None:
        display.display(f"{self.host}: {text}")


def _collection(path: str | None) -> tuple[CollectionManifest, bytes]:
    """The manifest and the tarball: those of the option, or of the collection that runs."""
    if path:
        return read_tarball(Path(path)), Path(path).read_bytes()
    tarball = pack_collection()
    running = running_manifest()
    if running is None:
        raise ProfileError(COLLECTION, "the collection was removed while it was read. Run this again")
    return running, tarball


def _download(address: str) -> bytes:
    try:
        with open_url(address, timeout=DOWNLOAD_SECONDS) as response:
            content: bytes = response.read()
    except (OSError, ValueError) as error:
        raise ProfileError(
            SOURCE, f"{address}: {reason_of(error)}. Nothing was changed. Download it, and set {SOURCE} to its path"
        ) from error
    return content


def _read(path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise ProfileError(
            SOURCE, f"{path}: {error.strerror}. Nothing was changed. Set it to a file on this machine"
        ) from error


def _require_pip() -> None:
    if find_spec("pip") is None:
        raise ProfileError(
            DIRECTORY,
            f"{sys.executable} has no pip, which downloads the libraries. Nothing was changed. Install pip for this"
            " Python, or run ansible-playbook from a virtual environment",
        )


def _result(plan: BuildPlan, directory: Path, sha256: str, *, changed: bool) -> dict[str, Any]:
    document = plan.document
    names = [image.image for image in document.images]
    after = "".join(f"{line}\n" for line in (document.collection.file, *(image.file for image in document.images)))
    return {
        "changed": changed,
        "directory": str(directory),
        "sha256": sha256,
        "images": names,
        "collection_version": document.collection.version,
        "diff": {
            "before_header": str(directory),
            "after_header": str(directory),
            "before": "" if changed else after,
            "after": after,
        },
    }
