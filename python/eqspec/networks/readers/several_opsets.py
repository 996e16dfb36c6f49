"""Files that import the standard operators in several versions: read where all of these are one function.

onnxruntime takes the version that stands last. Others take another one, so a file whose operators mean different things
in two of them has no meaning that could be proved. Each other version is read as well, and its steps have to be the
same numbers; one in which the file makes no sense at all stands in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import ModelProto, helper

from eqspec.errors import NetworkError
from eqspec.networks.network import Network
from eqspec.networks.program import content as steps_content
from eqspec.networks.readers.onnx_names import STANDARD


def imported(model: ModelProto) -> list[int]:
    """The versions of the standard operators, each once, that of onnxruntime first."""
    versions = [int(one.version) for one in model.opset_import if one.domain in STANDARD]
    return list(dict.fromkeys(reversed(versions)))


def note(taken: int, others: Sequence[int]) -> list[str]:
    """What is said of a file with several versions."""
    listed = ", ".join(map(str, others))
    return [f"it imports opset {listed} beside {taken}; {taken} is read, as onnxruntime does"] if others else []


def check(network: Network, content: bytes, read: Callable[[bytes], Network], others: Sequence[int]) -> None:
    """Refuse a file that is another function in one of the `others`; `read` reads bytes. Raises NetworkError."""
    for version in others:
        try:
            other = read(_of_version(content, version))
        except NetworkError:  # no function at all
            continue
        if [*steps_content(network.steps)] != [*steps_content(other.steps)] or network.stripped != other.stripped:
            message = f"the model imports several opsets at once, and in opset {version} it is another function"
            raise NetworkError(
                network.source, message, fix="export it again with one version of the standard operators"
            )


def _of_version(content: bytes, version: int) -> bytes:
    """The file with one version of the standard operators."""
    model = ModelProto.FromString(content)
    kept = [one for one in model.opset_import if one.domain not in STANDARD]
    del model.opset_import[:]
    model.opset_import.extend([helper.make_opsetid("", version), *kept])
    changed: bytes = model.SerializeToString()
    return changed
