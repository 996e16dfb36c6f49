// Starts `eqspec lsp` and lets it speak with the editor. Everything that is known of specs, the server knows.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** Files that a spec may name: when one of them changes, what was found may have changed. */
const WATCHED = "**/*.{eqspec,onnx,nnet,csv,json,npy,npz,data,cpp,h}";
const HELP = "Install it with `pip install 'eqspec[lsp]'`, or name it in the setting `eqspec.command`.";

let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("eqspec").get("command");
  const watcher = vscode.workspace.createFileSystemWatcher(WATCHED);
  client = new LanguageClient(
    "eqspec",
    "eqspec",
    { command, args },
    { documentSelector: [{ language: "eqspec" }], synchronize: { fileEvents: watcher } },
  );
  try {
    await client.start();
  } catch (problem) {
    vscode.window.showErrorMessage(`The language server '${command}' could not be started: ${problem}. ${HELP}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

async function checkFile() {
  const editor = vscode.window.activeTextEditor;
  if (editor && editor.document.languageId === "eqspec") {
    await vscode.commands.executeCommand("eqspec.check", editor.document.uri.toString());
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("eqspec.checkFile", checkFile),
    vscode.commands.registerCommand("eqspec.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("eqspec.command")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
