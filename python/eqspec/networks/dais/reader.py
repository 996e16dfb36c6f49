"""A program of da4ml, or a project of it, read as the network that it computes.

The inputs of the network are real numbers, assigned to the types of the program's inputs as da4ml's `predict` does it,
so that what these types cut off is part of what is compared. Of a project the program is read (`location`); the
Verilog, VHDL or C++ beside it, which da4ml generates from it, is not.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NoReturn

from eqspec.errors import NetworkError
from eqspec.networks.dais.instructions import MOST_BYTES, programs
from eqspec.networks.dais.known import Atom, Known
from eqspec.networks.dais.layering import steps
from eqspec.networks.dais.location import is_project, program_of
from eqspec.networks.dais.values import Values
from eqspec.networks.firmware.size_limits import MAX_NEURONS
from eqspec.networks.network import Network


def read(path: str) -> Network:
    """The network of a program, or of the folder of a project. Raises NetworkError."""
    folder = is_project(Path(path))
    file = program_of(Path(path)) if folder else Path(path)
    content = _content(file)
    found = programs(str(file), content)
    size = found[0].inputs

    def refuse(message: str, fix: str) -> NoReturn:
        raise NetworkError(str(file), message, fix=fix)

    if size > MAX_NEURONS:
        refuse(f"{size} inputs", f"programs with up to {MAX_NEURONS} inputs are read")
    atoms: list[Atom | None] = [None] * size
    values = Values(atoms, refuse)
    given: list[Known | None] = [None] * size
    for stage, program in enumerate(found):
        given = [*values.run(program, given, f"stage {stage}, " if len(found) > 1 else "")]
    outputs = [value.form for value in given if value is not None]
    made, casts = steps(atoms, outputs, refuse)
    notes = [f"read as the program of da4ml in {file.relative_to(path)}" if folder else "read as a program of da4ml"]
    if folder:
        notes[0] += "; the hardware description beside it, which da4ml made of it, is not read"
    return Network(
        made,
        size,
        path,
        hashlib.sha256(content).hexdigest(),
        "inputs",
        (size,),
        "outputs",
        (len(outputs),),
        notes=tuple(notes),
        casts=casts,
    )


def _content(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise NetworkError(str(file), "no such file", fix="check the path")
        if file.stat().st_size > MOST_BYTES:
            raise NetworkError(str(file), f"larger than {MOST_BYTES >> 20} MiB", fix="use a smaller network")
        return file.read_bytes()
    except (OSError, ValueError) as error:
        raise NetworkError(str(file), f"cannot be read ({error})", fix="check the path and its permissions") from error
