// Moves and results in words.

import type { Ending, MatchView } from './types';

/** Writes a move without the outer parentheses: `(mark 2 2)` is `mark 2 2`. */
export function moveText(move: string): string {
  const text = move.trim();
  return text.startsWith('(') && text.endsWith(')') ? text.slice(1, -1).trim() : text;
}

/** Tells whether a move only says that a role waits. */
export function isWaiting(move: string): boolean {
  return /^\(?\s*(noop|nil|pass-turn|wait|idle)\s*\)?$/i.test(move);
}

/** Writes a joint move: the moves of those who had a choice. */
export function jointText(joint: string[], roles: string[], choosers?: number[]): string {
  const shown = choosers?.length
    ? choosers
    : joint.map((_, role) => role).filter((role) => !isWaiting(joint[role]));
  const list = shown.length > 0 ? shown : joint.map((_, role) => role);
  if (list.length === 1) return moveText(joint[list[0]]);
  return list.map((role) => `${roles[role]}: ${moveText(joint[role])}`).join(' · ');
}

export function endingText(ending: Ending, roles: string[]): string {
  switch (ending.kind) {
    case 'finished': {
      const payoffs = ending.payoffs ?? [];
      return payoffs.map((value, role) => `${roles[role]} ${number(value)}`).join(', ');
    }
    case 'resigned':
      return `${roles[ending.role ?? 0]} has resigned`;
    case 'fault':
      return `the rules have a fault: ${ending.text ?? ''}`;
    case 'too-long':
      return 'stopped: too many steps';
    case 'aborted':
      return ending.text ?? 'ended by its owner';
  }
}

/** Says in a sentence how a match ended, for those who take part. */
export function verdict(view: MatchView): string {
  const ending = view.ending;
  if (!ending) return '';
  if (ending.kind !== 'finished' || !ending.payoffs) return endingText(ending, view.roles);
  const players = view.seats.map((seat) => seat.role);
  const best = Math.max(...players.map((role) => ending.payoffs![role]));
  const winners = players.filter((role) => ending.payoffs![role] === best);
  const scores = players.map((role) => `${view.roles[role]} ${number(ending.payoffs![role])}`);
  const line = scores.join(', ');
  if (players.length === 1) return `Done: ${line}`;
  if (winners.length === players.length) return `Draw: ${line}`;
  const mine = view.seats.filter((seat) => seat.mine).map((seat) => seat.role);
  if (mine.length === 1) {
    return `${winners.includes(mine[0]) ? 'You win' : 'You lose'}: ${line}`;
  }
  return `${winners.map((role) => view.roles[role]).join(' and ')} wins: ${line}`;
}

export function number(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

/** Writes a real number with at most four significant digits. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

export function count(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (value >= 1e4) return `${Math.round(value / 1e3)} k`;
  return String(value);
}

export function ago(time: number): string {
  const seconds = Math.max(0, (Date.now() - time) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

/** Keys of reports that the page shows elsewhere or not at all. */
const SKIPPED = ['game', 'title', 'summary', 'interest', 'facts', 'language', 'syntax', 'plan',
  'keywords', 'rules_in_normal_form'];

/** Writes the keys and values of a report in words. */
export function reportRows(report: Record<string, unknown>): [string, string][] {
  const rows = Object.entries(report).filter(([key]) => !SKIPPED.includes(key));
  return rows.map(([key, value]) => [keyText(key), valueText(value)]);
}

const keyText = (key: string) => key.replaceAll('_', ' ');

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'not known';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2);
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([key, inner]) => `${keyText(key)} ${valueText(inner)}`);
    return parts.join('; ');
  }
  return String(value);
}
