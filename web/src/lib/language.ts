// Highlighting of both rule languages, for the editor.

import { StreamLanguage, type StreamParser } from '@codemirror/language';

const GDL = /^(role|init|true|does|next|legal|goal|terminal|base|input|sees|percept|distinct|not|or|and|random)$/i;
const TOSS = /^(PLAYERS|RULE|LOC|MODEL|START|REL|PAYOFF|MOVES|PLAYER|DATA|match|emb|pre|post|inv|update|dynamics|ex|all|and|or|not|let|with|Sum|true|false)$/;

const kif: StreamParser<{ first: boolean }> = {
  name: 'kif',
  startState: () => ({ first: false }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^;.*/)) return 'comment';
    if (stream.match('<=') || stream.match(':-')) {
      state.first = true;
      return 'operator';
    }
    if (stream.eat('(')) {
      state.first = true;
      return 'bracket';
    }
    if (stream.match(/^[),.&~|]/)) {
      state.first = false;
      return 'bracket';
    }
    if (stream.match(/^\?[^\s()]*/)) return 'variableName';
    const word = stream.match(/^[^\s(),;]+/) as RegExpMatchArray | null;
    if (!word) {
      stream.next();
      return null;
    }
    const first = state.first;
    state.first = false;
    if (GDL.test(word[0])) return 'keyword';
    if (/^\d+$/.test(word[0])) return 'number';
    return first ? 'typeName' : 'atom';
  },
  languageData: { commentTokens: { line: ';' } },
};

const toss: StreamParser<object> = {
  name: 'toss',
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return 'comment';
    if (stream.match(/^"[^"]*"?/)) return 'string';
    if (stream.match(/^\d+(\.\d+)?/)) return 'number';
    const word = stream.match(/^[A-Za-z_][A-Za-z_0-9]*/) as RegExpMatchArray | null;
    if (word) {
      if (TOSS.test(word[0])) return 'keyword';
      return /^[A-Z]/.test(word[0]) ? 'typeName' : 'variableName';
    }
    stream.next();
    return 'operator';
  },
  languageData: { commentTokens: { line: '//' } },
};

export const kifLanguage = StreamLanguage.define(kif);
export const tossLanguage = StreamLanguage.define(toss);

/** Tells whether a text is a structure rewriting game, as the server does by its first word. */
export function looksLikeToss(name: string, text: string): boolean {
  if (name.endsWith('.toss')) return true;
  if (/\.(kif|gdl)$/.test(name)) return false;
  const code = text.replace(/^\s*(\/\/.*|;.*)\n/gm, '').trimStart();
  return /^(PLAYERS|RULE|REL|LOC|MODEL|START|SET)\b/.test(code);
}
