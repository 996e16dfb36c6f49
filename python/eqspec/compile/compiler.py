"""A spec, the networks and the data it names, compiled to what it asks for: tasks and searches.

`load` and `loads` read a spec and compile it; `compile_spec` compiles one that was read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqspec.compile.network_instance import Instance
from eqspec.compile.network_pairs import Networks, Reader
from eqspec.compile.scalers import Scaler, read_scaler
from eqspec.compile.table_rows import Tables
from eqspec.compile.tables import header_names, load_table
from eqspec.compile.task_expansion import TaskExpansion
from eqspec.errors import Diagnostic, InputError
from eqspec.lazy_dataclass import dataclass
from eqspec.networks import Network, read_network
from eqspec.networks.deriving import Precision
from eqspec.span import Source, Span
from eqspec.spec import ast
from eqspec.spec.check import CheckedSpec, check
from eqspec.spec.checks import CheckFacts
from eqspec.spec.derivations import arguments, formal_parameters, is_derived
from eqspec.spec.findings import Findings, error
from eqspec.spec.parse import parse_subject
from eqspec.spec.program import Binding, Program, load_program
from eqspec.spec.scope import Override
from eqspec.spec.source_files import read_spec
from eqspec.spec.spaces import Header, Names
from eqspec.spec.suggest import did_you_mean, enumerate_names
from eqspec.spec.values import Form
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled spec: its tasks in the order of the file, its searches, and the warnings about it."""

    program: Program
    tasks: tuple[Task, ...]
    finds: tuple[Search, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, eq=False)
class Made:
    """A derived network: its reference, the precision, the inputs (N, I) that it is calibrated on, and itself."""

    reference: Network
    precision: Precision
    rows: NDArray[np.float64] | None
    network: Network


def load(
    path: str | Path,
    params: Mapping[str, Override] | None = None,
    *,
    only: Collection[str] | None = None,
    given: Collection[str | Path] = (),
    read: Reader = read_network,
    networks: Mapping[str, Network] | None = None,
) -> Compiled:
    """Read and compile a spec file.

    `params` overrides its params, `only` names the checks to compile (with * and ?), `given` are other files that are
    checked in the same run, `networks` take the place of the files of networks, by their names in the spec. SpecError
    with everything that is wrong; InputError for a name in `networks` that stands for none.
    """
    findings = Findings()
    return compile_spec(_read(path, given, findings), params, only, read=read, networks=networks, findings=findings)


def _read(path: str | Path, given: Collection[str | Path], findings: Findings) -> Program:
    """A spec file with all it includes. SpecError where it cannot be read."""
    text = ""
    with findings.collecting():
        text = read_spec(Path(path), str(path))
    findings.raise_errors()
    return _program(Source(str(path), text), Path(path).parent, findings, Path(path), given)


def loads(
    text: str,
    params: Mapping[str, Override] | None = None,
    *,
    name: str = "<text>",
    directory: str | Path = ".",
    only: Collection[str] | None = None,
    read: Reader = read_network,
    networks: Mapping[str, Network] | None = None,
) -> Compiled:
    """Compile the text of a spec; its paths are relative to `directory`. SpecError with everything that is wrong."""
    findings = Findings()
    program = _program(Source(name, text), Path(directory), findings, None, ())
    return compile_spec(program, params, only, read=read, networks=networks, findings=findings)


def compile_spec(
    spec: Program,
    params: Mapping[str, Override] | None = None,
    only: Collection[str] | None = None,
    *,
    read: Reader = read_network,
    networks: Mapping[str, Network] | None = None,
    findings: Findings | None = None,
) -> Compiled:
    """Compile a spec that was read: check it, read its networks and data, and list its tasks.

    With `only`, networks and rows of other checks are not read. SpecError with everything that is wrong.
    """
    findings = Findings() if findings is None else findings
    checked = check(spec, findings, params, table_header(findings))
    scalers, tables = _scalers(checked, findings), Tables(findings)
    files = Networks(checked, scalers, tables, findings, read, _placed(spec, networks or {}))
    chosen = _chosen(checked.checks, spec, only, findings)
    if only is None:
        for module in spec.modules:
            for binding in module.own("network"):
                if not formal_parameters(binding):
                    with findings.collecting():
                        files.as_given(Instance(binding))
    expansion = TaskExpansion(checked, files, scalers, tables, findings)
    tasks: list[Task] = []
    finds: list[Search] = []
    for facts in chosen:
        with findings.collecting():
            new_tasks, new_finds = expansion.compile(facts)
            tasks += new_tasks
            finds += new_finds
    findings.raise_errors()
    return Compiled(spec, tuple(tasks), tuple(finds), findings.warnings)


def load_derived(path: str | Path, network: str, params: Mapping[str, Override] | None = None) -> Made:
    """A network that a spec file derives, such as `fpga(12)`, and what it is made of.

    SpecError with everything that is wrong; InputError for a network that is not derived.
    """
    findings = Findings()
    program = _read(path, (), findings)
    checked = check(program, findings, params, table_header(findings))
    findings.raise_errors()
    files = Networks(checked, _scalers(checked, findings), Tables(findings), findings)
    subject = parse_subject(network, "NETWORK")
    with findings.collecting():
        binding = program.root.get("network", ast.network_of(subject))
        if not is_derived(binding):
            raise InputError(f"network '{network}' of {path} is a file already; give one that is derived from another")
        scope = checked.scope(program.root)
        given = [value for value in arguments(subject, binding, scope, findings) if isinstance(value, Form)]
        instance = Instance(binding, tuple(value.constant for value in given))
        made = Made(*files.derivation(instance), files.as_given(instance))
        findings.raise_errors()
        return made
    findings.raise_errors()
    raise InputError(f"network '{network}' of {path} cannot be made")


def _scalers(checked: CheckedSpec, findings: Findings) -> dict[Binding, Scaler]:
    """The normalisation of every space of which the inputs are known."""
    scalers: dict[Binding, Scaler] = {}
    for binding, space in checked.spaces.items():
        if space.features is not None:
            with findings.collecting():
                scalers[binding] = read_scaler(space, checked.scope(binding.module), findings)
    return scalers


def _program(
    source: Source, directory: Path, findings: Findings, path: Path | None, given: Collection[str | Path]
) -> Program:
    """A file with all it includes. SpecError where one of them has syntax errors, which would only cause others."""
    program = load_program(source, directory, findings, path=path, given=frozenset(Path(p).resolve() for p in given))
    if any(d.code < "E1" for d in findings.errors):
        findings.raise_errors()
    return program


def _placed(spec: Program, networks: Mapping[str, Network]) -> dict[Binding, Network]:
    """The given networks by the declarations that their names refer to in the root file. InputError for others."""
    known = dict(spec.root.visible("network"))
    for name in networks:
        if name not in known:
            hint = did_you_mean(name, known) or f"networks: {enumerate_names(known)}"
            raise InputError(f"the spec has no network {name!r}; {hint}")
        if is_derived(known[name]):
            raise InputError(f"the spec derives network {name!r} from another one; give the network that it is made of")
    return {known[name]: network for name, network in networks.items()}


def table_header(findings: Findings) -> Header:
    """Reads the names in the header of a table; the findings are told what was taken for it if that is not plain."""

    def read(path: Path, written: str, columns: tuple[int, int] | None, span: Span) -> Names:
        return header_names(load_table(path, written, span, findings), written, columns, span)

    return read


def _chosen(
    checks: Collection[CheckFacts], spec: Program, only: Collection[str] | None, findings: Findings
) -> list[CheckFacts]:
    if only is None:
        return list(checks)
    names = [b.name for b in spec.root.own("check")]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"checks: {enumerate_names(names)}"
            findings.add(error("E101", f"no check named '{pattern}'", None, help=hint))
    return [facts for facts in checks if any(fnmatchcase(facts.name, pattern) for pattern in only)]
