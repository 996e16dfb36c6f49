"""Functions of one variable that follow the rows of a step: values, slopes, strips and lines, with every rounding.

`curve` has their names, `interval` and `elementary` what is proven about floats, `formulas` values and slopes, `shape`
what follows from where a function is convex or concave, and `by_name` where that is, `quantiser` the same of `levels`,
`relaxation` all of it for the rows of a step, `exact` values between rationals.
"""

from .by_name import shape
from .curve import BENT, RELU, Curve, Curves, clip, joined, leaky
from .exact import behind
from .interval import Interval
from .relaxation import Relaxation
from .shape import Shape

__all__ = [
    "BENT", "RELU", "Curve", "Curves", "Interval", "Relaxation", "Shape", "behind", "clip", "joined", "leaky", "shape",
]  # fmt: skip
