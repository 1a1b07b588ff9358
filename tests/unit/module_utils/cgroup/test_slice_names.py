# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of slices, by systemd's rules (src/basic/unit-name.c, src/basic/cgroup-util.c)."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.slice_names import (
    escape,
    expand,
    name_problem,
    parents,
    path,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError

LEVEL = st.text(string.ascii_letters + string.digits + ":_.\\", min_size=1, max_size=12)
NAMES = st.lists(LEVEL, min_size=1, max_size=6).map("-".join).map("{}.slice".format)


@pytest.mark.parametrize(
    ("name", "cgroup"),
    [
        ("-.slice", ""),
        ("system.slice", "system.slice"),
        ("volcano-offline.slice", "volcano.slice/volcano-offline.slice"),
        ("a-b-c.slice", "a.slice/a-b.slice/a-b-c.slice"),
        ("a_b-c.slice", "a_b.slice/a_b-c.slice"),
        ("user-1000.slice", "user.slice/user-1000.slice"),
        (r"online\x2dtasks.slice", r"online\x2dtasks.slice"),
        # systemd's test-cgroup-util.c, slice_to_path.
        ("foobar-waldo.slice", "foobar.slice/foobar-waldo.slice"),
        ("a-b-c-d-e.slice", "a.slice/a-b.slice/a-b-c.slice/a-b-c-d.slice/a-b-c-d-e.slice"),
        # cg_needs_escape: a directory must not look like a kernel file or an escaped name.
        ("cpu.slice", "_cpu.slice"),
        ("cpu-batch.slice", "_cpu.slice/cpu-batch.slice"),
        ("memory.low.slice", "_memory.low.slice"),
        ("cgroup.slice", "_cgroup.slice"),
        ("_a.slice", "__a.slice"),
        (".a.slice", "_.a.slice"),
        ("cpus.slice", "cpus.slice"),
        ("hugetlb.slice", "hugetlb.slice"),
        ("tasks.slice", "tasks.slice"),
    ],
)
def test_the_path_of_a_slice(name: str, cgroup: str) -> None:
    assert path(name) == cgroup


def test_kubelet_does_not_escape_directories() -> None:
    assert expand("cpu-batch.slice") == "cpu.slice/cpu-batch.slice"
    assert expand("-.slice") == ""


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("-.slice", ()),
        ("a.slice", ()),
        ("a-b.slice", ("a.slice",)),
        ("a-b-c.slice", ("a.slice", "a-b.slice")),
        ("cpu-a.slice", ("cpu.slice",)),
    ],
)
def test_the_parents_of_a_slice_end_with_the_nearest(name: str, above: tuple[str, ...]) -> None:
    assert parents(name) == above


NAMELESS = r"has a level without a name: each dash starts a level (\x2d is a dash that does not)"
CHARACTERS = r", but systemd accepts only letters, digits and : - _ . \ in names"
PATH = "is a path; the name of a slice has no slash, and each dash in it starts a level"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "does not end with .slice"),
        (".slice", "has nothing before .slice"),
        ("offline", "does not end with .slice: write offline.slice"),
        ("kubelet.service", "is the name of another type of unit: write kubelet.slice"),
        ("a.Slice", "does not end with .slice: write a.Slice.slice"),
        ("/a/b.slice", PATH + ": write a-b.slice"),
        ("kubepods.slice/kubepods-burstable.slice", PATH + ": write kubepods-burstable.slice"),
        ("../x.slice", PATH + ": write x.slice"),
        ("a@b.slice", r"is a template or an instance, which a slice cannot be: write a\x40b.slice"),
        ("a b*.slice", "has ' ', '*'" + CHARACTERS + r": write a\x20b\x2a.slice"),
        ("gr\u00fcn.slice", "has '\u00fc'" + CHARACTERS + r": write gr\xc3\xbcn.slice"),
        ("a\n.slice", r"has '\n'" + CHARACTERS + r": write a\x0a.slice"),
        ("-a.slice", NAMELESS + ": write a.slice"),
        ("a-.slice", NAMELESS + ": write a.slice"),
        ("a--b.slice", NAMELESS + ": write a-b.slice"),
        ("--.slice", NAMELESS),
        ("a" * 250 + ".slice", "has 256 characters, but systemd accepts at most 255"),
    ],
)
def test_the_reason_for_an_invalid_name_has_a_suggestion(name: str, reason: str) -> None:
    assert name_problem(name) == reason


@pytest.mark.parametrize("name", ["-.slice", "a" * 249 + ".slice", "..slice", r"a\b.slice", "a:b.slice", "A_9.x.slice"])
def test_names_that_systemd_accepts(name: str) -> None:
    assert name_problem(name) == ""


def test_the_path_of_an_invalid_name_is_an_error() -> None:
    with pytest.raises(ColocationError) as caught:
        path("a--b.slice")
    assert str(caught.value).startswith("'a--b.slice' is not the name of a slice. It has a level without a name")
    assert str(caught.value).endswith("write a-b.slice.")


# Output of systemd-escape(1).
@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain_1:2", "plain_1:2"),
        ("a-b", r"a\x2db"),
        ("a/b", "a-b"),
        (".hidden.x", r"\x2ehidden.x"),
        ("a\\b", r"a\x5cb"),
        ("gr\u00fcn 1", r"gr\xc3\xbcn\x201"),
        ("a@b", r"a\x40b"),
        ("", ""),
    ],
)
def test_a_text_is_escaped_as_systemd_does(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def unescaped(name: str) -> str:
    """systemd-escape --unescape, src/basic/unit-name.c unit_name_unescape."""
    slashes = name.replace("-", "/").encode("ascii")
    plain = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match.group(1), 16)]), slashes)
    return plain.decode("utf-8", "surrogateescape")


@given(st.text(max_size=40))
def test_an_escaped_text_can_be_unescaped_and_is_a_level(text: str) -> None:
    plain = text.replace("/", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    assert unescaped(escape(plain)) == plain
    assert escape(text.replace("/", "+")).count("-") == 0
    if plain:
        assert name_problem(escape(plain)[:249] + ".slice") == ""


@given(NAMES)
def test_a_path_nests_by_prefixes_and_stays_below_the_top(name: str) -> None:
    directories = path(name).split("/")
    assert all(directory not in ("", ".", "..") for directory in directories)
    stems = [re.sub(r"\.slice$", "", directory) for directory in expand(name).split("/")]
    assert len(directories) == len(stems) == name.count("-") + 1
    assert all(low.startswith(high + "-") for high, low in zip(stems, stems[1:]))
    assert stems[-1] + ".slice" == name
    assert (*parents(name), name) == tuple(expand(name).split("/"))
    assert [directory.lstrip("_") for directory in directories] == [
        level.lstrip("_") for level in (*parents(name), name)
    ]


@given(st.text(max_size=30).map("{}.slice".format))
def test_a_suggested_name_is_valid(name: str) -> None:
    suggestion = re.search(r": write (.*)$", name_problem(name), re.DOTALL)
    assert suggestion is None or name_problem(suggestion.group(1)) == ""
