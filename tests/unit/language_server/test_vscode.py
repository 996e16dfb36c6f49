"""The extension for Visual Studio Code: what it names is there, and it starts the server that it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

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
