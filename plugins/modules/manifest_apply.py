#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of manifest_apply, which the action plugin with this name implements."""

from __future__ import annotations

DOCUMENTATION = r"""
module: manifest_apply
short_description: Install or delete Volcano or Prometheus from a pinned manifest
version_added: 0.1.0
description:
  - Applies the objects of a YAML file on the controller to a cluster in the order of their dependencies and waits until
    they run. The file is compared with its digest and validated before the first request to the API server. The whole
    plan is made, and refused if necessary, before the first write request.
  - Fields that are not in the manifest are not changed. A field whose value in the manifest is the same as in the last
    run keeps the value that another client has set since, such as the text of the ConfigMap that
    M(volcano.colocation.scheduler_config) edits. If both have changed a field, this is a conflict.
  - The list of created objects is kept in the ConfigMap C(volcano-colocation-manifest-NAME) of the namespace
    C(kube-system). Each object has annotations below C(colocation.volcano.sh/manifest).
  - Charts are not rendered; use C(helm template). Helm hooks other than those for an installation are skipped.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
  - volcano.colocation.cluster
  - volcano.colocation.cluster.uid
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the permissions in docs/scheduler.md.
    type: path
    required: true
  name:
    description: The name of the installation, such as V(volcano). It identifies the objects of one manifest.
    type: str
    required: true
  state:
    description:
      - V(present) creates and changes the objects in the manifest. Objects that are no longer in the manifest stay and
        are listed in RV(remaining).
      - V(absent) deletes the created objects in reverse order. Objects that existed before stay, and so does a
        namespace that contains foreign objects. No manifest is needed.
    type: str
    choices: [present, absent]
    default: present
  manifest:
    description: Path on the controller of a YAML file with any number of documents. Required for O(state=present).
    type: path
  sha256:
    description:
      - The SHA-256 digest of the file. A file with another digest is refused.
      - If it is empty, every file is refused and the message contains the digest of the file.
    type: str
    default: ""
  namespace:
    description:
      - The namespace of objects that require one and do not name it, such as objects of a chart. A missing namespace is
        created.
    type: str
    default: ""
  registry:
    description:
      - A mirror, C(HOST[:PORT][/PATH]), that replaces the registry in all images of containers and init containers.
        Repository, tag and digest stay. Docker Hub's C(busybox) becomes C(library/busybox).
      - Images in arguments, variables and custom resources are not changed.
    type: str
    default: ""
  allow_unpinned:
    description:
      - Whether to allow images with neither a digest nor a tag with a number, such as V(latest), which can change at
        any time.
    type: bool
    default: false
  imported_images:
    description:
      - Names of images that every node has, such as those that M(volcano.colocation.agent_image) imported. If it is not
        empty, all containers get the pull policy V(Never), and a manifest with another image is refused.
    type: list
    elements: str
    default: []
  adopt:
    description:
      - Whether to change existing objects that differ from the manifest and were created by others, and to resolve
        conflicts in favor of the manifest. With O(state=absent) such adopted objects stay.
    type: bool
    default: false
  timeout:
    description: Seconds within which Deployments, DaemonSets and StatefulSets must run and Jobs must complete.
    type: int
    default: 300
  remove_crds:
    description: Whether O(state=absent) deletes CRDs, and with them all custom resources in the cluster.
    type: bool
    default: false
  remove_in_use:
    description:
      - Whether O(state=absent) continues if Jobs and PodGroups of Volcano exist, which are not scheduled afterwards.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details:
      - The API server handles each request as a dry run, so that rejections by admission are reported.
      - Objects that need a namespace, a CRD or a role from the same run are not tried, because a dry run creates none.
  diff_mode:
    support: full
    details:
      - Secrets are shown without values, schemas of CRDs as digests.
"""

EXAMPLES = r"""
- name: Install Volcano without internet access
  volcano.colocation.manifest_apply:
    kubeconfig: ~/.kube/config
    cluster_uid: 6f1c2b7e-0000-4000-8000-000000000001
    name: volcano
    manifest: files/volcano-v1.14.0.yaml
    sha256: 0e2c5d2f0b9d6f3b0f4a1f5f5c0c8f4d5a6b7c8d9e0f1a2b3c4d5e6f70819243
    namespace: volcano-system
    registry: registry.example:5000
  delegate_to: localhost
  become: false
  run_once: true

- name: Delete it, including its CRDs
  volcano.colocation.manifest_apply:
    kubeconfig: ~/.kube/config
    cluster_uid: 6f1c2b7e-0000-4000-8000-000000000001
    name: volcano
    state: absent
    remove_crds: true
  delegate_to: localhost
  become: false
  run_once: true
"""

RETURN = r"""
changes:
  description: Objects that were created, patched or deleted, in this order.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: The object's kind, namespace and name.
      type: str
    action:
      description: One of V(create), V(patch) and V(delete).
      type: str
preserved_fields:
  description: Fields that are unchanged in the manifest and that another client has set since, by object and path.
  returned: success
  type: list
  elements: str
remaining:
  description: Objects that stay although they are no longer in the manifest or should be deleted, with the reason.
  returned: success
  type: list
  elements: str
unsupported:
  description: Objects of the manifest that are not created, each with the reason.
  returned: success
  type: list
  elements: str
images:
  description: The images of all containers as they are pulled, for filling a mirror.
  returned: success
  type: list
  elements: str
"""
