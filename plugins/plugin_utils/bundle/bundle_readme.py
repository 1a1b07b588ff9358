# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README.md of a bundle: the commands that install it."""

from __future__ import annotations

from .bundle_document import CHECKSUMS, REQUIREMENTS, WHEELS, BundleDocument

_TEXT = """\
# Volcano {release} with volcano.colocation {version}, without a registry

Copy this directory to the controller, the machine that runs ansible-playbook. It needs Python {python} on
{platform}, and ansible-core. Then run, in this directory:

```sh
sha256sum --quiet --check {checksums}
python3 -m pip install --isolated --no-index --find-links {wheels} --require-hashes --requirement {requirements}
ansible-galaxy collection install --offline {collection}
ansible-playbook -i INVENTORY volcano.colocation.bundle_install -e colocation_bundle_directory="$PWD"
```

Use the Python that runs ansible-playbook; `ansible-playbook --version` shows it. The playbook checks all files again,
imports the images on every node, and sets up Volcano. Its variables are those of the playbook `cluster`, except for
images and the manifest, which are those of the bundle.

| image | architectures |
|---|---|
{images}
"""


def render_readme(document: BundleDocument) -> str:
    rows = (f"| `{image.image}` | {', '.join(image.architectures)} |" for image in document.images)
    return _TEXT.format(
        release=document.volcano.release,
        version=document.collection.version,
        python=document.python.version,
        platform=document.python.platform,
        checksums=CHECKSUMS,
        wheels=WHEELS,
        requirements=REQUIREMENTS,
        collection=document.collection.file,
        images="\n".join(rows),
    )
