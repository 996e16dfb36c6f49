"""Packs this folder as an extension that Visual Studio Code installs: `python pack.py [-o FILE]`, without npm or vsce.

A VSIX file is a zip archive: the files of the extension below `extension/`, `extension.vsixmanifest`, which says what
is installed and where its parts lie, and `[Content_Types].xml`, which says what kinds of files there are, as the Open
Packaging Conventions ask. The archive is the same, byte for byte, whenever the files are.

Of `node_modules` goes along what the extension depends on, directly or not. Where it is not there (`npm install` makes
it), `--colours-only` packs colours, brackets and comments alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

FOLDER = Path(__file__).parent
_MANIFEST = "http://schemas.microsoft.com/developer/vsx-schema/2011"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_KINDS = {
    ".json": "application/json",
    ".js": "application/javascript",
    ".md": "text/markdown",
    ".vsixmanifest": "text/xml",
}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every member, the first that a zip archive can hold."""


class MissingError(Exception):
    """Something that the package names is not there."""


def package(folder: Path = FOLDER) -> dict[str, Any]:
    """What the extension says of itself."""
    found: dict[str, Any] = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    return found


def members(folder: Path, *, colours_only: bool = False) -> dict[str, bytes]:
    """The files of the extension, by their names below it. MissingError where one is not there."""
    about = package(folder)
    if colours_only:
        about.pop("main")
        about.pop("dependencies")
        about["contributes"] = {
            key: about["contributes"][key] for key in ("languages", "grammars", "configurationDefaults")
        }
    found = {"package.json": (json.dumps(about, indent=2) + "\n").encode()}
    for name in about["files"]:
        if not (folder / name).exists():
            raise MissingError(f"{folder / name} is not there, but package.json lists it")
        if not (colours_only and name == package(folder)["main"].removeprefix("./")):
            found |= _content(folder, folder / name)
    for module in _modules(folder / "node_modules", about.get("dependencies", {})):
        found |= _content(folder, module)
    return found


def _content(folder: Path, path: Path) -> dict[str, bytes]:
    """A file, or all below a folder; links are followed."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in files}


def _modules(modules: Path, wanted: dict[str, str]) -> Iterator[Path]:
    """The folders of modules and of those that they need, each once, as npm lays them out: beside each other."""
    seen: set[str] = set()
    open_names = sorted(wanted)
    while open_names:
        name = open_names.pop()
        if name in seen:
            continue
        seen.add(name)
        if not (modules / name / "package.json").is_file():
            raise MissingError(f"{modules / name} is not there; run npm install, or pack with --colours-only")
        yield modules / name
        about = package(modules / name)
        open_names += [
            one for one in about.get("dependencies", {}) if not (modules / name / "node_modules" / one).is_dir()
        ]


def manifest(about: dict[str, Any], names: set[str]) -> bytes:
    """`extension.vsixmanifest` for a package whose files have these names."""
    root = Xml.Element("PackageManifest", {"Version": "2.0.0", "xmlns": _MANIFEST})
    metadata = Xml.SubElement(root, "Metadata")
    identity = {"Language": "en-US", "Id": about["name"], "Version": about["version"], "Publisher": about["publisher"]}
    Xml.SubElement(metadata, "Identity", identity)
    Xml.SubElement(metadata, "DisplayName").text = about["displayName"]
    Xml.SubElement(metadata, "Description").text = about["description"]
    Xml.SubElement(metadata, "Categories").text = ",".join(about["categories"])
    properties = Xml.SubElement(metadata, "Properties")
    engine = {"Id": "Microsoft.VisualStudio.Code.Engine", "Value": about["engines"]["vscode"]}
    Xml.SubElement(properties, "Property", engine)
    Xml.SubElement(Xml.SubElement(root, "Installation"), "InstallationTarget", {"Id": "Microsoft.VisualStudio.Code"})
    Xml.SubElement(root, "Dependencies")
    assets = Xml.SubElement(root, "Assets")
    for kind, name in (("Code.Manifest", "package.json"), ("Services.Content.Details", "README.md")):
        if name in names:
            asset = {"Type": f"Microsoft.VisualStudio.{kind}", "Path": f"extension/{name}", "Addressable": "true"}
            Xml.SubElement(assets, "Asset", asset)
    return _document(root)


def content_types(names: set[str]) -> bytes:
    """`[Content_Types].xml` for files of these names; what has no known kind is plain bytes."""
    root = Xml.Element("Types", {"xmlns": _TYPES})
    for suffix in sorted({Path(name).suffix for name in names} | {".vsixmanifest"}):
        kind = _KINDS.get(suffix, "application/octet-stream")
        if suffix:
            Xml.SubElement(root, "Default", {"Extension": suffix, "ContentType": kind})
    for name in sorted(name for name in names if not Path(name).suffix):
        Xml.SubElement(root, "Override", {"PartName": f"/extension/{name}", "ContentType": "application/octet-stream"})
    return _document(root)


def _document(root: Xml.Element) -> bytes:
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def pack(folder: Path, target: Path, *, colours_only: bool = False) -> None:
    """Write the archive. MissingError where something is not there; then nothing is written."""
    files = members(folder, colours_only=colours_only)
    about, names = json.loads(files["package.json"]), set(files)
    parts = {"extension.vsixmanifest": manifest(about, names), "[Content_Types].xml": content_types(names)}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*parts.items(), *((f"extension/{n}", files[n]) for n in sorted(files))]:
            member = zipfile.ZipInfo(name, _LONG_AGO)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Pack the extension for Visual Studio Code.")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the archive (default: NAME-VERSION.vsix here)"
    )
    parser.add_argument("--colours-only", action="store_true", help="leave the client of the language server out")
    arguments = parser.parse_args()
    about = package()
    target = arguments.output or Path(f"{about['name']}-{about['version']}.vsix")
    try:
        pack(FOLDER, target, colours_only=arguments.colours_only)
    except MissingError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return 2
    sys.stdout.write(f"wrote {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
