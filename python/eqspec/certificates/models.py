"""Models in memory as files beside a certificate, so that the auditor, which reads files alone, has something to read.

A model from memory was read from the bytes of an ONNX model (`Network.content`), whose sha256 is its digest. They are
kept, named by their digest. A certificate then speaks of that file and of nothing else: that the file is what the
framework computes was compared when the model was read, at random inputs, and is no part of any proof.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from eqspec.networks import Network
from eqspec.networks.derived import DerivedNetwork
from eqspec.tasks.task import Task


def in_memory(network: Network) -> bool:
    """Whether a network came from memory; one that was made of a file, or completed for two classes, did not."""
    return network.content is not None and network.sigmoid_of is None and not isinstance(network, DerivedNetwork)


class KeptModels:
    """The models of a run that are kept in a folder; `tidy` removes those that no certificate needs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: set[Path] = set()
        self._needed: set[Path] = set()

    def filed(self, task: Task) -> Task:
        """The task with files in place of models in memory. OSError if one cannot be written."""
        if not (in_memory(task.reference) or in_memory(task.candidate)):
            return task
        return replace(task, reference=self._file_of(task.reference), candidate=self._file_of(task.candidate))

    def need(self, task: Task) -> None:
        """A certificate of this task is there, and with it go its files."""
        self._needed.update(self._path(n) for n in (task.reference, task.candidate) if in_memory(n))

    def tidy(self) -> None:
        """Remove what was written and is of no use; a file that was there before is left alone."""
        for path in self._written - self._needed:
            path.unlink(missing_ok=True)

    def _path(self, network: Network) -> Path:
        return self._folder / f"{network.sha256}.onnx"

    def _file_of(self, network: Network) -> Network:
        if not in_memory(network) or network.content is None:
            return network
        path = self._path(network)
        if not path.exists() or path.read_bytes() != network.content:
            self._written.add(path)
            part = path.with_name(f"{path.name}.{token_hex(4)}.part")
            try:
                part.write_bytes(network.content)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        return replace(network, source=str(path))
