# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives are read as containerd reads them, and a malicious archive cannot harm the controller."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent import tar_entries
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.image_archive import (
    Archive,
    load_archive,
    normalize_image,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.tar_entries import BadArchive, load_entries
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import (
    NAME,
    Layout,
    digest,
    docker,
    single,
    tar,
    text,
)


def read(data: bytes, image: str = NAME, expected: str = "") -> Archive:
    return load_archive(io.BytesIO(data), "/srv/agent.tar", image, expected)


def refusal(data: bytes, image: str = NAME, expected: str = "") -> str:
    with pytest.raises(ProfileError) as caught:
        read(data, image, expected)
    return str(caught.value)


def test_the_image_of_an_oci_archive() -> None:
    data, manifest, config = single()
    assert read(data).to_result() == {
        "path": "/srv/agent.tar",
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "image": NAME,
        "images": [{"architecture": "amd64", "id": config, "digests": [manifest, config]}],
    }


@pytest.mark.parametrize(
    "annotations",
    [{"ref": NAME}, {"full": NAME, "ref": "v1.14.0"}, {"ref": "v1.14.0"}],
    ids=["skopeo and podman", "docker from 25 on and buildx", "a bare tag"],
)
def test_annotations_that_name_the_image_of_an_oci_archive(annotations: dict[str, str]) -> None:
    assert read(single(**annotations)[0]).image == NAME


@pytest.mark.parametrize("image", ["volcanosh/vc-agent:v1.14.0", "index.docker.io/volcanosh/vc-agent:v1.14.0", NAME])
def test_the_requested_name_may_be_short(image: str) -> None:
    assert read(single()[0], image).image == NAME


def test_a_name_that_kubelet_does_not_use_is_refused() -> None:
    message = refusal(single(ref="volcanosh/vc-agent:v1.14.0")[0])
    assert "volcanosh/vc-agent:v1.14.0 would be imported with that name, which kubelet does not use" in message


@pytest.mark.parametrize("annotations", [{"ref": "docker.io/other/thing:v1.14.0"}, {"full": "a/b:1"}, {"ref": ""}])
def test_an_archive_of_another_image_is_refused(annotations: dict[str, str]) -> None:
    message = refusal(single(**annotations)[0])
    assert message.startswith(f"colocation_agent_image_archive: /srv/agent.tar does not contain {NAME}")
    assert "skopeo copy docker://" in message


def test_an_archive_of_docker_save_has_only_the_id() -> None:
    data, config = docker()
    (image,) = read(data).images
    assert (image.architecture, image.id, image.digests) == ("amd64", config, (config,))
    assert "its images: one without a name" in refusal(docker(None)[0])
    assert "its images: Not A Name" in refusal(docker(["Not A Name"])[0])


def test_images_of_each_architecture_are_listed() -> None:
    layout = Layout()
    (arm, arm_id), (amd, amd_id) = layout.image("arm64"), layout.image("amd64")
    windows, _config = layout.image("amd64", "windows")
    attestation = layout.blob(text({"config": {"digest": layout.blob(b"{}")}, "layers": []}))
    top = layout.index(amd, arm, windows, attestation, "sha256:" + "0" * 64)
    images = {image.architecture: image for image in read(layout.name(top, ref=NAME).tar()).images}
    assert {name: image.id for name, image in images.items()} == {"amd64": amd_id, "arm64": arm_id}
    assert images["arm64"].digests == (top, arm, arm_id)


def test_a_digest_may_be_any_of_the_images() -> None:
    layout = Layout()
    (arm, arm_id), (amd, _amd_id) = layout.image("arm64"), layout.image("amd64")
    top = layout.index(amd, arm)
    data = layout.name(top, ref=NAME).tar()
    architectures = {
        expected: {image.architecture for image in read(data, NAME, expected).images} for expected in (top, arm, arm_id)
    }
    assert architectures == {top: {"amd64", "arm64"}, arm: {"arm64"}, arm_id: {"arm64"}}
    message = refusal(data, NAME, digest(b"another"))
    assert message.startswith("colocation_agent_image_digest: /srv/agent.tar contains")
    assert top in message


def without(layout: Layout, name: str) -> bytes:
    del layout.blobs[name]
    return layout.tar()


def test_an_incomplete_image_is_refused() -> None:
    for missing in range(3):
        layout = Layout()
        manifest, _config = layout.image()
        removed = list(layout.blobs)[missing]
        assert f"{removed}, and the archive has no such blob" in refusal(
            without(layout.name(manifest, ref=NAME), removed)
        )
    layout = Layout()
    top = layout.index(layout.image()[0])
    layout.name(top, ref=NAME)
    assert "does not contain a complete image for Linux" in refusal(without(layout, next(iter(layout.blobs))))


def test_a_blob_with_another_digest_than_its_name_is_missing() -> None:
    layout = Layout()
    manifest, _config = layout.image()
    layout.blobs[manifest] = layout.blobs[manifest] + b" "
    assert f"refers to {manifest}, and the archive has no such blob" in refusal(layout.name(manifest, ref=NAME).tar())


def test_the_depth_of_nested_indexes_is_limited() -> None:
    layout = Layout()
    below = layout.image()[0]
    for _level in range(8):
        below = layout.index(*[below] * 50)
    assert "does not contain a complete image for Linux" in refusal(layout.name(below, ref=NAME).tar())


def member(name: str, **fields: Any) -> bytes:
    entry = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(entry, key, value)
    return entry.tobuf(tarfile.GNU_FORMAT)


HUGE = member("x", type=tarfile.GNUTYPE_LONGNAME, size=1 << 40)
GLOBAL = tarfile.TarInfo.create_pax_global_header({"size": "1"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is not a complete, uncompressed tar file"),
        (b"\0" * 10240, "it has neither oci-layout nor manifest.json"),
        (gzip.compress(single()[0]), "it is not a complete, uncompressed tar file"),
        (single()[0][:700], "it is not a complete, uncompressed tar file"),
        (HUGE, "a header has a size of 1099511627776 bytes"),
        (GLOBAL + single()[0], "it has a global PAX header"),
        (member("a/" + "x" * 90, size=-512) * 3, " is "),
        (tar([("./a", b"1"), ("b/../a", b"2")]), "two entries have the name a"),
        (tar([("oci-layout", b"{}")]), "the archive has no index.json"),
        (tar([("oci-layout", b"{}"), ("index.json", b"[]")]), "index.json is not a JSON object"),
        (tar([("oci-layout", b"{}"), ("index.json", b"{")]), "index.json is not valid JSON"),
        (tar([("oci-layout", b"{}"), ("index.json", b"[" * 100000)]), "index.json is not valid JSON"),
        (tar([("oci-layout", b"{}"), ("index.json", b'{"manifests": 7}')]), "manifests is not a list"),
        (tar([("oci-layout", b"{}"), ("index.json", b'{"manifests": [7]}')]), "does not contain"),
        (tar([("manifest.json", b"{}")]), "manifest.json is not a list of images"),
        (tar([("manifest.json", b"[7]")]), "manifest.json[0] is not an image"),
        (tar([("manifest.json", b'[{"Config": "../etc"}]')]), "the archive has no configuration '../etc'"),
        (tar([("c", b"x"), ("manifest.json", b'[{"Config": "c", "RepoTags": ["a"]}]')]), "does not contain"),
    ],
)
def test_files_that_are_not_archives_of_images_are_refused(data: bytes, message: str) -> None:
    result = refusal(data)
    assert message in result
    assert "Nothing was changed" in result


def test_a_descriptor_without_a_digest_is_refused() -> None:
    for entry in ({}, {"digest": 7}, {"digest": "md5:0"}):
        named = {**entry, "annotations": {"org.opencontainers.image.ref.name": NAME}}
        files = [("oci-layout", b"{}"), ("index.json", text({"manifests": [named]}))]
        assert "manifests[0] has no sha256 digest" in refusal(tar(files))


def test_links_and_devices_are_ignored() -> None:
    data = member("oci-layout", type=tarfile.SYMTYPE, linkname="/etc/passwd") + member("d", type=tarfile.CHRTYPE)
    assert "it has neither" in refusal(data + b"\0" * 1024)


def test_too_many_entries_and_documents_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_entries, "MAX_ENTRIES", 3)
    with pytest.raises(BadArchive, match="more than 3 entries"):
        load_entries(io.BytesIO(tar([(str(number), b"") for number in range(4)])))
    monkeypatch.setattr(tar_entries, "MAX_DOCUMENTS", 20)
    with pytest.raises(BadArchive, match="JSON documents are larger than"):
        load_entries(io.BytesIO(tar([("a", b"{" * 15), ("b", b"[" * 15)])))


def test_a_large_layer_is_not_kept_in_memory() -> None:
    data = tar([("layer", b"\1" * (24 << 20))])
    stream = io.BytesIO(data)
    tracemalloc.start()
    entries = load_entries(stream)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert entries.sizes == {digest(b"\1" * (24 << 20)): 24 << 20}
    assert peak < 8 << 20


@given(st.binary(max_size=2048), st.integers(0, 4000))
def test_a_damaged_archive_is_either_read_or_refused(damage: bytes, at: int) -> None:
    data = bytearray(single()[0])
    data[at : at + len(damage)] = damage
    with suppress(ProfileError):
        assert read(bytes(data)).image == NAME


@pytest.mark.parametrize(
    ("given_name", "full"),
    [
        ("a", "docker.io/library/a:latest"),
        ("localhost/a:1", "localhost/a:1"),
        ("r.example:5000/x/y", "r.example:5000/x/y:latest"),
        ("x/y:v1", "docker.io/x/y:v1"),
    ],
)
def test_names_are_normalized_as_in_runtimes(given_name: str, full: str) -> None:
    assert normalize_image(given_name) == full


@pytest.mark.parametrize("name", ["", "A", "x/y:", "x//y", "x/y:v 1", "https://x/y", "x/y:a:b", "-x.y/z"])
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(ProfileError, match="is not an image name"):
        normalize_image(name)


def test_a_name_with_a_digest_is_refused() -> None:
    with pytest.raises(
        ProfileError, match="set it to registry/name:tag, and colocation_agent_image_digest to the digest"
    ):
        normalize_image(f"{NAME}@{digest(b'')}")
