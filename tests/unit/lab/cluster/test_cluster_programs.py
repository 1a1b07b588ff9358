# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster.programs import mend, openapi_packages
from ansible_collections.volcano.colocation.tests.lab.errors import LabError

TAG = "// +k8s:openapi-gen=true\npackage x\n"
LINK = """\
//go:linkname mapiterinit reflect.mapiterinit
func mapiterinit(rtype unsafe.Pointer, m unsafe.Pointer) *hiter

type hiter struct {
\tvalue unsafe.Pointer
\t// rest fields are ignored
}
"""
MAP = """\
func (type2 *UnsafeMapType) UnsafeIterate(obj unsafe.Pointer) MapIterator {
\treturn &UnsafeMapIterator{
\t\thiter:      mapiterinit(type2.rtype, *(*unsafe.Pointer)(obj)),
\t}
}
"""
MENDED_MAP = """\
func (type2 *UnsafeMapType) UnsafeIterate(obj unsafe.Pointer) MapIterator {
\tvar it hiter
\tmapiterinit(type2.rtype, *(*unsafe.Pointer)(obj), &it)
\treturn &UnsafeMapIterator{
\t\thiter:      &it,
\t}
}
"""


def write(tree: Path, name: str, text: str) -> Path:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_api_server_describes_the_packages_with_the_tag(tmp_path: Path) -> None:
    for name in ("api/core/v1", "apimachinery/pkg/version", "code-generator/_examples/v1", "sample-apiserver/v1"):
        write(tmp_path, f"staging/src/k8s.io/{name}/doc.go", TAG)
    write(tmp_path, "staging/src/k8s.io/api/core/v1/types.go", TAG)
    write(tmp_path, "staging/src/k8s.io/client-go/rest.go", 'var text = "// +k8s:openapi-gen=true"\n')
    write(tmp_path, "staging/src/k8s.io/api/README.md", TAG)
    write(tmp_path, "pkg/apis/abac/v0/register.go", TAG)
    assert openapi_packages(tmp_path) == [
        "k8s.io/kubernetes/vendor/k8s.io/api/core/v1",
        "k8s.io/kubernetes/vendor/k8s.io/apimachinery/pkg/version",
        "k8s.io/kubernetes/pkg/apis/abac/v0",
    ]


def test_the_iterator_of_maps_is_that_of_go_1_18(tmp_path: Path) -> None:
    link = write(tmp_path, "vendor/github.com/modern-go/reflect2/unsafe_link.go", LINK)
    maps = write(tmp_path, "vendor/github.com/modern-go/reflect2/unsafe_map.go", MAP)
    mend(tmp_path)
    assert maps.read_text() == MENDED_MAP
    assert "func mapiterinit(rtype unsafe.Pointer, m unsafe.Pointer, it *hiter)\n" in link.read_text()
    assert "\tvalue unsafe.Pointer\n\tt, h, buckets, bptr unsafe.Pointer\n" in link.read_text()
    assert "\tbucket, checkBucket uintptr\n}\n" in link.read_text()


def test_another_source_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "vendor/github.com/modern-go/reflect2/unsafe_link.go", "package reflect2\n")
    with pytest.raises(LabError, match="unsafe_link"):
        mend(tmp_path)
