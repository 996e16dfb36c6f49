"""Published VNN-LIB files: what each becomes, or why it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eqspec.compile import loads
from eqspec.errors import SpecError
from eqspec.vnnlib.importing import Imported, import_query
from eqspec.vnnlib.reading import read_file

pytestmark = pytest.mark.shared

REFUSED = {
    "vnnlib2/isomorphic_perturbed_instance_0": ("E602", "(> Y_g[0] (+ Y_f[0] 0.05))"),
    "vnnlib2/monotonic_instance_0": ("E600", "<"),
    "vnnlib2/standard_syntax_tests/initialized": ("E603", "<2.1>"),
    "vnnlib2/standard_syntax_tests/intermediate_nodes": ("E603", '(declare-hidden N Real [1,2] "onnx")'),
    "vnnlib2/standard_syntax_tests/mnist": ("E132", "(assert (>= X[0,0] 0.0))"),
    "vnnlib2/standard_syntax_tests/multiple_networks": ("E603", "AcasZu"),
    "vnnlib2/standard_syntax_tests/single_network": ("E611", "(<= (* -1.0 Y[0]) 0.0)"),
    "vnnlib2/standard_syntax_tests/dubinsrejoin": ("E611", "(<= Y[0] Y[1])"),
    "vnnlib2/standard_syntax_tests/test_linearise": ("E133", None),
    "acas/boxes/prop_2": ("E611", "(<= Y_1 Y_0)"),
    "acas/boxes/prop_3": ("E611", "(<= Y_0 Y_1)"),
    "acas/boxes/prop_4": ("E611", "(<= Y_0 Y_1)"),
    "acas/boxes/prop_7": ("E611", "(<= Y_3 Y_0)"),
    "acas/boxes/prop_8": ("E611", "(<= Y_2 Y_0)"),
    "mnist/vnnlib/mnist_0_local_15": ("E605", None),
    "mnist/vnnlib/mnist_7_local_15": ("E605", None),
}
READ = {
    "vnnlib2/generated/acas_eps_0.05_prop1": ["prove g stays within 0.05 of f in linf"],
    "vnnlib2/generated/acas_eps_0.5_prop1": ["prove g stays within 0.5 of f in linf"],
    "vnnlib2/generated/acas_top1_argmin_prop1": ["prove g keeps top1 of f", "decide    min"],
    "vnnlib2/generated/lhc_top1_argmax_sigma0.1": ["prove g keeps top1 of f", "x15: -0.1 .. 0.1"],
    "vnnlib2/standard_syntax_tests/acc": ["satisfies -acc[0] < 3", "satisfies acc[0] < 0", "-x1 + 2/3*x2 <= -10"],
    "vnnlib2/standard_syntax_tests/cartpole": ["satisfies cartpole[0] - cartpole[1] < 0"],
    "vnnlib2/standard_syntax_tests/drones": ["drones[0] < 20.507437306839908", "-drones[0] < 14.696421224076236"],
    "vnnlib2/standard_syntax_tests/lunarlander": ["satisfies lunarlander[2] - lunarlander[3] < 0"],
    "acas/boxes/prop_1": ["prove f satisfies f[0] < 3.991125645861615"],
    "acas/boxes/prop_5": ["satisfies -f[0] + f[4] < 0", "satisfies -f[3] + f[4] < 0"],
    "acas/boxes/prop_6": ["region area_1", "region area_2", "check bound_8"],
    "acas/boxes/prop_6a_box": ["x1: 0.11140846 .. 0.499999896"],
    "acas/boxes/prop_6b_box": ["x1: -0.499999896 .. -0.11140846"],
    "acas/boxes/prop_9": ["satisfies f[3] - f[4] < 0"],
    "acas/boxes/prop_10": ["satisfies f[0] - f[4] < 0"],
    "acas/boxes/prop_26_box": ["x3: -0.5 .. -0.409090909"],
    "lhc/sigma_0.1": ["x0: -0.1 .. 0.1"],
}


def imported(shared: Path, name: str, **files: Path) -> Imported:
    return import_query(read_file(shared / "data" / f"{name}.vnnlib"), files, shared)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(shared: Path, name: str) -> None:
    code, place = REFUSED[name]
    with pytest.raises(SpecError) as caught:
        imported(shared, name)
    first = caught.value.diagnostics[0]
    assert first.code == code
    assert first.help is not None or code in ("E603", "E602")
    assert place is None or (first.span is not None and first.span.text == place)


@pytest.mark.parametrize("name", READ)
def test_read(shared: Path, name: str) -> None:
    text = imported(shared, name).text
    for line in READ[name]:
        assert line in text


def test_every_file_is_in_one_of_the_tables(shared: Path) -> None:
    data = shared / "data"
    found = {str(p.relative_to(data).with_suffix("")) for p in data.rglob("*.vnnlib")}
    assert found == set(REFUSED) | set(READ)


def test_the_monotone_file_written_correctly_is_no_equivalence_query(shared: Path, tmp_path: Path) -> None:
    text = (shared / "data" / "vnnlib2" / "monotonic_instance_0.vnnlib").read_text(encoding="utf-8")
    mended = tmp_path / "monotone.vnnlib"
    mended.write_text(text.replace("(Y_f[1] < Y_g[1])", "(< Y_f[1] Y_g[1])"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        import_query(read_file(mended))
    (finding,) = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert (finding.code, finding.span and finding.span.text) == ("E610", "(<= X_f[0] X_g[0])")


def test_bands_joined_by_or_are_a_distance(shared: Path, tmp_path: Path) -> None:
    """What E602 of the wrong benchmark suggests mends it: every band, and all of them, as alternatives."""
    text = (shared / "data" / "vnnlib2" / "isomorphic_perturbed_instance_0.vnnlib").read_text(encoding="utf-8")
    head, _, bands = text.partition("; Output Constraints")
    cases = bands.replace("(assert (and", "(or").replace("))))", ")))").split("\n")
    mended = tmp_path / "close.vnnlib"
    mended.write_text(head + "(assert (or " + "\n".join(cases) + "))", encoding="utf-8")
    assert "prove g stays within 0.05 of f in linf" in import_query(read_file(mended)).text


def test_boxes_of_pixels_with_a_network(shared: Path) -> None:
    network = next((shared / "data" / "mnist").glob("*.onnx"))
    made = imported(shared, "mnist/vnnlib/mnist_0_local_15", f=network)
    assert "check" not in made.text
    assert made.text.count(" .. 1\n") == 15


def test_the_spec_of_a_real_pair_compiles(shared: Path) -> None:
    folder = shared / "data" / "lhc"
    made = imported(
        shared, "vnnlib2/generated/lhc_top1_argmax_sigma0.1", f=folder / "2_80-1.onnx", g=folder / "2_80-1-0.1.onnx"
    )
    (task,) = loads(made.text, directory=shared).tasks
    assert task.reference.stripped == "softmax"
    assert (task.lower.min(), task.upper.max()) == (-0.1, 0.1)
