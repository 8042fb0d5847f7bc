// The client of the language server for Visual Studio Code.

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function activate(context) {
  const settings = vscode.workspace.getConfiguration('agon');
  const command = settings.get('program', 'agon');
  const server = { command, args: ['lsp', ...settings.get('arguments', [])] };
  const documents = ['gdl', 'gdl-infix', 'toss'].flatMap((language) => [
    { scheme: 'file', language },
    { scheme: 'untitled', language },
  ]);
  // "play" needs a terminal. The server answers the other commands with a message and the result.
  const middleware = {
    async executeCommand(name, parameters, next) {
      const result = await next(name, parameters);
      if (name === 'agon.play' && result && result.terminal) {
        const [, ...rest] = result.terminal;
        const terminal = vscode.window.createTerminal({
          name: 'agon play', shellPath: command, shellArgs: rest,
        });
        terminal.show();
      } else if (name === 'agon.why' && result && result.text) {
        const document = await vscode.workspace.openTextDocument({ content: result.text });
        await vscode.window.showTextDocument(document, { preview: true, viewColumn: -2 });
      }
      return result;
    },
  };
  client = new LanguageClient('agon', 'Agon', server, { documentSelector: documents, middleware });
  context.subscriptions.push({ dispose: () => client && client.stop() });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
