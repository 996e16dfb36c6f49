"""Real quantised networks beside the repository: a jet tagger against firmware of it, and two taggers of digits."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from eqspec.networks import Network, read_network
from eqspec.networks.curves import Curves
from eqspec.networks.grids import Atoms, analyse
from eqspec.networks.grids.simplification import simplified
from eqspec.networks.program import Step, Term, Tile
from eqspec.networks.quantiser import Quantiser, Rounding
from eqspec.property import Epsilon, NeverWraps, Property, Top1
from eqspec.replay.replay import Replay
from eqspec.run.by_grids import region_of
from eqspec.run.exactness import decide
from eqspec.run.options import Options
from eqspec.tasks.lattice import Lattice
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task
from eqspec.tasks.verdict import Verdict
from small_tasks import space, task


def decided(given: Task) -> Result:
    result = decide(given, Options(), Replay(given))
    assert result is not None
    return result


def firmware(network: Network, width: int, whole: int) -> Network:
    """The network with its inputs and all sums in ap_fixed types, and the activations as they are."""
    unit, half = 2.0 ** (whole - width), 1 << (width - 1)
    accumulator = Curves.all(Quantiser(unit, -half, half - 1, Rounding.FLOOR, wraps=True).curve)
    inputs = Curves.all(Quantiser(2.0**-10, -32768, 32767, Rounding.FLOOR, wraps=True).curve)
    size = network.input_size
    made = [Step((Term(-1, Tile.rearranged(np.arange(size))),), np.zeros(size), None, inputs)]
    for step in network.steps:
        made.append(Step((Term(len(made) - 1, step.terms[0].tile),), step.bias, None, accumulator))
        copied = Tile.rearranged(np.arange(step.rows))
        made.append(Step((Term(len(made) - 1, copied),), np.zeros(step.rows), None, step.function))
    return Network(tuple(made), size, "firmware", f"{width} {whole}")


def test_a_jet_tagger_and_its_firmware(shared: Path) -> None:
    (path,) = (shared / "data" / "graphs" / "qonnx").glob("qkeras_jettagging*.onnx")
    trained = read_network(path)
    step = Fraction(1, 1024)

    def claim(candidate: Network, kind: Property) -> Task:
        lattices = (Lattice(Fraction(0), step),) * 16
        return task(trained, candidate, kind, [-32] * 16, [32 - step] * 16, lattices=lattices, space=space(16, 5))

    wide, narrow = firmware(trained, 27, 12), firmware(trained, 16, 6)
    for kind in (Epsilon(0), NeverWraps(), Top1()):
        assert decided(claim(wide, kind)).verdict is Verdict.EQUIVALENT
    for kind in (Epsilon(0), NeverWraps()):
        assert decided(claim(narrow, kind)).verdict is Verdict.DIFFERENT
    simple = simplified(wide.steps, analyse(wide.steps, Atoms(region_of(claim(wide, Epsilon(0))))))
    assert [made.rows for made in simple] == [made.rows for made in trained.steps]


def test_digits_within_a_small_box(shared: Path) -> None:
    folder = shared / "data" / "graphs" / "qonnx"
    first, second = (read_network(next(folder.glob(f"TFC_{name}*.onnx"))) for name in ("1W2A", "2W2A"))
    image = np.random.default_rng(0).integers(0, 256, size=784)
    near = np.isin(image, (63, 64, 191, 192))  # beside the thresholds of the inputs: a cell more for each
    image[near.nonzero()[0][6:]] = 10
    lower, upper = ([Fraction(int(p) + side, 255) for p in image.tolist()] for side in (-1, 1))
    result = decided(task(first, second, Top1(), lower, upper, space=space(784, 10)))
    assert result.boxes > 1
