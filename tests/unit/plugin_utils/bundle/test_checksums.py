# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file of a bundle is compared with its checksum; names and files are not trusted."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_document import CHECKSUMS
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.checksums import (
    parse_checksums,
    render_checksums,
    verify_directory,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.bundles import write_bundle

DIGEST = "0" * 64
NAMES = st.lists(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True), min_size=1, max_size=3).map("/".join)


@pytest.fixture(name="bundle")
def _bundle(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "bundle")
    return tmp_path / "bundle"


def refusal(directory: Path, expected: str = "") -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        verify_directory(directory, expected)
    assert "Nothing was changed" in caught.value.message
    return caught.value


def test_a_complete_bundle_is_identified_by_its_checksums(bundle: Path) -> None:
    sha256 = hashlib.sha256((bundle / CHECKSUMS).read_bytes()).hexdigest()
    assert verify_directory(bundle) == verify_directory(bundle, sha256.upper()) == sha256


def test_sha256sum_accepts_the_checksums(bundle: Path) -> None:
    subprocess.run(["sha256sum", "--strict", "--check", CHECKSUMS], cwd=bundle, check=True, capture_output=True)


def change(bundle: Path) -> None:
    with (bundle / "manifests/volcano.yaml").open("r+b") as stream:
        stream.seek(3)
        stream.write(b"X")


def add(bundle: Path) -> None:
    (bundle / "wheels").mkdir()
    (bundle / "wheels" / "other.whl").touch()


def link(bundle: Path) -> None:
    path = bundle / "requirements.txt"
    path.rename(bundle.parent / "requirements.txt")
    path.symlink_to(bundle.parent / "requirements.txt")


def link_directory(bundle: Path) -> None:
    (bundle / "manifests").rename(bundle.parent / "manifests")
    (bundle / "manifests").symlink_to(bundle.parent / "manifests")


def pipe(bundle: Path) -> None:
    os.mkfifo(bundle / "images" / "pipe")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (change, "manifests/volcano.yaml was changed"),
        (lambda bundle: (bundle / "requirements.txt").unlink(), "requirements.txt is missing"),
        (add, "wheels/other.whl does not belong to the bundle"),
        (link, "requirements.txt is a symbolic link"),
        (link_directory, "manifests is a symbolic link; manifests/volcano.yaml is missing"),
        (pipe, "images/pipe is not a regular file"),
        (lambda bundle: (bundle / CHECKSUMS).unlink(), "has no file SHA256SUMS, which the build writes last"),
    ],
)
def test_a_bundle_that_is_not_as_it_was_built_is_refused(
    bundle: Path, damage: Callable[[Path], None], problem: str
) -> None:
    damage(bundle)
    error = refusal(bundle)
    assert error.variable == "directory"
    assert problem in error.message


def test_all_problems_are_named_together_up_to_a_limit(bundle: Path) -> None:
    for number in range(12):
        (bundle / f"file{number:02}").touch()
    message = refusal(bundle).message
    assert "file00 does not belong to the bundle; file01 does not belong" in message
    assert "; and 2 more." in message


def test_another_bundle_than_the_expected_one_is_refused(bundle: Path) -> None:
    error = refusal(bundle, DIGEST)
    assert error.variable == "sha256"
    assert hashlib.sha256((bundle / CHECKSUMS).read_bytes()).hexdigest() in error.message


def test_a_path_that_is_not_a_directory_is_refused(tmp_path: Path) -> None:
    assert "is not a directory" in refusal(tmp_path / "nowhere").message


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../outside", "images/../../outside", "a//b", "./a", "a/", "a\\b", ".", "a/./b", CHECKSUMS],
)
def test_a_name_outside_of_the_bundle_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(ProfileError, match=r"sums:2: .* is not the name of a file in the bundle"):
        parse_checksums(f"{DIGEST}  fine\n{DIGEST}  {name}\n", "sums")


@pytest.mark.parametrize(
    "line", ["", "text", f"{DIGEST} one-space", f"{DIGEST[:-1]}  a", f"{DIGEST}  a\tb", f"{DIGEST}  é"]
)
def test_a_line_in_another_format_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(ProfileError, match="sums:2: it is not a SHA-256 with a name"):
        parse_checksums(f"{DIGEST}  fine\n{line}\n", "sums")


def test_a_name_may_be_listed_only_once() -> None:
    with pytest.raises(ProfileError, match="sums:2: a is listed twice"):
        parse_checksums(f"{DIGEST}  a\n{'1' * 64}  a\n", "sums")
    with pytest.raises(ProfileError, match="sums has 0 lines"):
        parse_checksums("", "sums")


@given(st.dictionaries(NAMES, st.just(DIGEST), min_size=1))
def test_what_is_written_is_read_again(digests: dict[str, str]) -> None:
    assert parse_checksums(render_checksums(digests), "sums") == digests
