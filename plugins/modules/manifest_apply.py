#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of manifest_apply; the action plugin does the work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: manifest_apply
short_description: Install Volcano, Prometheus or the like from a pinned manifest, and take it away again
version_added: 0.1.0
description:
  - Brings the objects of a YAML file on the controller to a cluster, in the order in which they need each other, and
    waits
    until they run. The file is read, checked against its digest and for mistakes before the API server is asked, and
    all is
    planned and refused before the first request that writes.
  - Fields that the manifest does not say are left. A field that it says as it did in the last run is left as somebody
    else
    has set it since, such as the text of the ConfigMap that M(volcano.colocation.scheduler_config) edits. A field
    that both
    have changed is a conflict.
  - Which objects were made is kept in the ConfigMap C(volcano-colocation-manifest-NAME) of the namespace C(kube-
    system).
    Each of them has annotations below C(colocation.volcano.sh/manifest).
  - Charts are not rendered here; C(helm template) does that. Hooks of Helm for anything else than an installation are
    left out.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
  - volcano.colocation.attributes.action
options:
  kubeconfig:
    description: Path of a kubeconfig on the controller. Its user needs the verbs that docs/scheduler.md lists.
    type: path
    required: true
  cluster_uid:
    description:
      - The UID of the cluster's namespace C(kube-system). A kubeconfig that leads to another cluster is refused,
        and so is any change as long as it is empty; the message says the UID that was found.
    type: str
    default: ""
  name:
    description: What is installed, such as V(volcano). It tells the objects of one manifest from those of another.
    type: str
    required: true
  state:
    description:
      - V(present) makes and changes what the manifest says. An object that it no longer has is left, and named.
      - V(absent) takes away what was made, in the opposite order. What was there before stays, and so does a
        namespace with
        somebody else's things in it. Needs no manifest.
    type: str
    choices: [present, absent]
    default: present
  manifest:
    description: Path on the controller of a YAML file with any number of documents. Required for O(state=present).
    type: path
  sha256:
    description:
      - The digest of this file. A file with another one is refused, and so is any as long as this is empty; the
        message says
        the digest that was found.
    type: str
    default: ""
  namespace:
    description:
      - Where objects go that need a namespace and name none, as those of a chart do. A namespace that is needed and
        is not
        there is made.
    type: str
    default: ""
  registry:
    description:
      - A mirror, C(HOST[:PORT][/PATH]), that takes the place of the registry in every image of containers and init
        containers. Repository, tag and digest stay; what Docker Hub calls C(busybox) is C(library/busybox) there.
      - Images in arguments, variables and custom resources are not changed.
    type: str
    default: ""
  allow_unpinned:
    description:
      - Whether an image may have neither a digest nor a tag with a number in it. V(latest) is another image tomorrow.
    type: bool
    default: false
  adopt:
    description:
      - Whether to change objects that are there, differ from the manifest and were made by others, and to end
        conflicts as the
        manifest says. Objects that were taken over stay when the rest is taken away.
    type: bool
    default: false
  timeout:
    description: How many seconds Deployments, DaemonSets, StatefulSets and Jobs may take until they run or are done.
    type: int
    default: 300
  remove_crds:
    description: Whether O(state=absent) takes CRDs away, and all custom resources of everybody with them.
    type: bool
    default: false
  remove_in_use:
    description:
      - Whether O(state=absent) goes on although there are Jobs and PodGroups of Volcano, which nobody schedules then.
    type: bool
    default: false
requirements:
  - the Python library kubernetes on the controller
attributes:
  check_mode:
    support: full
    details:
      - The API server carries out each request as a dry run, so that an admission that objects shows.
      - What needs a namespace, a CRD or a role that only this run makes is not tried, for a dry run makes none of them.
  diff_mode:
    support: full
    details:
      - Secrets are shown without their values, schemas of CRDs by their digests.
"""

EXAMPLES = r"""
- name: Install Volcano where there is no internet
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

- name: Take it away again, with its CRDs
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
  description: What was made, patched or deleted, in this order.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Its kind, namespace and name.
      type: str
    action:
      description: One of V(create), V(patch) and V(delete).
      type: str
preserved_fields:
  description: Fields that the manifest says as before and that somebody else has set since, by object and path.
  returned: success
  type: list
  elements: str
remaining:
  description: Objects that stay although the manifest has them no longer, or all was to go, each with the reason.
  returned: success
  type: list
  elements: str
unsupported:
  description: Objects of the manifest that are not made, each with the reason.
  returned: success
  type: list
  elements: str
images:
  description: The images of all containers as they are pulled, for who fills a mirror.
  returned: success
  type: list
  elements: str
"""
