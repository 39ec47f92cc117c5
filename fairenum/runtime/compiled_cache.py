"""A cache of compiled code that detects damaged files, which numba's own cache would load and run."""

from __future__ import annotations

import logging
import pickle
from hashlib import sha256
from pathlib import Path

from numba.core.caching import IndexDataCacheFile

LOG = logging.getLogger(__name__)
DIGEST = sha256().digest_size


class SealedFiles(IndexDataCacheFile):
    """Numba's cache files with a SHA-256 digest at the end, so that damaged code is compiled anew and never run."""

    def _load_index(self) -> dict[object, object]:
        try:
            return dict(super()._load_index())
        except Exception as error:  # noqa: BLE001 - a damaged pickle may raise anything
            LOG.debug("the index of compiled code is damaged: %r", error)
            return {}

    def _load_data(self, name: str) -> object:
        content = Path(self._data_path(name)).read_bytes()
        code, digest = content[:-DIGEST], content[-DIGEST:]
        if sha256(code).digest() != digest:
            raise OSError("compiled code is damaged")  # which numba treats as a missing file
        return pickle.loads(code)

    def _save_data(self, name: str, data: object) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(code + sha256(code).digest())
