"""Zip archives for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def make_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a compressed archive of files, without times, because its bytes may name tests."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()
