// Tests the client with stand-ins for the editor and for the library of the protocol, so that they
// need neither Visual Studio Code nor packages: `node --test editors/vscode/client.test.js`.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');

const manifest = require('./package.json');

/** Waits until what was started without being waited for is done. */
const settled = () => new Promise((resolve) => { setTimeout(resolve, 20); });

/** A program that answers `--version` as Agon does. */
function fakeProgram(says = 'agon 0.2.0') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agon-client-'));
  const file = path.join(folder, 'agon');
  fs.writeFileSync(file, `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
  return file;
}

/** Loads the client into an editor that writes down what it is asked to do. */
async function open({ settings = {}, documents = [], answer, dialog, refuseStart } = {}) {
  const seen = {
    messages: [], commands: {}, clients: [], tasks: [], shown: [], languages: [], updates: [],
    executed: [], saved: [],
  };
  const listeners = {};
  const event = (name) => (listener) => { listeners[name] = listener; return { dispose() {} }; };
  const uri = (text) => ({
    toString: () => text,
    fsPath: decodeURIComponent(text.replace(/^file:\/\//, '')),
    with: ({ fragment }) => uri(`${text}#${fragment}`),
  });
  const message = (kind) => (text, ...buttons) => {
    seen.messages.push({ kind, text, buttons });
    const chosen = answer && buttons.includes(answer) ? answer : undefined;
    answer = undefined;
    return Promise.resolve(chosen);
  };
  let provider;
  let links;
  const open = documents.map(({ address, text = '', language = 'gdl', ...rest }) => ({
    uri: uri(address), languageId: language, getText: () => text, isDirty: false,
    isUntitled: false, save: async () => { seen.saved.push(address); return rest.saves !== false; },
    ...rest,
  }));
  const vscode = {
    EventEmitter: class { fire() {} get event() { return () => undefined; } },
    DocumentLink: class { constructor(range, target) { Object.assign(this, { range, target }); } },
    ProcessExecution: class {
      constructor(file, args, options) { Object.assign(this, { file, args, options }); }
    },
    Range: class { constructor(start, end) { Object.assign(this, { start, end }); } },
    Task: class {
      constructor(definition, scope, name, source, execution) {
        Object.assign(this, { definition, scope, name, source, execution });
      }
    },
    ConfigurationTarget: { Global: 1 },
    TaskPanelKind: { Dedicated: 2 },
    TaskRevealKind: { Always: 1 },
    TaskScope: { Workspace: 2 },
    Uri: { parse: uri, from: ({ scheme, path: at }) => uri(`${scheme}:${at}`) },
    ViewColumn: { Beside: -2 },
    commands: {
      registerCommand: (name, run) => { seen.commands[name] = run; return { dispose() {} }; },
      executeCommand: async (...all) => { seen.executed.push(all); },
    },
    languages: {
      registerDocumentLinkProvider: (_, found) => { links = found; return { dispose() {} }; },
      setTextDocumentLanguage: (document, language) => {
        seen.languages.push([document.uri.toString(), language]);
      },
    },
    tasks: { executeTask: async (task) => { seen.tasks.push(task); } },
    window: {
      activeTextEditor: open[0] && { document: open[0] },
      createOutputChannel: () => ({ appendLine() {}, dispose() {} }),
      showErrorMessage: message('error'),
      showInformationMessage: message('information'),
      showWarningMessage: message('warning'),
      showOpenDialog: async () => dialog && [uri(`file://${dialog}`)],
      showTextDocument: async (document) => { seen.shown.push(document); },
    },
    workspace: {
      textDocuments: open,
      getConfiguration: () => ({
        get: (name, otherwise) => (name in settings ? settings[name] : otherwise),
        update: async (name, value) => { seen.updates.push([name, value]); },
      }),
      getWorkspaceFolder: () => undefined,
      onDidChangeConfiguration: event('configuration'),
      onDidCloseTextDocument: event('close'),
      onDidOpenTextDocument: event('open'),
      openTextDocument: async (at) => ({
        uri: at, text: provider.provideTextDocumentContent(at),
        getText() { return this.text; }, positionAt: (offset) => offset,
      }),
      registerTextDocumentContentProvider: (_, found) => { provider = found; return {}; },
    },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, state: 'new' });
      seen.clients.push(this);
    }

    async start() {
      if (refuseStart) throw new Error('it ends at once');
      this.state = 'running';
    }

    async stop() { this.state = 'stopped'; }
  }
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name === 'vscode') return vscode;
    if (name === 'vscode-languageclient/node') return { LanguageClient };
    return load(name, ...rest);
  };
  delete require.cache[require.resolve('./extension.js')];
  const extension = require('./extension.js');
  Module._load = load;
  await extension.activate({ subscriptions: [] });
  await settled();
  const run = async (name, parameters, reply) => {
    const next = async () => {
      if (reply instanceof Error) throw reply;
      return reply;
    };
    await seen.clients.at(-1).options.middleware.executeCommand(name, parameters, next);
    await settled();
  };
  const linksOf = (document) => links.provideDocumentLinks(document);
  return { seen, listeners, run, linksOf };
}

const GAME = { address: 'file:///games/my%20game.kif' };

test('the server is started for all languages, without messages of its own', async () => {
  const program = fakeProgram();
  const { seen } = await open({ settings: { program, arguments: ['--no-play'] } });
  const [{ server, options, state }] = seen.clients;
  assert.deepEqual(server, { command: program, args: ['lsp', '--no-play'] });
  assert.equal(state, 'running');
  const languages = new Set(options.documentSelector.map(({ language }) => language));
  assert.deepEqual([...languages], manifest.contributes.languages.map(({ id }) => id));
  assert.deepEqual(options.initializationOptions, { commandMessages: false });
  assert.deepEqual(seen.messages, []);
});

test('a missing program is named, with what to do', async () => {
  const { seen } = await open({ settings: { program: '/nowhere/agon' } });
  assert.deepEqual(seen.clients, []);
  assert.equal(seen.messages.length, 1);
  const [{ kind, text, buttons }] = seen.messages;
  assert.equal(kind, 'error');
  assert.match(text, /`\/nowhere\/agon` was not found.*cargo install.*`agon\.program`/);
  assert.deepEqual(buttons, ['Choose the program', 'Open settings', 'Try again']);
});

test('the buttons of that message lead on', async () => {
  const settings = { program: '/nowhere/agon' };
  const chosen = await open({ settings, answer: 'Choose the program', dialog: '/opt/agon' });
  assert.deepEqual(chosen.seen.updates, [['program', '/opt/agon']]);
  const opened = await open({ settings, answer: 'Open settings' });
  assert.deepEqual(opened.seen.executed, [['workbench.action.openSettings', 'agon.']]);
  const again = await open({ settings, answer: 'Try again' });
  assert.equal(again.seen.messages.length, 2);
});

test('a program that is not Agon, or that does not start as a server, is reported', async () => {
  const other = await open({ settings: { program: fakeProgram('something else') } });
  assert.match(other.seen.messages[0].text, /is not the program of Agon: it says `something else`/);
  const program = fakeProgram();
  const broken = await open({ settings: { program }, refuseStart: true });
  assert.match(broken.seen.messages[0].text, /lsp` does not start: it ends at once/);
});

test('a change of the settings and the command start the server again', async () => {
  const settings = { program: fakeProgram() };
  const { seen, listeners } = await open({ settings });
  await listeners.configuration({ affectsConfiguration: (name) => name === 'agon.trace' });
  assert.equal(seen.clients.length, 1);
  settings.arguments = ['--idle', '100'];
  await listeners.configuration({ affectsConfiguration: (name) => name === 'agon.arguments' });
  await seen.commands['agon.restart']();
  assert.deepEqual(seen.clients.map(({ state }) => state), ['stopped', 'stopped', 'running']);
  assert.deepEqual(seen.clients[1].server.args, ['lsp', '--idle', '100']);
});

test('play saves the game and runs it in a terminal that stays', async () => {
  const program = fakeProgram();
  const documents = [{ ...GAME, isDirty: true }];
  const { seen, run } = await open({ settings: { program }, documents });
  await run('agon.play', [GAME.address]);
  assert.deepEqual(seen.saved, [GAME.address]);
  const [task] = seen.tasks;
  const { file, args, options } = task.execution;
  assert.deepEqual([file, ...args], [program, 'play', '/games/my game.kif']);
  assert.deepEqual(options, { cwd: '/games' });
  assert.equal(task.presentationOptions.focus, true);
  assert.deepEqual(seen.messages, []);
});

test('play needs a file', async () => {
  const documents = [{ address: 'untitled:Untitled-1', isUntitled: true, saves: false }];
  const { seen, run } = await open({ settings: { program: fakeProgram() }, documents });
  await run('agon.play', ['untitled:Untitled-1']);
  assert.deepEqual(seen.tasks, []);
  assert.match(seen.messages[0].text, /Save the game first/);
});

test('the palette runs commands on the active editor', async () => {
  const { seen, run } = await open({ settings: { program: fakeProgram() }, documents: [GAME] });
  const payoffs = [{ role: 'x', mean: 58.25 }, { role: 'o', mean: 41.75 }];
  await run('agon.simulate', [], { plays: 200, ended: 199, mean_length: 7.64, payoffs });
  assert.deepEqual(seen.messages.map(({ text }) => text), [
    '200 random plays; 7.6 steps on average; mean payoffs: x 58.3, o 41.8; 1 did not end in time',
  ]);
  const none = await open({ settings: { program: fakeProgram() } });
  await none.run('agon.simulate', []);
  assert.match(none.seen.messages[0].text, /Open a game first/);
});

test('an explanation opens beside the game and links to its lines', async () => {
  const settings = { program: fakeProgram() };
  const { seen, run, linksOf } = await open({ settings, documents: [GAME] });
  const text = 'at the start, (p) holds in 1 way\n  (p): by a rule (line 31)\n';
  await run('agon.why', [GAME.address, '(p)'], { sentence: '(p)', holds: true, text });
  const [document] = seen.shown;
  assert.equal(document.text, text);
  const [link] = linksOf(document);
  assert.equal(link.target.toString(), `${GAME.address}#L31`);
  assert.equal(text.slice(link.range.start, link.range.end), 'line 31');
  assert.deepEqual(seen.messages, []);
});

test('a refusal is one message, and its further lines are one click away', async () => {
  const settings = { program: fakeProgram() };
  const { seen, run } = await open({ settings, documents: [GAME], answer: 'Show details' });
  const why = 'the rules have errors:\nerror[x]: first\n';
  await run('agon.simulate', [GAME.address], new Error(why));
  assert.deepEqual(seen.messages.map(({ text }) => text), ['Agon: the rules have errors']);
  assert.equal(seen.shown[0].text, why);
});

test('KIF in a .gdl file gets the colours of KIF', async () => {
  const documents = [
    { address: 'file:///a.gdl', language: 'gdl-infix', text: '\n; a game\n(role x)' },
    { address: 'file:///b.gdl', language: 'gdl-infix', text: '% a game\nrole(x).' },
  ];
  const { seen } = await open({ settings: { program: fakeProgram() }, documents });
  assert.deepEqual(seen.languages, [['file:///a.gdl', 'gdl']]);
});

test('the manifest names files that exist, valid grammars and registered commands', async () => {
  const { seen } = await open({ settings: { program: fakeProgram() } });
  const { languages, grammars, commands, configuration } = manifest.contributes;
  const read = (file) => fs.readFileSync(path.join(__dirname, file), 'utf8');
  for (const { configuration: file } of languages) JSON.parse(read(file));
  for (const { language, path: file, scopeName } of grammars) {
    assert.ok(languages.some(({ id }) => id === language));
    assert.equal(JSON.parse(read(file)).scopeName, scopeName);
  }
  // The library registers what the server announces.
  const announced = read('../../crates/agon-lsp/src/commands.rs');
  for (const { command } of commands) {
    assert.ok(seen.commands[command] || announced.includes(`"${command}"`), command);
  }
  assert.deepEqual(
    Object.keys(configuration.properties), ['agon.program', 'agon.arguments', 'agon.trace.server'],
  );
});
