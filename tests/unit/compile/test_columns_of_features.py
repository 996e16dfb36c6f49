"""Which column of a table stands for which feature: names, units and arrays that could be taken for others are refused.

The class: a table is written whose columns are a permutation of the features, in any spelling and with any units, and
what comes out is either each feature's own number or a refusal.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqspec.compile import Compiled, loads
from eqspec.compile.tables import load_table
from eqspec.errors import SpecError
from eqspec.networks.network import AffineLayer, Network
from eqspec.spec.ast import NOWHERE
from eqspec.spec.findings import Fault

Compile = Callable[..., Compiled]
SPEC = (
    'eqspec 1\nspace s {{ features {features} outputs y, z }} network f = "f.onnx" in s network g = "g.onnx" in s '
    'region r in s = ball linf 0 around rows 0 of "x.csv" {columns} check c {{ prove g keeps top1 of f on r }}'
)


def centre(folder: Any, table: str, features: str, columns: str = "") -> list[Any]:
    for name in "fg":
        (folder / f"{name}.onnx").write_text("")
    (folder / "x.csv").write_text(table)
    size = features.count(",") + 1

    def read(path: Any) -> Network:
        return Network.of_layers((AffineLayer(np.ones((2, size)), np.ones(2)),), str(path), path.name)

    (task,) = loads(SPEC.format(features=features, columns=columns), None, directory=folder, read=read).tasks
    return list(task.lower_exact)


def refused(folder: Any, table: str, features: str, columns: str = "") -> tuple[str, str]:
    with pytest.raises(SpecError) as caught:
        centre(folder, table, features, columns)
    (found,) = caught.value.diagnostics
    return found.code, found.message


def test_capital_letters_do_not_make_another_name(tmp_path: Any) -> None:
    """Columns B, A were taken for features a, b by place."""
    code, message = refused(tmp_path, "B,A\n1,2\n", "a, b")
    assert (code, message) == ("E142", "column 0 of 'x.csv' is 'B', but feature 0 here is 'a'")
    assert centre(tmp_path, "A,B\n1,2\n", "a, b") == [1, 2]
    assert centre(tmp_path, "m,M\n1,2\n", "m, M") == [1, 2]
    assert refused(tmp_path, "M,m\n1,2\n", "m, M")[0] == "E142"


def test_a_column_in_another_unit_is_refused(tmp_path: Any) -> None:
    """A speed in km/h was taken for one in m/s."""
    code, message = refused(tmp_path, "v [km/h],t\n36,2\n", "v [m/s], t [s]")
    assert code == "E130"
    assert "is in [m/s], column 0 of 'x.csv' is in [km/h]" in message
    assert centre(tmp_path, "v [m/s],t\n36,2\n", "v [m/s], t [s]") == [36, 2]
    assert centre(tmp_path, "v [km/h],t\n36,2\n", "v, t") == [36, 2]


@given(
    st.permutations(range(3)),
    st.lists(st.sampled_from([str, str.upper, str.title]), min_size=3, max_size=3),
    st.lists(st.sampled_from(["", " [m]", " [s]"]), min_size=3, max_size=3),
)
def test_every_feature_gets_its_own_number_or_none(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], spelling: list[Callable[[str], str]], units: list[str]
) -> None:
    """Feature i is in metres and is i in the table, wherever its column stands."""
    names = ["ab", "cd", "ef"]
    header = ",".join(spell(names[i]) + unit for i, spell, unit in zip(order, spelling, units, strict=True))
    table = f"{header}\n{','.join(map(str, order))}\n"
    folder, features = tmp_path_factory.mktemp("columns"), ", ".join(f"{name} [m]" for name in names)
    fits = order == [0, 1, 2] and " [s]" not in units
    if fits:
        assert centre(folder, table, features) == [0, 1, 2]
    else:
        assert refused(folder, table, features)[0] in ("E142", "E130")


def saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_one_of_two_arrays_of_rows_is_not_chosen(tmp_path: Any) -> None:
    """Of x and X, or of X and data, the first one was taken."""
    rows = np.ones((3, 2))
    for names in (("x", "X"), ("X", "data"), ("inputs", "features")):
        (tmp_path / "x.npz").write_bytes(saved(**dict.fromkeys(names, rows)))
        with pytest.raises(Fault) as caught:
            load_table(tmp_path / "x.npz", "x.npz", NOWHERE)
        assert caught.value.diagnostic is not None
        assert set(caught.value.diagnostic.message.split("'")[3::2]) == set(names)
    (tmp_path / "x.npz").write_bytes(saved(x=rows, data=np.ones((3, 5)), y=np.ones(3)))
    assert load_table(tmp_path / "x.npz", "x.npz", NOWHERE).columns == 2


def test_the_order_of_bytes_does_not_matter(tmp_path: Any) -> None:
    for kind in (">f8", "<f8", ">f4", ">f2", ">i4", ">u8"):
        np.save(tmp_path / "x.npy", np.array([[1, 2], [3, -0.0]]).astype(kind))
        assert load_table(tmp_path / "x.npy", "x.npy", NOWHERE).row(1, 0, 1) == (3, 0)


@pytest.mark.parametrize("suffix", ["parquet", "xlsx", "json", "h5", "root"])
def test_other_kinds_of_tables_are_no_csv(tmp_path: Any, suffix: str) -> None:
    (tmp_path / f"x.{suffix}").write_text("[[1, 2]]")
    with pytest.raises(Fault, match=f"'x.{suffix}' is not read: tables are csv, npy or npz files"):
        load_table(tmp_path / f"x.{suffix}", f"x.{suffix}", NOWHERE)
