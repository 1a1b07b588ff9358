# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is described by a document that is not trusted either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_content import (
    load_bundle,
    render_content,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_document import (
    DOCUMENT,
    BundledImage,
    Python,
    parse_bundle,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_readme import render_readme
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.collection_tarball import CollectionManifest
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.python_wheels import missing_libraries
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.bundles import (
    AGENT,
    COLLECTION,
    SCHEDULER,
    document,
    seal,
    write_bundle,
)


def parsed(**changes: Any) -> str:
    """The message about a document with these values."""
    text = json.dumps({**json.loads(document().to_text()), **changes})
    with pytest.raises(ProfileError) as caught:
        parse_bundle(text.encode(), "bundle.json")
    return caught.value.message


def test_a_document_is_read_as_it_was_written() -> None:
    assert parse_bundle(document().to_text().encode(), "bundle.json") == document()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": 2}, "bundle.json has schema 2, and this version reads 1"),
        ({"images": 3}, "a value has the wrong type"),
        ({"images": [{"image": 3, "file": "a", "architectures": []}]}, "a value has the wrong type"),
        ({"collection": {"version": "1"}}, "file is missing"),
        ({"agent_image": None}, "a value has the wrong type"),
    ],
)
def test_a_document_in_another_form_is_refused(changes: dict[str, Any], problem: str) -> None:
    assert problem in parsed(**changes)


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b"3", b"\xff"])
def test_a_file_that_is_not_a_document_is_refused(text: bytes) -> None:
    with pytest.raises(ProfileError, match="it is not a description of a bundle"):
        parse_bundle(text, "bundle.json")


def test_the_result_has_absolute_paths_of_files_in_the_bundle(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    sha256, described = load_bundle(tmp_path, "")
    running, python = CollectionManifest("0.1.0", COLLECTION.manifest_sha256), Python("3.11", "linux-x86_64")
    content = render_content(tmp_path, sha256, described, running, python, ["kubernetes>=24.2"])
    assert content["collection"]["running"]
    assert content["python"]["matches"]
    assert content["python"]["missing"] == ["kubernetes>=24.2"]
    assert content["agent"]["image"] == AGENT
    assert list(content["volcano"]["image_archives"]) == [SCHEDULER]
    paths = [
        content["collection"]["file"],
        content["agent"]["archive"],
        content["volcano"]["manifest"],
        *content["volcano"]["image_archives"].values(),
        content["python"]["requirements"],
    ]
    assert [path for path in paths if not Path(path).is_file()] == []


@pytest.mark.parametrize("running", [None, CollectionManifest("0.1.0", "9" * 64)])
def test_another_build_of_the_collection_is_recognized(tmp_path: Path, running: CollectionManifest | None) -> None:
    content = render_content(tmp_path, "0", document(), running, Python("3.12", "linux-x86_64"), [])
    assert not content["collection"]["running"]
    assert not content["python"]["matches"]


def test_a_document_cannot_name_files_outside_of_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "outside.tar").touch()
    directory = tmp_path / "bundle"
    write_bundle(directory)
    (directory / DOCUMENT).write_text(document(images=(BundledImage(AGENT, "../outside.tar", ()),)).to_text())
    seal(directory)
    with pytest.raises(ProfileError, match=r"bundle.json: ../outside.tar is not a file in the bundle"):
        load_bundle(directory, "")


def test_a_bundle_without_an_agent_or_a_document_is_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path, document(agent_image="docker.io/other/agent:v1"))
    with pytest.raises(ProfileError, match=r"it has no archive of docker.io/other/agent:v1"):
        load_bundle(tmp_path, "")
    (tmp_path / DOCUMENT).unlink()
    seal(tmp_path)
    with pytest.raises(ProfileError, match=r"has no bundle\.json"):
        load_bundle(tmp_path, "")


def test_the_readme_has_the_commands_for_this_bundle() -> None:
    text = render_readme(document())
    assert f"ansible-galaxy collection install --offline {COLLECTION.file}" in text
    assert "--no-index --find-links wheels --require-hashes --requirement requirements.txt" in text
    assert f"| `{AGENT}` | amd64 |" in text


def test_only_libraries_that_this_python_needs_and_lacks_are_missing() -> None:
    lines = [
        "# a comment",
        "",
        "pytest>=1.0   # is installed",
        "pytest>=99999",
        "volcano-colocation-no-such-library",
        "volcano-colocation-old ; python_version < '3.0'",
    ]
    assert missing_libraries("\n".join(lines)) == ["pytest>=99999", "volcano-colocation-no-such-library"]
