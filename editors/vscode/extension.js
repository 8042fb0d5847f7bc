// The client of the language server for Visual Studio Code.

const { execFile } = require('child_process');
const os = require('os');
const path = require('path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

const LANGUAGES = ['gdl', 'gdl-infix', 'toss'];

/** Scheme of the read-only documents that show explanations. */
const SCHEME = 'agon-result';

let client;
let output;
/** Tells the editor that the text of a read-only document has changed. */
let changed;
/** Numbers the starts, so that an older start that is still in flight stops. */
let nStarts = 0;
/** Texts of the read-only documents, and the addresses of the games that they are about. */
const results = new Map();

async function activate(context) {
  output = vscode.window.createOutputChannel('Agon');
  changed = new vscode.EventEmitter();
  context.subscriptions.push(
    output,
    changed,
    vscode.commands.registerCommand('agon.restart', start),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (['agon.program', 'agon.arguments'].some((name) => event.affectsConfiguration(name))) {
        return start();
      }
      return undefined;
    }),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => (results.get(uri.toString()) || { text: '' }).text,
    }),
    vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, { provideDocumentLinks }),
    vscode.workspace.onDidOpenTextDocument(recogniseKif),
    vscode.workspace.onDidCloseTextDocument((document) => results.delete(document.uri.toString())),
  );
  context.subscriptions.push({ dispose: stop });
  vscode.workspace.textDocuments.forEach(recogniseKif);
  await start();
}

/** Files called `.gdl` are infix or KIF. A text that starts with a list or `;` is KIF. */
function recogniseKif(document) {
  if (document.languageId === 'gdl-infix' && /^\s*[;(]/.test(document.getText())) {
    vscode.languages.setTextDocumentLanguage(document, 'gdl');
  }
}

/** Starts the server, or starts it again after a change of the settings. */
async function start() {
  nStarts += 1;
  const own = nStarts;
  await stop();
  const settings = vscode.workspace.getConfiguration('agon');
  const program = await findProgram(settings.get('program', 'agon'));
  if (own !== nStarts) {
    return;
  }
  if (program.why) {
    await complain(program.why);
    return;
  }
  const server = {
    command: program.path,
    args: ['lsp', ...settings.get('arguments', [])],
  };
  const options = {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: 'file', language },
      { scheme: 'untitled', language },
    ]),
    outputChannel: output,
    // This client shows the results of commands itself.
    initializationOptions: { commandMessages: false },
    middleware: {
      executeCommand: (name, parameters, next) => execute(program, name, parameters, next),
    },
  };
  client = new LanguageClient('agon', 'Agon', server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    await complain(`\`${program.path} lsp\` does not start: ${error.message || error}.`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old) {
    // A server that has crashed cannot be stopped.
    await old.stop().catch(() => undefined);
  }
}

/** Returns the program to start, or why there is none. */
async function findProgram(setting) {
  const home = setting.startsWith('~/') ? path.join(os.homedir(), setting.slice(2)) : setting;
  const candidates = [home];
  if (setting === 'agon') {
    // Editors that are started from the desktop often do not have this folder in their path.
    candidates.push(path.join(os.homedir(), '.cargo', 'bin', 'agon'));
  }
  let why;
  for (const candidate of candidates) {
    const { error, text } = await new Promise((resolve) => {
      execFile(candidate, ['--version'], { timeout: 20000 }, (error, text) => {
        resolve({ error, text });
      });
    });
    if (!error && /^agon \d/.test(text)) {
      return { path: candidate };
    }
    // A program that is there but does not work is worth more words than one that is not there.
    if (error && error.code === 'ENOENT') {
      why = why || `The program \`${setting}\` was not found.`;
    } else {
      const reason = error ? error.message.trim() : `it says \`${text.trim().split('\n')[0]}\``;
      return { why: `\`${candidate}\` is not the program of Agon: ${reason}.` };
    }
  }
  return { why };
}

/** Says why the server does not run, and what to do. */
async function complain(why) {
  const [choose, settings, again] = ['Choose the program', 'Open settings', 'Try again'];
  const advice =
    'Install Agon (`cargo install --locked --path crates/agon-cli` in its repository), or set ' +
    'the place of the program in `agon.program`. Until then there are only colours.';
  output.appendLine(`${why} ${advice}`);
  // The message stays until it is answered; activation does not wait for it.
  Promise.resolve(vscode.window.showErrorMessage(`${why} ${advice}`, choose, settings, again)).then(
    async (answer) => {
      if (answer === choose) {
        const [file] = (await vscode.window.showOpenDialog({ title: 'The program agon' })) || [];
        if (file) {
          const target = vscode.ConfigurationTarget.Global;
          // The change of the setting starts the server.
          await vscode.workspace.getConfiguration('agon').update('program', file.fsPath, target);
        }
      } else if (answer === settings) {
        await vscode.commands.executeCommand('workbench.action.openSettings', 'agon.');
      } else if (answer === again) {
        await start();
      }
    },
  );
}

/** Runs a command of the lenses or of the palette, and shows its result. */
async function execute(program, name, parameters, next) {
  const known = parameters && parameters.length > 0;
  const own = known ? parameters : argumentsOfEditor();
  if (!own) {
    vscode.window.showWarningMessage('Open a game first: a .kif, .gdl, .infix or .toss file.');
    return undefined;
  }
  if (name === 'agon.play') {
    return play(program, own[0]);
  }
  try {
    const result = await next(name, own);
    if (name === 'agon.simulate') {
      vscode.window.showInformationMessage(describe(result));
    } else if (name === 'agon.why') {
      await show(`why ${result.sentence}`, result.text, own[0]);
    } else if (name === 'agon.explainCode') {
      await show(result.code, result.page, undefined);
    }
    return result;
  } catch (error) {
    await refuse(error.message || String(error), own[0]);
    return undefined;
  }
}

/** Returns the arguments for the game in the active editor. */
function argumentsOfEditor() {
  const editor = vscode.window.activeTextEditor;
  const isGame = editor && LANGUAGES.includes(editor.document.languageId);
  return isGame ? [editor.document.uri.toString()] : undefined;
}

/** Plays the file in a terminal, which stays open after the end of the match. */
async function play(program, address) {
  const uri = vscode.Uri.parse(address);
  const is = (document) => document.uri.toString() === uri.toString();
  const document = vscode.workspace.textDocuments.find(is);
  if (document && (document.isDirty || document.isUntitled) && !(await document.save())) {
    vscode.window.showWarningMessage('Save the game first: `agon play` reads it from its file.');
    return undefined;
  }
  if (document && document.isUntitled) {
    // Saving has closed this document and opened the file.
    return undefined;
  }
  const name = path.basename(uri.fsPath);
  // Without a folder of its own, a task needs a window with a workspace.
  const options = { cwd: path.dirname(uri.fsPath) };
  const task = new vscode.Task(
    { type: 'agon' },
    vscode.workspace.getWorkspaceFolder(uri) || vscode.TaskScope.Workspace,
    `play ${name}`,
    'agon',
    new vscode.ProcessExecution(program.path, ['play', uri.fsPath], options),
    [],
  );
  task.presentationOptions = {
    reveal: vscode.TaskRevealKind.Always,
    panel: vscode.TaskPanelKind.Dedicated,
    focus: true,
    clear: true,
  };
  await vscode.tasks.executeTask(task);
  return { terminal: [program.path, 'play', uri.fsPath] };
}

/** Describes the result of random plays in a sentence. */
function describe(result) {
  const plural = result.plays === 1 ? 'random play' : 'random plays';
  const payoffs = result.payoffs.map(({ role, mean }) => `${role} ${mean.toFixed(1)}`).join(', ');
  const unended = result.plays - result.ended;
  const parts = [`${result.plays} ${plural}`, `${result.mean_length.toFixed(1)} steps on average`];
  if (result.ended > 0) {
    parts.push(`mean payoffs: ${payoffs}`);
  }
  if (unended > 0) {
    parts.push(`${unended} did not end in time`);
  }
  return parts.join('; ');
}

/** Shows a text beside the editor, in a document that cannot be changed and need not be saved. */
async function show(title, text, about) {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title.replace(/[/\\]/g, ' ')}` });
  results.set(uri.toString(), { text, about });
  const document = await vscode.workspace.openTextDocument(uri);
  // A document that is shown already takes the new text.
  changed.fire(uri);
  const place = { preview: true, preserveFocus: true, viewColumn: vscode.ViewColumn.Beside };
  await vscode.window.showTextDocument(document, place);
}

/** Links `(line 7)` in an explanation to that line of the game. */
function provideDocumentLinks(document) {
  const { about } = results.get(document.uri.toString()) || {};
  if (!about) {
    return [];
  }
  const found = [...document.getText().matchAll(/\(line (\d+)\)/g)];
  return found.map((match) => {
    const start = document.positionAt(match.index + 1);
    const end = document.positionAt(match.index + match[0].length - 1);
    const target = vscode.Uri.parse(about).with({ fragment: `L${match[1]}` });
    return new vscode.DocumentLink(new vscode.Range(start, end), target);
  });
}

/** Shows why a command was refused: one message, and more lines in a document. */
async function refuse(why, about) {
  const [first, ...rest] = why.trim().split('\n');
  const details = 'Show details';
  const answers = rest.length > 0 ? [details] : [];
  const head = `Agon: ${first.replace(/:$/, '')}`;
  Promise.resolve(vscode.window.showErrorMessage(head, ...answers)).then((answer) =>
    answer === details ? show('refused', why, about) : undefined,
  );
}

function deactivate() {
  return stop();
}

module.exports = { activate, deactivate };
