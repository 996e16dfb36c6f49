"""Writes a wheel `eqspec-kernel` around the program: `make -C kernel wheel`, then `pip install kernel/dist/*.whl`.

The wheel holds the program alone, as a script, and is for the platform that built it. It needs neither Coq nor OCaml
where it is installed; the program in it is linked statically where the system can do so, with Zarith and GMP, which
are under the LGPL.
"""

from __future__ import annotations

import base64
import hashlib
import stat
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

NAME = "eqspec_kernel"


def record(path: str, data: bytes) -> str:
    """A line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def main(program: Path, folder: Path) -> Path:
    """Of this program, in this folder."""
    root = Path(__file__).resolve().parents[1]
    version = tomllib.loads((root / "Cargo.toml").read_text())["package"]["version"]
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"{NAME}-{version}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: eqspec-kernel\nVersion: {version}\n"
        "Summary: The proved checker of eqspec's certificates\nLicense: MIT OR Apache-2.0\n"
    )
    files = {
        f"{NAME}-{version}.data/scripts/eqspec-kernel": program.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: eqspec\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    lines = "".join(record(path, data) for path, data in files.items()) + f"{info}/RECORD,,\n"
    folder.mkdir(exist_ok=True)
    wheel = folder / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**files, f"{info}/RECORD": lines.encode()}.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            mode = 0o755 if "/scripts/" in path else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16  # pip runs what is a regular file that may be run
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), Path(sys.argv[2])))
