"""A processor that rounds or underflows in another way than the proofs assume makes an error, never a verdict.

Libraries built with `-ffast-math` set flush-to-zero and denormals-are-zero for whole threads as they are loaded. Here
the same bits of the control register MXCSR are set by a few bytes of machine code, so these tests need x86-64.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import eqspec
from core_pairs import pair as chains
from eqspec import _core
from eqspec.audit import Refused, audit
from eqspec.errors import ResourceError
from eqspec.lp import HighsSolver
from eqspec.networks import Network
from eqspec.networks.network import AffineLayer
from unit.certificates.proofs import certify, close

Array = NDArray[np.float64]

if platform.machine() != "x86_64" or platform.system() != "Linux":
    pytest.skip("needs Linux on x86-64", allow_module_level=True)

LOAD, STORE = b"\x0f\xae\x17\xc3", b"\x0f\xae\x1f\xc3"
"""ldmxcsr [rdi]; ret   and   stmxcsr [rdi]; ret."""
MODES = {
    "flush to zero": 1 << 15,
    "denormals are zero": 1 << 6,
    "down": 1 << 13,
    "up": 2 << 13,
    "towards zero": 3 << 13,
}
SMALLEST = 5e-324


class ControlRegister:
    """MXCSR of the calling thread."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(LOAD + STORE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))
        self._load, self._store = kind(start), kind(start + len(LOAD))

    def get(self) -> int:
        value = ctypes.c_uint32()
        self._store(ctypes.byref(value))
        return value.value

    def set(self, value: int) -> None:
        self._load(ctypes.byref(ctypes.c_uint32(value)))


REGISTER = ControlRegister()


@pytest.fixture
def switch() -> Iterator[Callable[[str], None]]:
    """Switches the mode of this thread until the test is over."""
    before = REGISTER.get()
    try:
        yield lambda mode: REGISTER.set(before | MODES[mode])
    finally:
        REGISTER.set(before)


def solve(threads: int) -> str:
    """A claim that is false by 5e-324 * 2^1000: who takes denormal numbers for zero proves it."""
    pair = chains(*([layer(weight), layer(2.0**1000)] for weight in (SMALLEST, 0.0)))
    ends = np.array([0.0]), np.array([1.0])
    claim = _core.Property.epsilon(SMALLEST * 2.0**999, "linf", [0])
    settings = _core.Settings(threads=threads, boxes=50)
    return _core.solve(pair, *ends, claim, settings, confirm=lambda _: False).verdict


def layer(weight: float) -> tuple[Array, Array]:
    return np.array([[weight]]), np.zeros(1)


def test_the_modes_are_really_switched(switch: Callable[[str], None]) -> None:
    """Otherwise all of this says nothing."""
    tiny, third = np.array([SMALLEST * 4]), np.array([1.0, -1.0])
    assert (tiny / 2)[0] > 0
    ordinary = third / 3
    switch("flush to zero")
    assert (np.array([2.3e-308]) / 4)[0] == 0
    switch("denormals are zero")
    assert (tiny * 2.0**60)[0] == 0
    switch("up")
    up = third / 3
    switch("down")
    assert (up > third / 3).any()
    assert ordinary.any()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_a_search_in_another_mode_is_an_error(mode: str, threads: int, switch: Callable[[str], None]) -> None:
    assert solve(threads) == "unknown"
    switch(mode)
    with pytest.raises(ResourceError, match="floating-point mode"):
        solve(threads)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_that_is_switched_during_a_search_is_an_error(mode: str, switch: Callable[[str], None]) -> None:
    """As by a library that a callback loads."""
    rng = np.random.default_rng(5)
    first, last = rng.normal(size=(6, 3)), rng.normal(size=(3, 6))
    networks = [[(first, np.zeros(6)), (scale * last, np.zeros(3))] for scale in (1.0, 2.0)]
    asked = 0

    def load_a_library(programs: list[_core.LinearProgram]) -> list[tuple[Array, Array, Array | None]]:
        nonlocal asked
        asked += 1
        answers = HighsSolver().answer(programs)
        switch(mode)
        return answers

    with pytest.raises(ResourceError, match="floating-point mode"):
        _core.solve(
            chains(*networks),
            -np.ones(3),
            np.ones(3),
            _core.Property.top1(0.5),
            _core.Settings(threads=1, boxes=200, dual=False),
            answer_lps=load_a_library,
            confirm=lambda _: False,
        )
    assert asked


@pytest.mark.parametrize("mode", MODES)
def test_what_is_decided_without_a_search_is_an_error_too(mode: str, switch: Callable[[str], None]) -> None:
    """Exact integers decide on a grid, and two networks that differ by a subnormal weight look like one function."""
    f, g = (
        Network.of_layers([AffineLayer(*layer(w)), AffineLayer(*layer(2.0**1000))], "n", str(w))
        for w in (SMALLEST, 0.0)
    )

    def ask() -> eqspec.Verdict:
        return eqspec.verify(f, g, [0], [1], eqspec.Epsilon(0), grid=1).verdict

    assert ask() is eqspec.Verdict.DIFFERENT
    switch(mode)
    with pytest.raises(ResourceError, match="floating-point mode"):
        ask()


@pytest.mark.parametrize("mode", MODES)
def test_no_network_is_made_in_another_mode(mode: str, switch: Callable[[str], None]) -> None:
    """What was folded into its weights is off by more than is stored beside them."""
    switch(mode)
    with pytest.raises(ResourceError, match="floating-point mode"):
        Network.of_layers([AffineLayer(*layer(1.0))], "n", "")


@pytest.mark.parametrize("mode", MODES)
def test_no_certificate_is_accepted_in_another_mode(mode: str, switch: Callable[[str], None], tmp_path: Path) -> None:
    """Whoever calls the auditor as a library has it in a process with other libraries."""
    _, made = certify(close(1, tmp_path, eqspec.Epsilon(4), [1, 2, 1], Fraction(1, 2), 0.1), tmp_path)
    assert made is not None
    assert audit(made.path).verdict == "equivalent"
    switch(mode)
    with pytest.raises(Refused, match="does not round as binary64 asks"):
        audit(made.path)
