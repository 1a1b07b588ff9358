# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make release` in a copy of the checkout: a dry run, then a signed release that a user installs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.run.places import tool_environment
from ansible_collections.volcano.colocation.tests.support.checkout_copy import PACKAGE, copy_checkout
from ansible_collections.volcano.colocation.tests.support.galaxy_server import galaxy_server

VERSION = "99.1.0"
TARBALL = f"volcano-colocation-{VERSION}.tar.gz"
EPOCH = 1_800_000_000
"""15 January 2027."""

KEY = "release@example.com"
SUMMARY = "A release that only a test makes."
FRAGMENT = f"---\nrelease_summary: {SUMMARY}\nminor_changes:\n  - node_align - a change for a test.\n"


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout in a separate repository, with one fragment."""

    root: Path
    environment: dict[str, str]

    def call(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=check)

    def git(self, *arguments: str) -> str:
        return self.call("git", *arguments).stdout.strip()

    def release(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.call(sys.executable, "-m", f"{PACKAGE}.tests.release", *arguments, check=False)

    def artifacts(self) -> dict[str, bytes]:
        directory = self.root / ".cache" / "release" / VERSION
        return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture(scope="module", name="home")
def _home() -> Iterator[Path]:
    """A home of GnuPG with a key. Its path is short, because a socket's path may have 107 bytes."""
    home = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    environment = {**os.environ, "GNUPGHOME": str(home)}
    generate = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "0"]
    subprocess.run(generate, env=environment, check=True)
    yield home
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
    subprocess.run(["rm", "-r", str(home)], check=True)


@pytest.fixture(scope="module", name="checkout")
def _checkout(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    root, collections = copy_checkout(tmp_path_factory.mktemp("release"))
    environment = {
        **tool_environment(os.environ),
        "GNUPGHOME": str(home),
        "PYTHONPATH": str(collections),
        "SOURCE_DATE_EPOCH": str(EPOCH),
    }
    checkout = Checkout(root, environment)
    fragments = root / "changelogs" / "fragments"
    shutil.rmtree(fragments, ignore_errors=True)
    fragments.mkdir()
    (fragments / "test.yml").write_text(FRAGMENT)
    checkout.git("init", "--quiet", "--initial-branch", "main")
    checkout.git("config", "user.name", "A maintainer")
    checkout.git("config", "user.email", KEY)
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message", "Begin")
    return checkout


@pytest.fixture(scope="module", name="begin")
def _begin(checkout: Checkout) -> str:
    return checkout.git("rev-parse", "HEAD")


@pytest.fixture(scope="module", name="dry_run")
def _dry_run(checkout: Checkout, begin: str) -> dict[str, bytes]:
    """The files of a dry run."""
    done = checkout.release(VERSION)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"make release VERSION={VERSION} APPLY=yes" in done.stdout
    assert checkout.git("rev-parse", "HEAD") == begin
    assert checkout.git("tag", "--list") == ""
    assert checkout.git("status", "--porcelain") == ""
    return checkout.artifacts()


@pytest.fixture(scope="module", name="release")
def _release(checkout: Checkout, dry_run: dict[str, bytes]) -> dict[str, bytes]:
    """The files of the release."""
    assert TARBALL in dry_run
    done = checkout.release(VERSION, "--key", KEY, "--apply")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"git push origin main {VERSION}" in done.stdout
    return checkout.artifacts()


def test_a_dry_run_makes_the_same_files_as_the_release(dry_run: dict[str, bytes], release: dict[str, bytes]) -> None:
    assert sorted(dry_run) == ["SHA256SUMS", f"volcano-colocation-{VERSION}.cdx.json", TARBALL]
    assert {name: release[name] for name in dry_run} == dry_run
    assert sorted(release.keys() - dry_run) == ["SHA256SUMS.asc", f"{TARBALL}.asc"]


@pytest.mark.usefixtures("release")
def test_the_commit_has_version_and_changelog(checkout: Checkout, begin: str) -> None:
    assert checkout.git("log", "--format=%s %ct", f"{begin}..") == f"Release {VERSION} {EPOCH}"
    assert yaml.safe_load((checkout.root / "galaxy.yml").read_text())["version"] == VERSION
    entry = yaml.safe_load((checkout.root / "changelogs" / "changelog.yaml").read_text())["releases"][VERSION]
    assert entry["release_date"] == "2027-01-15"
    assert entry["changes"]["release_summary"] == SUMMARY
    assert "* node\\_align \\- a change for a test" in (checkout.root / "CHANGELOG.md").read_text()
    assert list((checkout.root / "changelogs" / "fragments").glob("*.yml")) == []
    assert checkout.git("status", "--porcelain") == ""


@pytest.mark.usefixtures("release")
def test_the_tag_is_signed(checkout: Checkout) -> None:
    checkout.git("verify-tag", VERSION)
    assert checkout.git("rev-parse", f"{VERSION}^{{commit}}") == checkout.git("rev-parse", "HEAD")


@pytest.mark.usefixtures("release")
def test_a_released_version_is_not_released_again(checkout: Checkout) -> None:
    done = checkout.release(VERSION)
    assert done.returncode == 1
    assert done.stderr == f"version {VERSION} is already released (a tag has this name); use a newer VERSION\n"


@pytest.mark.usefixtures("release")
def test_checksums_and_their_signature_are_right(checkout: Checkout) -> None:
    directory = checkout.root / ".cache" / "release" / VERSION
    for command in (["sha256sum", "--check", "SHA256SUMS"], ["gpg", "--verify", "SHA256SUMS.asc", "SHA256SUMS"]):
        subprocess.run(command, cwd=directory, env=checkout.environment, capture_output=True, check=True)


@pytest.mark.usefixtures("release")
def test_every_file_has_the_time_of_the_commit(checkout: Checkout) -> None:
    with tarfile.open(checkout.root / ".cache" / "release" / VERSION / TARBALL) as archive:
        assert {member.mtime for member in archive} == {EPOCH}


def test_the_bill_of_materials_names_collection_and_packages(release: dict[str, bytes]) -> None:
    bill = json.loads(release[f"volcano-colocation-{VERSION}.cdx.json"])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    collection = bill["metadata"]["component"]
    assert (collection["name"], collection["version"]) == ("volcano.colocation", VERSION)
    assert collection["hashes"][0]["content"] in release["SHA256SUMS"].decode()
    assert {"ansible-core", "kubernetes", "PyYAML".lower(), "tomli"} <= {part["name"] for part in bill["components"]}
    (direct,) = [entry for entry in bill["dependencies"] if entry["ref"] == f"volcano.colocation@{VERSION}"]
    assert sorted(reference.partition("@")[0] for reference in direct["dependsOn"]) == [
        "pkg:pypi/ansible-core",
        "pkg:pypi/kubernetes",
        "pkg:pypi/tomli",
    ]


def install(checkout: Checkout, target: Path, signature: str) -> subprocess.CompletedProcess[str]:
    """Install from a Galaxy server as a user who has the public key and the signature."""
    directory = checkout.root / ".cache" / "release" / VERSION
    keyring = target.with_suffix(".gpg")
    checkout.call("gpg", "--batch", "--yes", "--output", str(keyring), "--export", KEY)
    with galaxy_server(directory / TARBALL, VERSION) as server:
        return checkout.call(
            *("ansible-galaxy", "collection", "install", "--no-cache", "--server", server),
            *("--collections-path", str(target), "--required-valid-signature-count", "+1"),
            *("--keyring", str(keyring), "--signature", (directory / signature).as_uri()),
            f"volcano.colocation:=={VERSION}",
            check=False,
        )


@pytest.mark.usefixtures("release")
def test_a_user_verifies_the_signature_at_installation(checkout: Checkout, tmp_path: Path) -> None:
    done = install(checkout, tmp_path / "installed", f"{TARBALL}.asc")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"volcano.colocation:{VERSION} was installed successfully" in done.stdout


@pytest.mark.usefixtures("release")
def test_a_wrong_signature_is_refused_at_installation(checkout: Checkout, tmp_path: Path) -> None:
    done = install(checkout, tmp_path / "installed", "SHA256SUMS.asc")
    assert done.returncode != 0
    assert "GnuPG signature verification failed" in done.stdout + done.stderr
    assert not (tmp_path / "installed" / "ansible_collections" / "volcano" / "colocation" / "plugins").exists()
