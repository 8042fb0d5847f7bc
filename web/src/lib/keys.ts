// Secrets that this browser holds: the token of the server, and the keys of matches.

const TOKEN = 'agon-token';
const KEYS = 'agon-keys';

export function serverToken(): string | null {
  return localStorage.getItem(TOKEN);
}

/** Takes secrets from the part of the address after `#`, which is never sent to a server. */
export function takeToken(): void {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const token = parameters.get('token');
  if (token === null) return;
  localStorage.setItem(TOKEN, token);
  history.replaceState(null, '', location.pathname + location.search);
}

function all(): Record<string, string[]> {
  try {
    return JSON.parse(localStorage.getItem(KEYS) ?? '{}');
  } catch {
    return {};
  }
}

export function matchKeys(match: string): string[] {
  return all()[match] ?? [];
}

export function addKeys(match: string, keys: string[]): void {
  const known = all();
  known[match] = [...new Set([...(known[match] ?? []), ...keys])];
  localStorage.setItem(KEYS, JSON.stringify(known));
}

export function forgetKey(match: string, key: string): void {
  const known = all();
  known[match] = (known[match] ?? []).filter((other) => other !== key);
  localStorage.setItem(KEYS, JSON.stringify(known));
}
