"""hls4ml's own C simulation of several projects at once, compiled by g++ with the library of types that hls4ml ships.

Every project stands in a namespace of its own of one file, so that its headers are compiled once for all of them. Input
and output are doubles, which the simulation assigns to the types of the project as hls4ml's bridge does.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eqspec.networks import Network
from eqspec.networks.network import Port

_HEAD = """
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>
#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_stream.h"
static std::string weights_of_this;
#define WEIGHTS_DIR weights_of_this
#include "nnet_utils/nnet_types.h"
#include "nnet_utils/nnet_helpers.h"
"""
_NAMESPACE = """
#undef DEFINES_H_
#undef PARAMETERS_H_
#undef MYPROJECT_H_
{undefined}
namespace of_{name} {{
#include "{folder}/firmware/defines.h"
#include "{folder}/firmware/parameters.h"
#include "{folder}/firmware/myproject.cpp"
}}
extern "C" void run_{name}(const double *given, double *found, size_t count) {{
    weights_of_this = "{folder}/firmware/weights";
    for (size_t n = 0; n < count; n++, given += {inputs}, found += {outputs}) {{
        {body}
    }}
}}
"""
_PARAMETER = re.compile(r"hls::stream<(\w+)>\s*&?\s*(\w+)|(\w+)\s+(\w+)\[([^\]]+)\]")
_TRACE = """
namespace nnet {
bool trace_enabled = false;
std::map<std::string, void *> *trace_outputs = NULL;
size_t trace_type_size = sizeof(double);
}
"""


class Simulation:
    """The compiled projects, by name."""

    def __init__(self, library: Path, sizes: Mapping[str, tuple[int, int]]) -> None:
        self._library, self._sizes = ctypes.CDLL(str(library)), dict(sizes)

    def __call__(self, name: str, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a project answers at points (N, I): (N, O)."""
        inputs, outputs = self._sizes[name]
        given = np.ascontiguousarray(points, np.float64)
        assert given.shape[1] == inputs
        found = np.empty((len(given), outputs))
        run = getattr(self._library, f"run_{name}")
        run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        run(given.ctypes.data, found.ctypes.data, len(given))
        return found


def compiled(folder: Path, projects: Mapping[str, tuple[Path, Network]]) -> Simulation:
    """Compile projects, each with the network that it was read as, whose sizes and names are those of its function."""
    hls4ml = pytest.importorskip("hls4ml", reason="hls4ml is not installed: pip install eqspec[firmware-tests]")
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++ to compile a C simulation with")
    templates = Path(hls4ml.__file__).parent / "templates/vivado"
    generated = [place / "firmware/nnet_utils/nnet_code_gen.h" for place, _ in projects.values()]
    own = [path for path in generated if "class fill_buffer" in path.read_text()]
    assert not own or len(own) == len(projects) == 1  # they would define the same names
    text, sizes = [_HEAD, f'#include "{generated[0]}"', _TRACE], {}
    for name, (place, network) in projects.items():
        sizes[name] = network.input_size, network.output_size
        head = (place / "firmware/myproject.cpp").read_text()
        signature = head[head.index("void myproject(") : head.index(") {")]
        values = {
            "name": name, "folder": place, "inputs": network.input_size, "outputs": network.output_size,
            "body": _body(name, signature.partition("(")[2], network),
        }  # fmt: skip
        guards = sorted(path.stem.upper() for path in (place / "firmware/weights").glob("*.h"))
        undefined = "\n".join(f"#undef {guard}_H_" for guard in guards)
        # Headers of hls4ml that this project is the first to use stand in front of its namespace.
        text += [line for line in (place / "firmware/parameters.h").read_text().splitlines() if "nnet_utils/" in line]
        text.append(_NAMESPACE.format(**values, undefined=undefined))
    paths = [f"-I{path}" for path in (templates, templates / "ap_types", templates / "nnet_utils")]
    source, library = folder / "all.cpp", folder / "all.so"
    source.write_text("\n".join(text))
    command = [compiler, "-O1", "-fPIC", "-shared", "-std=c++14", "-w", *paths]
    done = subprocess.run([*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return Simulation(library, sizes)


def _body(name: str, parameters: str, network: Network) -> str:
    """The call of a function with these parameters, of which the network may read some inputs and has one output. A
    network with other names has one input, the first parameter, and the output is the last one.
    """
    found = _PARAMETER.findall(parameters)
    names = [stream or array for _, stream, _, array, _ in found]
    ports, output = network.ports, network.output_name
    if output not in names or not ports:
        ports, output = (Port(names[0], (), network.input_size),), output if output in names else names[-1]
    begins = dict(zip((port.name for port in ports), np.cumsum([0, *(port.size for port in ports)]), strict=False))
    sizes = {port.name: port.size for port in ports} | {output: network.output_size}
    before, after = list[str](), list[str]()
    for (of_stream, stream, of_array, _, size), one in zip(found, names, strict=True):
        of = f"of_{name}::{of_stream or of_array}"
        before.append(f'hls::stream<{of}> {one}("{one}");' if stream else f"static {of} {one}[{size}];")
        if one in begins:
            before.append(f"nnet::convert_data<const double, {of}, {sizes[one]}>(given + {begins[one]}, {one});")
        if one == output:
            after.append(f"nnet::convert_data<{of}, double, {sizes[one]}>({one}, found);")
    assert set(names) >= {output, *begins}
    return "\n        ".join([*before, f"of_{name}::myproject({', '.join(names)});", *after])
