// A client of the language server, over a WebSocket: /api/v1/lsp.

import { serverToken } from './keys';

/** A position in a text: line and UTF-16 unit in it, both from 0. */
export interface Place { line: number; character: number }
export interface Range { start: Place; end: Place }
export interface TextEdit { range: Range; newText: string }

export interface LspDiagnostic {
  range: Range;
  severity: 1 | 2 | 3 | 4;
  code: string;
  message: string;
  data?: { fixable?: boolean };
}

export interface CodeAction {
  title: string;
  kind: string;
  diagnostics?: LspDiagnostic[];
  edit?: { changes: Record<string, TextEdit[]> };
}

export interface CompletionItem { label: string; kind: number; detail?: string; sortText?: string }

interface Pending {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** One document in a session with the language server. */
export class LanguageServer {
  private socket: WebSocket | null = null;
  private nextId = 1;
  private version = 0;
  private isStopped = false;
  private readonly pending = new Map<number, Pending>();

  constructor(
    readonly uri: string,
    private readonly ondiagnostics: (found: LspDiagnostic[]) => void,
    /** Called when a connection that was open is closed by the other side. */
    private readonly onclose: () => void,
  ) {}

  /** Connects and opens the document. Fails if the server has no language server. */
  async start(text: string): Promise<void> {
    const token = serverToken();
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const protocols = ['agon-lsp', ...(token ? [`agon-token.${token}`] : [])];
    const socket = new WebSocket(`${scheme}//${location.host}/api/v1/lsp`, protocols);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error('there is no language server here'));
    });
    this.socket = socket;
    socket.onmessage = (event) => this.receive(JSON.parse(String(event.data)));
    socket.onclose = () => {
      this.socket = null;
      for (const one of this.pending.values()) one.reject(new Error('the connection is closed'));
      this.pending.clear();
      if (!this.isStopped) this.onclose();
    };
    await this.ask('initialize', { capabilities: {}, processId: null, rootUri: null });
    this.tell('initialized', {});
    this.version += 1;
    this.tell('textDocument/didOpen', {
      textDocument: { uri: this.uri, languageId: 'gdl', version: this.version, text },
    });
  }

  get isOpen(): boolean {
    return this.socket !== null;
  }

  /** Sends the new text. The diagnostics arrive by themselves. */
  change(text: string): void {
    this.version += 1;
    this.tell('textDocument/didChange', {
      textDocument: { uri: this.uri, version: this.version },
      contentChanges: [{ text }],
    });
  }

  /** Asks about the document, and about a position if one is given. */
  about<T>(method: string, position?: Place, more: object = {}): Promise<T> {
    const place = position ? { position } : {};
    return this.ask(`textDocument/${method}`, { textDocument: { uri: this.uri }, ...place, ...more });
  }

  ask<T>(method: string, params: object): Promise<T> {
    const id = this.nextId;
    this.nextId += 1;
    return new Promise<T>((resolve, reject) => {
      if (!this.socket) {
        reject(new Error('the connection is closed'));
        return;
      }
      this.pending.set(id, { resolve: resolve as (result: never) => void, reject });
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  private tell(method: string, params: object): void {
    this.socket?.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  private receive(message: {
    id?: number | string;
    method?: string;
    params?: { uri: string; version?: number; diagnostics: LspDiagnostic[] };
    result?: never;
    error?: { message: string };
  }): void {
    if (message.method === 'textDocument/publishDiagnostics' && message.params) {
      const { version, diagnostics } = message.params;
      if (version === undefined || version === this.version) this.ondiagnostics(diagnostics);
      return;
    }
    if (message.method !== undefined || typeof message.id !== 'number') return;
    const waiting = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result as never);
  }

  stop(): void {
    this.isStopped = true;
    this.socket?.close();
  }
}
