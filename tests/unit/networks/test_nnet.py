"""The .nnet format: what is read, what is only reported, and damaged text refused with its line."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from eqspec.errors import NetworkError
from eqspec.networks import read_network

GOOD = """// a comment
// another
2,2,1,3,
2,3,1,
0,
-10.0,-10.0,
10.0,10.0,
5.0,0.5,7.5,
2.0,1e1,373.9,
0.1,2,
-1.5,3e-2,
4,-5,
0.25,
-.5,
1,
1,2,-3,
0.125,
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "n.nnet"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_weights_are_the_nearest_float64(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    network = read_network(path)
    first, last = network.layers
    assert first.weight.tolist() == [[0.1, 2.0], [-1.5, 0.03], [4.0, -5.0]]
    assert first.bias.tolist() == [0.25, -0.5, 1.0]
    assert (last.weight.tolist(), last.bias.tolist()) == ([[1.0, 2.0, -3.0]], [0.125])
    assert first.weight_error is None
    assert network.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert (network.input_shape, network.output_shape) == ((2,), (1,))


@pytest.mark.parametrize("ranges", ["2.0,0,1", "2.0,-1e1,1"])
def test_a_range_that_divides_nothing_is_no_normalisation(tmp_path: Path, ranges: str) -> None:
    """It was told as one: (raw - mean) / 0."""
    (note,) = read_network(write(tmp_path, GOOD.replace("2.0,1e1,373.9", ranges))).notes
    assert note.startswith("the file gives input 1 a range of ")
    assert "(raw - mean)" not in note


def test_normalisation_is_reported_and_not_applied(tmp_path: Path) -> None:
    network = read_network(write(tmp_path, GOOD))
    assert "mean [5.0, 0.5] and range [2.0, 10.0]" in network.notes[0]
    assert "mean 7.5, range 373.9" in network.notes[0]
    plain = GOOD.replace("5.0,0.5,7.5", "0,0,0").replace("2.0,1e1,373.9", "1,1,1")
    same = read_network(write(tmp_path, plain))
    assert same.notes == ()
    points = np.random.default_rng(0).normal(size=(5, 2))
    assert np.array_equal(same.evaluate(points), network.evaluate(points))


def test_means_of_more_inputs_than_there_are(tmp_path: Path) -> None:
    text = GOOD.replace("5.0,0.5,7.5", "5.0,0.5,99,98,7.5").replace("2.0,1e1,373.9", "2.0,1e1,97,96,373.9")
    text = text.replace("-10.0,-10.0,", "-10.0,-10.0,-1,-2")
    assert read_network(write(tmp_path, text)).notes == read_network(write(tmp_path, GOOD)).notes


SPACINGS = [
    ("\n", "\r\n"),
    (",\n", "\n"),
    (",", " , "),
    ("0.25,\n", "0.25,\n\n//note\n"),
    ("0.25,\n", "0.25,\n// a\f7\n"),
]


@pytest.mark.parametrize("change", SPACINGS)
def test_spacing_does_not_matter(change: tuple[str, str], tmp_path: Path) -> None:
    network = read_network(write(tmp_path, GOOD.replace(*change)))
    assert network.layers[0].bias.tolist() == [0.25, -0.5, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("2,2,1,3,", "2,2,1", 3, "3 numbers, 4 expected"),
        ("2,2,1,3,", "2,2,one,3,", 3, "'one' is not a whole number"),
        ("2,2,1,3,", "2,-2,1,3,", 3, "'-2' is not a whole number"),
        ("2,2,1,3,", "0,2,1,3,", 4, "layer widths"),
        ("2,3,1,", "2,3,3,3,1,", 4, "5 numbers, 2 layers have 3"),
        ("2,3,1,", "2,3,2,", 4, "from 2 inputs to 1 outputs"),
        ("2,3,1,", "2,0,1,", 4, "from 2 inputs"),
        ("2,3,1,", "2,999999999,1,", 4, "the file has"),
        ("2,3,1,", "2,9999999999,1,", 4, "not a whole number"),
        ("-10.0,-10.0,", "-10.0,", 6, "minima: 1 numbers, 2 expected"),
        ("5.0,0.5,7.5,", "5.0,", 8, "means of inputs and outputs: 1 numbers, 3 expected"),
        ("5.0,0.5,7.5,", "inf,0.5,7.5,", 8, "'inf' is not finite"),
        ("-10.0,-10.0,", "-10.0,nan,", 6, "'nan' is not finite"),
        ("2.0,1e1,373.9,", "2.0,1e1,x,", 9, "'x' is not a number"),
        ("0.1,2,", "0.1,nan,", 10, "'nan' is not finite"),
        ("0.1,2,", "0.1,1e999,", 10, "'1e999' is not finite"),
        ("0.1,2,", "0.1,1_0,", 10, "'1_0' is not a number"),
        ("0.1,2,", "0.1,,", 10, "'' is not a number"),
        ("-1.5,3e-2,", "-1.5,3e-2,7,", 11, "row 1 of weight 0: 3 numbers, 2 expected"),
        ("0.25,\n", "0.25,1,\n", 13, "bias 0 of layer 0: 2 numbers"),
        ("0.125,\n", "", 17, "the file ends where bias 0 of layer 1"),
        ("0.125,\n", "0.125,\n3\n", 18, "text after the last layer"),
    ],
)
def test_damage_is_refused_with_its_line(old: str, new: str, line: int, words: str, tmp_path: Path) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(NetworkError) as caught:
        read_network(path)
    assert caught.value.message.startswith(f"line {line}: ")
    assert words in caught.value.message
    assert caught.value.path == str(path)
    assert caught.value.fix


@pytest.mark.parametrize("content", [b"", b"// only a comment\n", b"\x93NUMPY\x01\xff", "2,2,1,3\u0661".encode()])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="line "):
        read_network(write(tmp_path, content))


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    lines = GOOD.splitlines(keepends=True)
    for count in range(len(lines)):
        with pytest.raises(NetworkError, match=r"line \d+: the file ends"):
            read_network(write(tmp_path, "".join(lines[:count])))


def test_damaged_bytes_give_a_network_or_a_network_error(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    read = 0
    for _ in range(800):
        damaged = bytearray(GOOD.encode())
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(len(damaged)))
            damaged[at : at + 1] = bytes([random.choice(list(b"0123456789,.-e\n/ \xff"))])
        try:
            network = read_network(write(tmp_path, bytes(damaged)))
        except NetworkError as error:
            assert "line " in error.message  # noqa: PT017
        else:
            read += 1
            assert all(np.isfinite(layer.weight).all() for layer in network.layers)
    assert 50 < read < 750


DIALECTS = {
    "infinite minima": ("-10.0,-10.0,", "-inf,-Infinity,"),
    "infinite maxima": ("\n10.0,10.0,", "\ninf,1e999,"),
    "no mean of the outputs": ("5.0,0.5,7.5,", "5.0,0.5,"),
    "no range of the outputs": ("2.0,1e1,373.9,", "2.0,1e1"),
    "the number of layers alone": ("2,2,1,3,", "2"),
    "the number of hidden layers": ("2,2,1,3,", "1,2,1,3,"),
    "zeros for what is not applied": ("0,\n-10.0,-10.0,\n10.0,10.0,\n5.0,0.5,7.5,\n2.0,1e1,373.9,", "0\n0\n0\n0\n0"),
    "words for the flag": ("\n0,\n", "\nThis line extraneous\n"),
    "other comments": ("// another", "# another\n% a third, by L\u00e1szl\u00f3"),
    "a mark of the encoding": ("// a comment", "\ufeff// a comment"),
    "no comments": ("// a comment\n// another\n", ""),
    "no line end at the end": ("0.125,\n", "0.125"),
}


@pytest.mark.parametrize("what", DIALECTS)
def test_dialects_are_the_same_network(what: str, tmp_path: Path) -> None:
    old, new = DIALECTS[what]
    assert old in GOOD
    wanted = read_network(write(tmp_path, GOOD))
    found = read_network(write(tmp_path, GOOD.replace(old, new, 1)))
    for a, b in zip(found.layers, wanted.layers, strict=True):
        assert np.array_equal(a.weight, b.weight)
        assert np.array_equal(a.bias, b.bias)
    assert found.notes == () if "not applied" in what else found.notes
