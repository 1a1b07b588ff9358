# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is built once and completely, by a program that replaces skopeo; bundle_info reads it."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.action import bundle_build
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_document import CHECKSUMS, DOCUMENT
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.collection_tarball import pack_collection
from ansible_collections.volcano.colocation.tests.support.clusters.bundles import (
    AGENT,
    SCHEDULER,
    VOLCANO_TEXT,
    write_collection,
)
from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import single
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action

SKOPEO = """\
#!/bin/sh
# skopeo copy --all docker://IMAGE oci-archive:FILE:IMAGE
[ "$1 $2" = "copy --all" ] || exit 2
image=${3#docker://}
target=${4#oci-archive:}
file=${target%:$image}
[ "$target" = "$file:$image" ] || exit 2
/bin/cp "$SAVED/${image##*/}" "$file" || { echo "manifest unknown: $image" >&2; exit 1; }
"""


@pytest.fixture(name="options")
def _options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options of a build; its images are saved by the program above, and pip downloads nothing."""
    programs, saved = tmp_path / "programs", tmp_path / "saved"
    programs.mkdir()
    saved.mkdir()
    program = programs / "skopeo"
    program.write_text(SKOPEO)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    for image in (AGENT, SCHEDULER):
        (saved / image.rpartition("/")[2]).write_bytes(single(ref=image)[0])
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("SAVED", str(saved))
    requirements, manifest, tarball = (tmp_path / name for name in ("empty.txt", "volcano.yaml", "a.tar.gz"))
    requirements.write_text("# no library\n")
    monkeypatch.setattr(bundle_build, "LOCK", requirements)
    manifest.write_text(VOLCANO_TEXT)
    write_collection(tmp_path / "installed")
    tarball.write_bytes(pack_collection(tmp_path / "installed"))
    directory = tmp_path / "bundle"
    return {"directory": str(directory), "volcano_manifest": str(manifest), "collection": str(tarball)}


def build(options: dict[str, Any], *, check: bool = False) -> dict[str, Any]:
    """Run the module; its commands run as the module ansible.builtin.command runs them."""
    return action("bundle_build", options, check=check, recorded=command)


def command(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    assert name == "ansible.builtin.command"
    done = subprocess.run(arguments["argv"], capture_output=True, text=True, check=False)
    return {"failed": done.returncode != 0, "stdout": done.stdout, "stderr": done.stderr, "msg": "non-zero return code"}


def listing(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def test_check_mode_shows_the_bundle_and_writes_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    result = build(options, check=True)
    assert (result["changed"], result["sha256"], result["images"]) == (True, "", [SCHEDULER, AGENT])
    assert "images/docker.io_volcanosh_vc-agent_v1.14.1.tar" in result["diff"]["after"]
    assert not (tmp_path / "bundle").exists()
    assert not (tmp_path / "bundle.partial").exists()


def test_a_bundle_is_built_once(tmp_path: Path, options: dict[str, Any]) -> None:
    built = build(options)
    assert built["changed"], built
    assert listing(tmp_path / "bundle") == [
        "README.md",
        CHECKSUMS,
        DOCUMENT,
        "collection/volcano-colocation-0.1.0.tar.gz",
        "images/docker.io_volcanosh_vc-agent_v1.14.1.tar",
        "images/docker.io_volcanosh_vc-scheduler_v1.14.0.tar",
        "manifests/volcano.yaml",
        "requirements.txt",
    ]
    assert "| amd64 |" in (tmp_path / "bundle" / "README.md").read_text()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "bundle").rglob("*")}
    for check in (True, False):
        again = build(options, check=check)
        assert (again["changed"], again["sha256"]) == (False, built["sha256"])
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "bundle").rglob("*")} == before


def test_what_was_built_is_verified_and_read(tmp_path: Path, options: dict[str, Any]) -> None:
    sha256 = build(options)["sha256"]
    source = {"directory": options["directory"], "sha256": sha256}
    bundle = action("bundle_info", source)["bundle"]
    assert bundle["agent"]["image"] == AGENT
    assert not bundle["collection"]["running"]
    (tmp_path / "bundle" / "manifests" / "volcano.yaml").write_text("other")
    result = action("bundle_info", source)
    assert result["failed"]
    assert result["msg"].startswith(f"directory: {options['directory']}: manifests/volcano.yaml was changed.")
    assert build(options)["msg"] == result["msg"]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "saved" / AGENT.rpartition("/")[2]).unlink()
    result = build(options)
    assert f"manifest unknown: {AGENT}" in result["msg"]
    assert "No bundle was written" in result["msg"]
    assert not (tmp_path / "bundle").exists()
    assert not (tmp_path / "bundle.partial").exists()


def test_an_archive_without_the_image_is_not_put_into_a_bundle(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "saved" / AGENT.rpartition("/")[2]).write_bytes(single(ref=SCHEDULER)[0])
    assert f"does not contain {AGENT}" in build(options)["msg"]
    assert not (tmp_path / "bundle").exists()


def test_an_interrupted_build_is_reported(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "bundle.partial").mkdir()
    for check in (True, False):
        assert "another build runs, or one was interrupted" in build(options, check=check)["msg"]


def test_other_content_is_not_replaced(tmp_path: Path, options: dict[str, Any]) -> None:
    build(options)
    result = build({**options, "volcano_release": "1.14.2", "agent_image": AGENT})
    assert "has a bundle of Volcano 1.14.1 and of the collection 0.1.0 with other contents" in result["msg"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    result = build({**options, "directory": str(tmp_path / "full")})
    assert "has no file SHA256SUMS" in result["msg"]
    assert listing(tmp_path / "full") == ["file"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"volcano_manifest": "/nowhere.yaml"}, "volcano_manifest: /nowhere.yaml: No such file or directory"),
        ({"directory": "/nowhere/bundle"}, "directory: /nowhere is not a writable directory"),
        ({"collection": "/nowhere.tar.gz"}, "collection: /nowhere.tar.gz is not the tarball of a collection"),
        ({"image_tool": "podman"}, "image_tool: podman is not installed"),
        ({"volcano_manifest_sha256": "0"}, "volcano_manifest_sha256: "),
    ],
)
def test_wrong_options_are_refused_by_name(options: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    result = build({**options, **changes})
    assert result["failed"]
    assert result["msg"].startswith(message)


def test_a_checkout_needs_a_tarball(options: dict[str, Any]) -> None:
    result = build({**options, "collection": None})
    assert "is not installed from a tarball" in result["msg"]
    assert "set collection to it" in result["msg"]
