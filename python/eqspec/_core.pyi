"""The Rust core: differential zonotopes, branch and bound, certified linear programming bounds.

Shapes: I inputs, O outputs, n generators. All arrays are C-contiguous float64. Nothing here rounds in the caller's
favour: every number that is handed in as a bound must already be rounded to the safe side, as the docstrings say.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SETTINGS",
    "CellProgram",
    "Ledger",
    "LinearProgram",
    "MixedProgram",
    "Pair",
    "Progress",
    "Property",
    "Settings",
    "Solution",
    "__version__",
    "clearer",
    "curve_slope",
    "curve_strip",
    "curve_value",
    "evaluate",
    "factor_radii",
    "fingerprint",
    "processors",
    "solve",
]

__version__: Final[str]

SETTINGS: Final[Mapping[str, str]]
"""What each setting means, by its name in `Settings`."""

_Array: TypeAlias = NDArray[np.float64]
_Index: TypeAlias = NDArray[np.int32]
_Term: TypeAlias = tuple[int, _Index | None, _Array, _Array | None]
"""What is read (-1: the inputs, s: what step s gives), the index (g, p, k) of a tile (a negative number reads 0) or
None for a dense matrix, the weights (g, o, k), and how far the exact ones may lie from them, or None where exact."""
_Function: TypeAlias = str | tuple[Sequence[tuple[str, Sequence[float]]], _Index | None]
_Step: TypeAlias = tuple[Sequence[_Term], _Array, _Array | None, _Function]
"""Terms, bias (rows,), its error or None, and the function: `relu` or `identity`."""

@final
class CellProgram:
    """A network in all cells of a region. For each step: rules of its kinds of functions that are no quantisers, a
    `table` (first, per unit, values...) or `lines` (knots..., slope and offset...); how far the arguments of its
    quantisers (rows,) may be off in any cell, in levels; and its values where they are known, as the input of each row
    and a table (rows, cells) by its cell. `numbers` stand for the cells of each input. ValueError if these do not fit.
    """

    def __new__(
        cls,
        steps: Sequence[_Step],
        rules: Sequence[Sequence[tuple[str, Sequence[float]] | None]],
        slack: Sequence[_Array | None],
        known: Sequence[tuple[Sequence[int], _Array] | None],
        numbers: Sequence[Sequence[float]],
    ) -> CellProgram: ...
    def run(
        self, first: int, count: int, *, threads: int = 1
    ) -> tuple[_Array, tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]]:
        """Outputs (N, O) in so many cells from this number on, the last input counting fastest; and for each cell
        whether a level is not certain, and whether one may leave its type: of those cut off, and of those that wrap."""

@final
class Pair:
    """Two networks in step: as many steps, in each as many values and the same function, none in the last."""

    def __new__(
        cls,
        inputs: int,
        reference: Sequence[_Step],
        candidate: Sequence[_Step],
        *,
        # Per step, the rows whose exact weights and bias are the same real numbers in both networks; stored equally.
        shared: Sequence[Sequence[bool]] | None = None,
    ) -> Pair: ...
    @property
    def input_size(self) -> int: ...
    @property
    def output_size(self) -> int: ...

@final
class Property:
    """What must hold at every input of the region; f is the reference, g the candidate."""

    @staticmethod
    def epsilon(eps: float, norm: str, outputs: Sequence[int]) -> Property:
        """||(g - f)(x)|_outputs||_norm <= eps; norm is linf, l1 or l2; eps rounded down."""
    @staticmethod
    def top1(margin: float | None) -> Property:
        """Where f_k - f_l >= margin for all l != k (None: 0), g_k >= g_j for all j; margin rounded down."""
    @staticmethod
    def confidence(threshold: float, delta: float) -> Property:
        """Top-1 where softmax_k(f) >= delta; threshold is ln(delta / (1 - delta)) rounded down."""
    @staticmethod
    def linear(candidate: _Array, reference: _Array, bound: float, strict: bool) -> Property:
        """candidate . g + reference . f <= bound (or < bound if strict); bound rounded down."""

@final
class Settings:
    """How to search; immutable. Unknown names and values out of range raise InputError."""

    def __new__(
        cls,
        *,
        domain: str = "shared",  # "paper" | "naive" | "shared"
        threads: int = 0,  # 0: one per core
        timeout: float = float("inf"),  # seconds
        memory: int = 2 << 30,  # bytes for open boxes
        zonotope_memory: int = 2 << 30,  # bytes for the zonotopes of one thread; else a box is bounded backwards alone
        boxes: int = 0,  # stop after so many boxes; 0: no limit
        lp: bool = True,  # solve linear programs
        dual: bool = True,  # in the core, as far as they are small; off, all by the LP solver, only to compare
        back_substitution: bool = True,  # bound each network by itself as well; off only to compare
        corner_slopes: bool = True,  # with slopes by where each bound is expected to be attained; off only to compare
        contract: bool = True,  # contract bounds under an assumed violation where that is expected to pay
        contract_above: int = 8,  # free inputs up to which boxes are only halved
        wide_above: int = 64,  # free inputs above which a contraction bounds no inputs, and few neurons of many
        selected: int = 32,  # so many bounds of neurons it begins with then; 0: all at once, only to compare
        root_bounds: bool = True,  # bound all neurons backwards on the first box of a graph or of so many inputs
        sign_trees: bool = True,  # split such a box at signs of neurons within these bounds; off only to compare
        euclidean_norms: bool = True,  # bound the difference by Euclidean norms there, too; off only to compare
        second_order: bool = True,  # forms of second order on the first box of smooth functions; off only to compare
        joint_rounding: bool = True,  # take the roundings of products of one value together; off only to compare
        alone: bool = True,  # contract each network by itself first, on the first box of so many inputs
        hulls: bool = True,  # by hulls of the first ReLUs over the box, too; off only to compare
        singles: bool = True,  # seek multipliers of backward bounds in single precision; off only to compare
        stable_left_out: bool = True,  # leave out stable neurons there; off only to compare
        attack: bool = True,  # look for counterexamples by attacks
        link: bool = True,  # backward bounds may move weight between networks and difference; off only to compare
        entropy: bool = True,  # a confidence is the exact softmax; off, the published polytope, only to compare
        phases: bool = True,  # what contraction leaves may be split at the sign of a neuron
        milp: bool = False,  # ask a mixed-integer solver about what splitting does not settle; it proves nothing
        record: str | PathLike[str] | None = None,  # a new file for what the proof is made of
    ) -> Settings: ...

@final
class LinearProgram:
    """maximise objective . e  subject to  lower <= matrix e <= upper  and  -1 <= e <= 1, for each objective in turn."""

    @property
    def matrix(self) -> _Array: ...  # (rows, n)
    @property
    def lower(self) -> _Array: ...  # (rows,), may be -inf
    @property
    def upper(self) -> _Array: ...  # (rows,), may be +inf
    @property
    def objectives(self) -> _Array: ...  # (J, n)

@final
class MixedProgram:
    """maximise cost . v subject to row_lower <= A v <= row_upper, lower <= v <= upper, v_i whole where `integer`."""

    @property
    def cost(self) -> _Array: ...  # (n,)
    @property
    def lower(self) -> _Array: ...  # (n,)
    @property
    def upper(self) -> _Array: ...  # (n,)
    @property
    def integer(self) -> NDArray[np.bool_]: ...  # (n,)
    @property
    def starts(self) -> NDArray[np.int32]: ...  # (m + 1,): where the rows of A begin in indices and values
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def values(self) -> _Array: ...
    @property
    def row_lower(self) -> _Array: ...  # (m,), may be -inf
    @property
    def row_upper(self) -> _Array: ...  # (m,), may be +inf
    @property
    def seconds(self) -> float: ...  # what a solver may take

_LpAnswer: TypeAlias = tuple[_Array, _Array, _Array | None]
"""duals (J, rows), points (J, n), ray (rows,) or None.

Nothing here is believed: duals y only serve to compute the bound ||c - M^T y||_1 + sum max(y_i lower_i, y_i upper_i),
points only suggest inputs. A ray says that the constraints alone are contradictory: ||M^T y||_1 + sum max(y_i lower_i,
y_i upper_i) < 0. NaN rows mean "no answer"."""

@final
class Progress:
    """What the search knows so far."""

    @property
    def certified(self) -> float: ...  # share of the region proved, 0 to 1
    @property
    def boxes(self) -> int: ...
    @property
    def open_boxes(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def seconds(self) -> float: ...

@final
class Solution:
    """What the search found. `verdict` is equivalent, different or unknown; `reason` says why it is unknown."""

    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> str | None: ...  # timeout | boxes | spurious | incomplete | float_only | solver | interrupted
    @property
    def vacuous(self) -> bool: ...
    @property
    def witness(self) -> Any: ...  # what `confirm` returned for the counterexample; None unless `different`
    @property
    def boxes(self) -> int: ...
    @property
    def splits(self) -> int: ...
    @property
    def lps(self) -> int: ...
    @property
    def milps(self) -> int: ...
    @property
    def rests_on_solver(self) -> int: ...  # boxes left undecided where a solver says that nothing violates the claim
    @property
    def initial_bound(
        self,
    ) -> float: ...  # of the first box: eps largest |bound| of a difference; others likewise over all outputs
    @property
    def certified_fraction(self) -> float: ...
    @property
    def open_boxes(self) -> int: ...
    @property
    def open_sample(self) -> tuple[_Array, _Array, _Array]:
        """If unknown, at most 512 of the boxes left undecided: lower, upper (n, I), and shares (n,) of the claim."""
    @property
    def seconds(self) -> float: ...
    @property
    def stages(self) -> dict[str, int]: ...  # boxes (or pairs) decided by each stage
    @property
    def reused(self) -> tuple[int, int] | None:
        """Steps of an earlier proof that were taken up, and how many there were; None where none was known."""

    @property
    def effort(self) -> dict[str, Any]:
        """What it took.

        `seconds` by part of the work, summed over the workers; `flops` of the networks' layers (products over active
        rows and columns, scaled columns; not the bounds of rounding); `obligations` open, summed over boxes; `asked`
        and `contracted`: boxes that asked for linear programs, or were contracted; `depth` of the deepest box.
        """
    @property
    def worst_open(self) -> dict[str, Any] | None:
        """The worst open box at the end: `bound` of the violation (inf: none known), `depth`, `lower` and `upper` (I,),
        and the numbers of the `obligations` open on it; None if nothing is open.
        """

@final
class Ledger:
    """A search that is dealt out in shares: which boxes wait, which are with whom, and what is proved. Thread-safe.

    Shares and answers are bytes. What is proved is what the boxes of an answer bear out; an answer to no share that is
    out, twice, damaged, of another question, or that does not add up to its share, raises SavedStateError and changes
    nothing.
    """

    def __new__(
        cls,
        pair: Pair,
        lower: _Array,
        upper: _Array,
        property: Property,  # noqa: A002 - the word of the field
        settings: Settings,
        *,
        constraints: tuple[_Array, _Array] | None = None,
        state: bytes | None = None,  # what `solve` gave to `keep`, or `state` returned: go on from there
        hints: bytes | None = None,  # as for `solve`; shares take along what is about their boxes. Without `state` only
    ) -> Ledger: ...
    @property
    def waiting(self) -> int: ...  # boxes that nobody works on
    @property
    def out(self) -> int: ...  # shares without an answer
    @property
    def unresolved(self) -> int: ...  # boxes that cannot be split and are undecided for good
    def deal(self, boxes: int) -> tuple[bytes, bytes] | None:
        """A share of at most so many of the hardest boxes that wait: its name and its bytes; None if none waits."""
    def deal_again(self, name: bytes) -> tuple[bytes, bytes]:
        """The boxes of a share that is out under another name; the first cannot be answered any more."""
    def withdraw(self, name: bytes) -> None:
        """Let the boxes of a share that is out wait again; it cannot be answered any more."""
    def accept(self, answer: bytes) -> bytes:
        """Take what `solve` gave to `keep` for a share: the name of that share."""
    def state(self) -> bytes | None:
        """The whole search as `solve` takes it, with the shares that are out; None if nothing is open."""
    def progress(self) -> Progress: ...
    def solution(self, reason: str | None = None, witness: tuple[_Array, object, int] | None = None) -> Solution:
        """What was found: `different` with a witness (an input (I,), what confirmed it, and the boxes of its leg),
        `equivalent` if nothing is undecided, else `unknown` for this reason. SavedStateError if boxes do not add up."""

def curve_strip(
    name: str, parameters: Sequence[float], lower: float, upper: float
) -> tuple[tuple[float, float, float], tuple[float, float], tuple[float, float]]:
    """Of a function f on [lower, upper]: a slope s with bounds of f(x) - s x; bounds of its slopes; bounds of f(x)."""

def solve(
    pair: Pair,
    lower: _Array,
    upper: _Array,
    property: Property,  # noqa: A002 - the word of the field
    settings: Settings,
    *,
    constraints: tuple[_Array, _Array]
    | None = None,  # A (q, I), b (q,): only inputs with A x <= b count; must contain the exact region
    answer_lps: Callable[[list[LinearProgram]], list[_LpAnswer]] | None = None,
    answer_milp: Callable[[MixedProgram], tuple[bool, _Array | None]]
    | None = None,  # whether there is no solution, which is never a proof; and a solution, which is a candidate
    confirm: Callable[[_Array], object]
    | None = None,  # replays a candidate (I,) exactly; None or False refuses it, anything else is the witness
    progress: Callable[[Progress], None] | None = None,  # about ten times a second, on the calling thread
    state: bytes | None = None,  # what `keep` was given by a search with the same fingerprint: go on from there
    share: bytes | None = None,  # what a `Ledger` dealt: work on that alone, and give `keep` the answer
    keep: Callable[[bytes], None] | None = None,  # takes the state on the way and when the search ends undecided
    keep_every: float = 15.0,  # seconds between two states, more if writing them takes long
    hints: bytes | None = None,  # what `keep_trail` was given for a pair like this one; anything else costs time alone
    keep_trail: Callable[[bytes], None]
    | None = None,  # takes what a proof did, where it is not too long to be of use; of a share, what was done to it
) -> Solution:
    """Decide a property of a pair on the box lower <= x <= upper (rounded outward).

    With `state` the time is counted from now, boxes and everything else from the beginning of the search.

    SavedStateError if the state is damaged or belongs to another question. InputError if an argument makes no sense.
    ResourceError if threads cannot be started, the record cannot be written, or the processor rounds in another way.
    InternalError if the search itself failed, which is a defect. The last three say nothing about the state.

    All callbacks run on the calling thread, never on a worker. An exception in one stops the search and propagates,
    except that KeyboardInterrupt yields a Solution with reason "interrupted".
    """

def fingerprint(
    pair: Pair,
    lower: _Array,
    upper: _Array,
    property: Property,  # noqa: A002 - the word of the field
    settings: Settings,
    *,
    constraints: tuple[_Array, _Array] | None = None,
) -> bytes:
    """SHA-256 of what `solve` decides, and of all settings but threads, timeout, memory and boxes."""

def curve_value(name: str, parameters: list[float], x: _Array) -> tuple[_Array, _Array]:
    """A function of one variable at points (N,): its values and bounds on their errors."""

def curve_slope(name: str, parameters: list[float], x: _Array) -> tuple[_Array, _Array, _Array, _Array]:
    """Its derivatives at points (N,): from the left, bounds on their errors, from the right, bounds on theirs."""

def processors() -> int:
    """How many processors this process may use: those it may run on, or fewer by the share of its control group."""

def evaluate(pair: Pair, inputs: _Array) -> tuple[_Array, _Array]:
    """Both networks in float64 at inputs (N, I): two arrays (N, O)."""

def clearer(
    pair: Pair,
    lower: _Array,
    upper: _Array,
    property: Property,  # noqa: A002 - the word of the field
    settings: Settings,
    witness: _Array,
    seconds: float,
    *,
    constraints: tuple[_Array, _Array] | None = None,
) -> _Array | None:
    """Inputs (N, I) that violate a property more clearly than a witness (I,) does, the clearest first: candidates,
    found by gradient ascent within some seconds, or longer by the few milliseconds that it may always take. None where
    it does not look: where all inputs are fixed, and for norms that are no linear functionals.
    """

def factor_radii(
    pair: Pair, lower: _Array, upper: _Array, products: Sequence[tuple[int, int]], memory: int
) -> list[_Array | None]:
    """Of products s^2 - t^2, the sums of whose factors are these steps, on a box: radii of s + t and s - t, and how far
    each may differ between the networks (4, rows); None where that is not known. Estimates, which prove nothing."""
