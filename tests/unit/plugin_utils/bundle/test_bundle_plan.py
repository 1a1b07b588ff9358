# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build needs is checked before its first file: archives, tools, the manifest and the directory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle import volcano_manifest
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_document import Python
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_plan import (
    BuildPlan,
    archive_name,
    build_options,
    plan_build,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.collection_tarball import CollectionManifest
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.image_tools import TOOLS
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.volcano_manifest import (
    VolcanoManifest,
    read_volcano_manifest,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.bundles import AGENT, SCHEDULER, VOLCANO_TEXT
from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import single

ARGUMENTS: dict[str, Any] = {
    "volcano_release": "1.14.1",
    "volcano_manifest": "",
    "agent_image": "",
    "image_archives": {},
    "image_tool": "",
}
MANIFEST = VolcanoManifest(VOLCANO_TEXT.encode(), (SCHEDULER,))
TEXT = VOLCANO_TEXT.encode()


def plan(which: Callable[[str], str | None] = lambda name: f"/usr/bin/{name}", **changes: Any) -> BuildPlan:
    options = build_options({**ARGUMENTS, **changes})
    collection = CollectionManifest("0.1.0", "1" * 64)
    return plan_build(options, MANIFEST, collection, Python("3.11", "linux-x86_64"), which)


def refusal(**changes: Any) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        plan(**changes)
    return caught.value


def test_the_release_gives_the_manifest_and_the_agents_image() -> None:
    options = build_options({**ARGUMENTS, "volcano_release": "v1.15.0"})
    assert options.agent_image == "docker.io/volcanosh/vc-agent:v1.15.0"
    assert options.manifest == (
        "https://raw.githubusercontent.com/volcano-sh/volcano/v1.15.0/installer/volcano-development.yaml"
    )


@pytest.mark.parametrize("release", ["", "latest", "1", "1.14.1/../..", "1.14.1 "])
def test_a_release_that_is_not_a_version_is_refused(release: str) -> None:
    assert refusal(volcano_release=release).variable == "volcano_release"


def test_images_are_those_of_the_manifest_and_the_agents() -> None:
    planned = plan()
    assert [image.image for image in planned.document.images] == [SCHEDULER, AGENT]
    assert planned.saved == (SCHEDULER, AGENT)
    assert planned.tool is not None
    assert planned.tool.tool.name == "skopeo"


def test_an_archive_that_exists_is_not_saved_again(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(single(ref=AGENT)[0])
    planned = plan(image_archives={AGENT.removeprefix("docker.io/"): str(path)})
    assert (planned.saved, planned.archives) == ((SCHEDULER,), {AGENT: path})


def test_no_tool_is_needed_if_all_archives_exist(tmp_path: Path) -> None:
    paths = {}
    for number, image in enumerate((AGENT, SCHEDULER)):
        paths[image] = str(tmp_path / f"{number}.tar")
        Path(paths[image]).write_bytes(single(ref=image)[0])
    assert plan(lambda _name: None, image_archives=paths).tool is None


def test_wrong_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(single(ref=SCHEDULER)[0])
    error = refusal(image_archives={AGENT: str(path)})
    assert error.variable == "image_archives"
    assert f"does not contain {AGENT}" in error.message
    assert "No such file" in refusal(image_archives={AGENT: str(tmp_path / "nowhere")}).message
    assert "the bundle does not use docker.io/a/b:1" in refusal(image_archives={"a/b:1": str(path)}).message


def test_the_first_installed_tool_is_used_or_the_requested_one() -> None:
    def only_docker(name: str) -> str | None:
        return "/usr/bin/docker" if name == "docker" else None

    docker = plan(only_docker).tool
    assert docker is not None
    assert docker.save_commands("a:1", Path("/b.tar")) == [
        ["/usr/bin/docker", "pull", "a:1"],
        ["/usr/bin/docker", "save", "--output", "/b.tar", "a:1"],
    ]
    podman = plan(image_tool="podman").tool
    assert podman is not None
    assert podman.program == "/usr/bin/podman"


def test_a_machine_without_a_tool_is_refused_with_the_remedy() -> None:
    error = refusal(which=lambda _name: None)
    assert error.variable == "image_tool"
    assert error.message.startswith(f"skopeo, podman, docker are not installed, and {SCHEDULER}, {AGENT} must be saved")
    assert "colocation_bundle_image_archives" in error.message
    assert refusal(which=lambda _name: None, image_tool="podman").message.startswith("podman is not installed")


def test_every_tool_saves_one_image_in_one_file() -> None:
    for tool in TOOLS:
        *_pull, save = tool.save_commands("p", "a:1", Path("/b.tar"))
        assert {"a:1", "docker://a:1"} & set(save)
        assert any(argument.startswith(("/b.tar", "oci-archive:/b.tar:a:1")) for argument in save)


def test_images_have_different_file_names() -> None:
    assert archive_name(SCHEDULER) == "images/docker.io_volcanosh_vc-scheduler_v1.14.0.tar"
    assert archive_name("registry.example:5000/a/../b:1") == "images/registry.example_5000_a_.._b_1.tar"


def read(text: bytes, sha256: str = "", source: str = "m.yaml") -> VolcanoManifest:
    return read_volcano_manifest(source, sha256, lambda _address: b"downloaded " + text, lambda _path: text)


def test_a_manifest_is_a_file_or_is_downloaded() -> None:
    assert read(TEXT, hashlib.sha256(TEXT).hexdigest()).images == (SCHEDULER,)
    with pytest.raises(ProfileError, match=r"https://example.com/m.yaml"):
        read(TEXT, source="https://example.com/m.yaml")


@pytest.mark.parametrize(
    ("text", "source", "variable", "problem"),
    [
        (TEXT, "http://example.com/m.yaml", volcano_manifest.SOURCE, "is not an HTTPS address or a path"),
        (TEXT.replace(b":v1.14.0", b":latest"), "m.yaml", volcano_manifest.SOURCE, "has neither a version"),
        (TEXT.replace(b"v1.14.0", b"v1@sha256:" + b"0" * 64), "m.yaml", volcano_manifest.SOURCE, "has a digest"),
        (b"\xff", "m.yaml", volcano_manifest.SOURCE, "is not UTF-8"),
        (b"{{ .Values.a }}", "m.yaml", volcano_manifest.SOURCE, "a Helm template that is not rendered"),
        (b"{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "m.yaml", volcano_manifest.SOURCE, "no images"),
        (TEXT, "other.yaml", volcano_manifest.SHA256, "expected 000"),
    ],
)
def test_a_manifest_that_cannot_be_installed_is_refused(text: bytes, source: str, variable: str, problem: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(text, "0" * 64 if source == "other.yaml" else "", source)
    assert caught.value.variable == variable
    assert problem in caught.value.message
