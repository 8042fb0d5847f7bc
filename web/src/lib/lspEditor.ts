// Connects the text editor with the language server.

import {
  type Completion, type CompletionContext, type CompletionResult, completeAnyWord,
} from '@codemirror/autocomplete';
import type { ChangeSpec, Extension, Text } from '@codemirror/state';
import { type EditorView, hoverTooltip } from '@codemirror/view';

import type {
  CodeAction, CompletionItem, LanguageServer, LspDiagnostic, Place, TextEdit,
} from './lsp';
import type { Finding } from './types';

type Server = () => LanguageServer | null;

export function offset(doc: Text, place: Place): number {
  if (place.line >= doc.lines) return doc.length;
  const line = doc.line(place.line + 1);
  return Math.min(line.from + place.character, line.to);
}

export function place(doc: Text, at: number): Place {
  const line = doc.lineAt(at);
  return { line: line.number - 1, character: at - line.from };
}

export function changes(doc: Text, edits: TextEdit[]): ChangeSpec[] {
  return edits.map((edit) => ({
    from: offset(doc, edit.range.start),
    to: offset(doc, edit.range.end),
    insert: edit.newText,
  }));
}

/** Turns diagnostics into findings, with the fixes that the code actions have for them. */
export function toFindings(
  doc: Text, uri: string, found: LspDiagnostic[], actions: CodeAction[],
): Finding[] {
  return found.map((one) => {
    const [message, ...hints] = one.message.split('\nhint: ');
    const same = (other: LspDiagnostic) =>
      other.code === one.code && JSON.stringify(other.range) === JSON.stringify(one.range);
    const action = actions.find(({ kind, diagnostics }) =>
      kind === 'quickfix' && diagnostics?.some(same));
    const edits = action?.edit?.changes[uri] ?? [];
    return {
      severity: one.severity === 1 ? 'error' : one.severity === 2 ? 'warning' : 'note',
      code: one.code, message, hints,
      line: one.range.start.line + 1, column: one.range.start.character + 1,
      from: offset(doc, one.range.start), to: offset(doc, one.range.end),
      fix: action
        ? {
          title: action.title,
          edits: edits.map((edit) => ({
            from: offset(doc, edit.range.start), to: offset(doc, edit.range.end),
            insert: edit.newText,
          })),
        }
        : null,
    };
  });
}

/** Shows what the server knows of the word under the pointer. */
export function hovers(server: Server): Extension {
  return hoverTooltip(async (view, at) => {
    const asked = server();
    if (!asked?.isOpen) return null;
    const hover = await asked
      .about<{ contents: { value: string } } | null>('hover', place(view.state.doc, at))
      .catch(() => null);
    if (!hover) return null;
    return {
      pos: at,
      create: () => {
        const dom = document.createElement('pre');
        dom.className = 'hover-text';
        dom.textContent = hover.contents.value.replace(/```\w*\n|```|\*\*|`/g, '').trim();
        return { dom };
      },
    };
  });
}

const KINDS: Record<number, string> = { 3: 'function', 6: 'variable', 14: 'keyword', 21: 'constant' };

/** Completes by the server, or by the words of the text if there is none. */
export function completions(server: Server) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const asked = server();
    if (!asked?.isOpen) return completeAnyWord(context);
    const word = context.matchBefore(/[^\s(),]*/);
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    const isWanted = context.explicit || (word && word.from < word.to) || '( ,'.includes(before);
    if (!isWanted) return null;
    const answer = await asked
      .about<{ items: CompletionItem[] }>('completion', place(context.state.doc, context.pos))
      .catch(() => null);
    if (!answer || answer.items.length === 0) return null;
    const options: Completion[] = answer.items.map((item) => ({
      label: item.label, type: KINDS[item.kind], detail: item.detail,
      boost: -Number(item.sortText?.[0] ?? 0),
    }));
    return { from: word?.from ?? context.pos, options, validFor: /^[^\s(),]*$/ };
  };
}

/** Goes to the definition of the word at the cursor. */
export async function goToDefinition(view: EditorView, server: LanguageServer): Promise<void> {
  const { doc, selection } = view.state;
  type Locations = { range: { start: Place; end: Place } }[];
  const found = await server.about<Locations | null>('definition', place(doc, selection.main.head));
  if (!found?.length) return;
  const at = found[0].range;
  view.dispatch({
    selection: { anchor: offset(doc, at.start), head: offset(doc, at.end) }, scrollIntoView: true,
  });
}

/** Renames the word at the cursor everywhere. */
export async function rename(view: EditorView, server: LanguageServer): Promise<void> {
  const at = place(view.state.doc, view.state.selection.main.head);
  const old = await server.about<{ placeholder: string } | null>('prepareRename', at);
  const name = old && window.prompt('New name', old.placeholder);
  if (!name || name === old.placeholder) return;
  const edit = await server.about<{ changes: Record<string, TextEdit[]> }>(
    'rename', at, { newName: name },
  );
  view.dispatch({ changes: changes(view.state.doc, edit.changes[server.uri] ?? []) });
}

/** Gives the text its usual layout. Returns false if mistakes hide the layout. */
export async function format(view: EditorView, server: LanguageServer): Promise<boolean> {
  const edits = await server.about<TextEdit[] | null>('formatting', undefined, { options: {} });
  if (!edits) return false;
  view.dispatch({ changes: changes(view.state.doc, edits) });
  return true;
}
