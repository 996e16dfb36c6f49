"""The extension for Visual Studio Code: what it names is there, it starts the server that it says, and it is packed."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from eqspec.spec import highlighting

STAND_INS = """
const Module = require("module");
const said = { registered: [], started: null, errors: [] };
const disposable = { dispose() {} };
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: () => ["some/eqspec", "lsp"] }),
    createFileSystemWatcher: (pattern) => ({ pattern }),
    onDidChangeConfiguration: () => disposable,
  },
  commands: { registerCommand: (name) => { said.registered.push(name); return disposable; } },
  window: { showErrorMessage: (message) => said.errors.push(message) },
};
class LanguageClient {
  constructor(id, name, server, options) { said.started = { server, selector: options.documentSelector }; }
  async start() { if (process.argv[2] === "broken") throw new Error("ENOENT"); }
  needsStop() { return true; }
  async stop() { said.stopped = true; }
}
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
(async () => {
  const extension = require(process.argv[1]);
  await extension.activate({ subscriptions: [] });
  await extension.deactivate();
  console.log(JSON.stringify(said));
})();
"""


@pytest.fixture
def extension(root: Path) -> Path:
    return root / "editors" / "vscode"


def test_everything_it_names_is_there(extension: Path) -> None:
    package = json.loads((extension / "package.json").read_text(encoding="utf-8"))
    (language,), (grammar,) = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert (extension / package["main"]).is_file()
    assert language["extensions"] == [".eqspec"]
    assert json.loads((extension / grammar["path"]).read_text(encoding="utf-8")) == highlighting.textmate()
    assert grammar["scopeName"] == highlighting.textmate()["scopeName"]
    configuration = json.loads((extension / language["configuration"]).read_text(encoding="utf-8"))
    assert re.compile(configuration["wordPattern"]).fullmatch("c1_b0")
    assert all((extension / name).exists() for name in package["files"])


@pytest.mark.parametrize("broken", [False, True])
def test_it_starts_the_server_of_the_settings(extension: Path, *, broken: bool) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    words = [node, "-e", STAND_INS, str(extension / "extension.js"), *(["broken"] if broken else [])]
    said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert said["started"]["server"] == {"command": "some/eqspec", "args": ["lsp"]}
    assert said["started"]["selector"] == [{"language": "eqspec"}]
    declared = json.loads((extension / "package.json").read_text(encoding="utf-8"))["contributes"]["commands"]
    assert said["registered"] == [command["command"] for command in declared]
    assert said["stopped"]
    assert bool(said["errors"]) == broken


def packing(extension: Path) -> Any:
    """The script that packs the extension, as a module."""
    about = importlib.util.spec_from_file_location("pack", extension / "pack.py")
    assert about is not None
    assert about.loader is not None
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


def with_modules(extension: Path, folder: Path) -> Path:
    """A copy with modules as npm lays them out: needed ones, one inside of another, and one for development."""
    copy = Path(shutil.copytree(extension, folder / "copy"))
    modules = {
        "vscode-languageclient": {"dependencies": {"semver": "^7", "@scope/protocol": "3"}},
        "semver": {},
        "@scope/protocol": {"dependencies": {"semver": "^7", "inside": "1"}},
        "@scope/protocol/node_modules/inside": {},
        "typescript": {},
    }
    for name, about in modules.items():
        (copy / "node_modules" / name).mkdir(parents=True)
        (copy / "node_modules" / name / "package.json").write_text(json.dumps({"name": name, **about}))
        (copy / "node_modules" / name / "LICENSE").write_text("free")
    return copy


def test_a_packed_extension_reads_back(extension: Path, tmp_path: Path) -> None:
    copy = with_modules(extension, tmp_path)
    packing(extension).pack(copy, tmp_path / "a.vsix")
    packing(extension).pack(copy, tmp_path / "b.vsix")
    assert (tmp_path / "a.vsix").read_bytes() == (tmp_path / "b.vsix").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.vsix") as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(files["extension/package.json"])
    assert about == json.loads((extension / "package.json").read_text(encoding="utf-8"))
    assert files["extension/extension.js"] == (extension / "extension.js").read_bytes()
    assert json.loads(files["extension/" + about["contributes"]["grammars"][0]["path"][2:]]) == highlighting.textmate()
    modules = {name.removeprefix("extension/node_modules/") for name in files if "node_modules" in name}
    needed = ("vscode-languageclient", "semver", "@scope/protocol", "@scope/protocol/node_modules/inside")
    assert modules == {f"{name}/{file}" for name in needed for file in ("package.json", "LICENSE")}

    manifest = Xml.fromstring(files["extension.vsixmanifest"])
    inside = {"v": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    identity = manifest.find("v:Metadata/v:Identity", inside)
    assert identity is not None
    assert [identity.get(key) for key in ("Publisher", "Id", "Version")] == ["eqspec", "eqspec", about["version"]]
    engine = manifest.find("v:Metadata/v:Properties/v:Property", inside)
    assert engine is not None
    assert engine.get("Value") == about["engines"]["vscode"]
    assets = manifest.findall("v:Assets/v:Asset", inside)
    assert assets[0].get("Type") == "Microsoft.VisualStudio.Code.Manifest"
    assert {asset.get("Path") for asset in assets} <= set(files)

    types = Xml.fromstring(files["[Content_Types].xml"])
    suffixes = {kind.get("Extension") for kind in types if kind.tag.endswith("Default")}
    parts = {kind.get("PartName") for kind in types if kind.tag.endswith("Override")}
    for name in files.keys() - {"[Content_Types].xml"}:
        assert Path(name).suffix in suffixes if Path(name).suffix else f"/{name}" in parts


def test_without_the_client_colours_are_packed_or_nothing(extension: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(extension, tmp_path / "copy", ignore=shutil.ignore_patterns("node_modules")))
    pack = packing(extension)
    with pytest.raises(pack.MissingError, match="vscode-languageclient is not there; run npm install"):
        pack.pack(copy, tmp_path / "a.vsix")
    assert not (tmp_path / "a.vsix").exists()
    pack.pack(copy, tmp_path / "a.vsix", colours_only=True)
    with zipfile.ZipFile(tmp_path / "a.vsix") as archive:
        about = json.loads(archive.read("extension/package.json"))
        assert "main" not in about
        assert "commands" not in about["contributes"]  # nothing would answer to them
        assert "extension/extension.js" not in archive.namelist()
        assert json.loads(archive.read("extension/syntaxes/eqspec.tmLanguage.json")) == highlighting.textmate()
    (copy / "README.md").unlink()
    with pytest.raises(pack.MissingError, match=r"README\.md is not there"):
        pack.pack(copy, tmp_path / "b.vsix", colours_only=True)


def test_the_template_for_jetbrains_starts_the_same_server(root: Path) -> None:
    """With the fields that LSP4IJ reads of a template: https://github.com/redhat-developer/lsp4ij."""
    template = json.loads((root / "editors" / "lsp4ij" / "template.json").read_text(encoding="utf-8"))
    package = json.loads((root / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    (language,) = package["contributes"]["languages"]
    assert template.keys() == {"id", "name", "programArgs", "fileTypeMappings"}
    command = package["contributes"]["configuration"]["properties"]["eqspec.command"]["default"]
    assert template["programArgs"]["default"].split() == command
    (mapping,) = template["fileTypeMappings"]
    assert mapping["languageId"] == language["id"]
    assert mapping["fileType"]["patterns"] == [f"*{ending}" for ending in language["extensions"]]
