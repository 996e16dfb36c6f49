"""A folder written by hls4ml, read as the network that its firmware is.

    firmware/defines.h         types
    firmware/parameters.h      configurations of the layers, and which weights there are
    firmware/NAME.cpp          the calls, in order; NAME is the one file of this kind
    firmware/weights/*         their numbers

The configuration that hls4ml was given (hls4ml_config.yml) is not read: it says `auto` where hls4ml chose a type. What
is not recognised is refused by name with its file and line.

The inputs of the network are real numbers. They are assigned to the types of the inputs as the simulation's bridge does
it, so that what a type cuts off is part of what is compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from eqspec.errors import NetworkError
from eqspec.networks.exact_vectors import Integers
from eqspec.networks.firmware import adders, ends, entry_types
from eqspec.networks.firmware.builder import Value
from eqspec.networks.firmware.calls import Function, read_function
from eqspec.networks.firmware.declarations import Declarations, read_declarations
from eqspec.networks.firmware.directives import check_header, check_prototype
from eqspec.networks.firmware.finishing import finished
from eqspec.networks.firmware.folder import DEFINES, OF_ONEAPI, PARAMETERS
from eqspec.networks.firmware.layer import Layer, Project
from eqspec.networks.firmware.layers import LAYERS, REFUSED
from eqspec.networks.firmware.templates import FOLDER, Templates
from eqspec.networks.firmware.tokens import UNREAD, Words
from eqspec.networks.firmware.weights import Weights, read_header, read_text
from eqspec.networks.network import Network

_MOST_OF_WEIGHTS, _MOST_OF_CODE = 1 << 28, 1 << 23
"""Bytes of one file of a project."""
_KNOWN_HEADERS = ("ap_fixed.h", "ap_int.h", "ap_float.h", "hls_stream.h", "defines.h", "parameters.h")


class _Folder:
    """The files of a project, each read once; the digest is over all of them, by their names."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._read: dict[str, bytes] = {}

    def place(self, name: str) -> str:
        """The path of a file."""
        return str(Path(self.path) / name)

    def text(self, name: str) -> str:
        """What a file says. Raises NetworkError."""
        place = Path(self.path) / name
        try:
            if not place.is_file():
                raise NetworkError(str(place), "no such file", fix="write the project again with hls4ml")
            most = _MOST_OF_WEIGHTS if name.startswith("firmware/weights/") else _MOST_OF_CODE
            if place.stat().st_size > most:
                raise NetworkError(str(place), f"larger than {most >> 20} MiB", fix="use a smaller network")
            content = self._read.setdefault(name, place.read_bytes())
            return content.decode("utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            fix = "check the path and its permissions, and that it is text"
            raise NetworkError(str(place), f"cannot be read ({error})", fix=fix) from error

    def words(self, name: str) -> Words:
        """The words of a file."""
        return Words(self.place(name), self.text(name))

    def words_if_there(self, name: str) -> Words | None:
        """The words of a file, None where there is none."""
        return self.words(name) if (Path(self.path) / name).is_file() else None

    @property
    def digest(self) -> str:
        """The digest of everything that was read."""
        found = hashlib.sha256(b"hls4ml project")
        for name in sorted(self._read):
            content = self._read[name]
            found.update(f"{name} {len(content)}\n".encode())
            found.update(content)
        return found.hexdigest()


def read(path: str, output: str | None = None) -> Network:
    """The network of a folder; `output` is the name of one of several outputs, the array of the project's function.

    Raises NetworkError naming file and line, an OutputChoiceError where an output has to be chosen or is not there.
    """
    folder = _Folder(path)
    if not (Path(path) / DEFINES).is_file() and (Path(path) / OF_ONEAPI).is_file():
        fix = "write the project with the Vivado or Vitis backend; a proof is then about what that one computes"
        raise NetworkError(folder.place(OF_ONEAPI), "a project of the oneAPI backend is not read", fix=fix)
    declared = Declarations()
    for name in (DEFINES, PARAMETERS):
        read_declarations(declared, folder.words(name))
    main = _main(folder)
    function = read_function(folder.words(main), declared)
    if (prototype := folder.words_if_there(f"{main.removesuffix('.cpp')}.h")) is not None:
        check_prototype(prototype, f"{Path(main).stem}.h")
    if (code := folder.words_if_there(entry_types.CODE)) is not None:
        check_header(code)
    generated = entry_types.read_types(code)
    sums = adders.definitions(folder.words_if_there(entry_types.CODE))
    _check_layers(function, {**generated, **sums})
    weights = _weights(folder, declared, function)
    found = ends.find(function, declared, output)
    templates = Templates(path, folder.words_if_there)
    if function.loaders:
        templates.check("nnet_helpers.h", *sorted(function.loaders))
    builder, values = ends.enter(function, found)
    project = Project(declared, function, weights, builder, templates, values, adders=sums)
    for call in function.calls:
        layer = Layer(project, call)
        named = {argument[0].text for argument in call.arguments if len(argument) == 1}
        if any(function.same.get(name, name) in project.softmaxes for name in named):
            layer.fail(
                "it stands behind a Softmax, which is left out at the end alone", "end the network in its scores"
            )
        if call.function in generated:
            entry_types.assign(layer, generated[call.function])
        elif call.function in sums:
            adders.assigned(layer, sums[call.function])
        else:
            LAYERS[call.function](layer)
    result = found.output
    if result.size is None and result.name in project.taken:
        message = f"line {result.line}: {result.name}, a stream, is given and read again"
        raise NetworkError(function.path, message, fix="copy it with clone_stream, as hls4ml does")
    value = project.values.get(result.name)
    if value is None:
        raise NetworkError(function.path, f"line {result.line}: nothing gives {result.name}", fix=UNREAD)
    return _network(folder, project, found, value, output)


def _network(folder: _Folder, project: Project, found: ends.Ends, outputs: Value, chosen: str | None) -> Network:
    function, result = project.function, found.output
    steps, casts = finished(project.builder, outputs)
    steps, inputs = ends.without_unread(steps, ends.ports(found))
    notes = [f"read as the C++ of {function.name}, with its types as compiled"]
    bus = Path(function.name).with_name(f"{Path(function.name).stem}_axi.cpp").name
    if (Path(folder.path) / "firmware" / bus).is_file():
        notes.append(f"{bus}, which converts numbers to the types of the bus and back, is left out")
    if project.templates.missing:
        notes.append(f"{FOLDER} is not part of the folder: its layers are taken to be those of hls4ml 1.3")
    if result.name in project.softmaxes:
        notes.append("the trailing Softmax, a table in the firmware, is left out: the outputs are its scores")
    notes += ends.notes(found, inputs)
    size = sum(port.size for port in inputs)
    return Network(
        steps,
        size,
        folder.path,
        folder.digest,
        ", ".join(port.name for port in inputs),
        (size,),
        result.name,
        (outputs.size,),
        notes=tuple(notes),
        casts=casts,
        ports=inputs if len(found.inputs) > 1 else (),
        chosen=chosen,
        alone=len(found.inputs) == len(found.outputs) == 1,
        unread=tuple(array.name for array in found.inputs if array.name not in {port.name for port in inputs}),
    )


def _check_layers(function: Function, generated: Mapping[str, object]) -> None:
    """Refuse what is no layer that is read."""
    for call in function.calls:
        if call.function in generated:
            if call.function in LAYERS or call.function in REFUSED:
                message = f"line {call.line}: nnet::{call.function} is defined once more for this model"
                raise NetworkError(function.path, message, fix="give the layer another name")
        elif call.function not in LAYERS:
            name = f"{call.layer} (nnet::{call.function})" if call.layer else f"nnet::{call.function}"
            reason = REFUSED.get(call.function, "this layer is not read")
            message = f"line {call.line}: {name}: {reason}"
            if call.function in REFUSED:
                fix = "end the network in front of it, or compare the parts before and behind it"
                raise NetworkError(function.path, message, fix=fix)
            if call.function.startswith("dense_da"):
                fix = "give the program that da4ml makes of the model (model/comb.json), or use another strategy"
                raise NetworkError(function.path, f"{message}: adders of da4ml", fix=fix)
            raise NetworkError(function.path, message, fix=f"these are: {', '.join(LAYERS)}")


def _main(folder: _Folder) -> str:
    """The one file of C++ that calls the layers. NAME_axi.cpp of VivadoAccelerator only hands numbers to NAME.cpp."""
    found = sorted(place.name for place in (Path(folder.path) / "firmware").glob("*.cpp"))
    found = [name for name in found if name not in {f"{Path(other).stem}_axi.cpp" for other in found}]
    if len(found) != 1:
        said = f"{len(found)} files end in .cpp ({', '.join(found[:5])})" if found else "no file ends in .cpp"
        raise NetworkError(folder.place("firmware"), said, fix="keep the one that hls4ml wrote")
    return f"firmware/{found[0]}"


def _weights(folder: _Folder, declared: Declarations, function: Function) -> dict[str, Weights]:
    """All weights that parameters.h includes, by name."""
    found = dict[str, Weights]()
    for include in declared.included:
        if not include.startswith("weights/"):
            _check_include(folder, include)
            continue
        name = f"firmware/{include}"
        if ".." in include or not include.endswith(".h"):
            raise NetworkError(folder.place(PARAMETERS), f"{include!r} is included", fix=UNREAD)
        made = read_header(folder.place(name), folder.text(name), declared)
        if made.name in found:
            raise NetworkError(made.path, f"{made.name} is defined twice", fix="write the project again")
        if made.name in function.loaded:
            _check_same(folder, made, *function.loaded[made.name])
        found[made.name] = made
    for name in function.loaded:
        if name not in found:
            raise NetworkError(function.path, f"{name} is loaded, but not declared", fix="write the project again")
    return found


def _check_same(folder: _Folder, made: Weights, file: str, count: int) -> None:
    """Refuse weights of which simulation and hardware have others."""
    name = f"firmware/weights/{file}"
    if "/" in file or "\\" in file or count != len(made.integers):
        raise NetworkError(folder.place(name), f"it is loaded as {count} numbers of {made.name}", fix=UNREAD)
    loaded = read_text(folder.place(name), folder.text(name), made)
    differing = _first_difference(made.integers, loaded.integers)
    if differing is not None:
        raise NetworkError(
            loaded.path,
            f"number {differing} of {made.name} is another one than in {Path(made.path).name}: the C simulation loads "
            "this file, and the hardware has the other",
            fix="write the project again with hls4ml, or copy the changed numbers to the other file",
        )


def _first_difference(a: Integers, b: Integers) -> int | None:
    return next((i for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)) if x != y), None)


def _check_include(folder: _Folder, include: str) -> None:
    """Refuse a file that nobody knows, which might change what the others mean."""
    standard = "." not in include and "/" not in include
    if not (standard or include in _KNOWN_HEADERS or (include.startswith("nnet_utils/nnet_") and ".." not in include)):
        raise NetworkError(folder.place("firmware"), f"{include!r} is included, which is not read", fix=UNREAD)
