// Calls of the API. Secrets are kept in the browser and sent as headers, never in addresses.

import { matchKeys, serverToken } from './keys';

export class ApiFailure extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly body: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** The message when no answer comes from the server. Pages that try again by themselves clear it. */
export const UNREACHABLE = 'The server does not answer.';

/** Sends a request. A failure of the network has a message that people understand. */
async function send(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error(UNREACHABLE);
  }
  return response.ok ? response : fail(response);
}

function headers(match?: string): Record<string, string> {
  const all: Record<string, string> = {};
  const token = serverToken();
  if (token) all['authorization'] = `Bearer ${token}`;
  const keys = match ? matchKeys(match) : [];
  if (keys.length > 0) all['agon-key'] = keys.join(',');
  return all;
}

async function fail(response: Response): Promise<never> {
  const text = await response.text();
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text);
  } catch {
    // Not every failure is JSON, for instance that of a proxy.
  }
  throw new ApiFailure(String(body.error ?? (text || response.statusText)), response.status, body);
}

/** Gets JSON. `match` is the id of the match whose secrets are sent. */
export async function get<T>(path: string, match?: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, { headers: headers(match), signal });
  return response.json();
}

/** Gets a text. */
export async function getText(path: string): Promise<string> {
  const response = await send(path, { headers: headers() });
  return response.text();
}

/** Posts JSON and returns the answer. */
export async function post<T>(path: string, body: unknown, match?: string): Promise<T> {
  const response = await send(path, {
    method: 'POST',
    headers: { ...headers(match), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

export async function remove(path: string, match?: string): Promise<void> {
  await send(path, { method: 'DELETE', headers: headers(match) });
}

/** Reads server-sent events from a response until it ends. */
async function readEvents(
  response: Response,
  receive: (event: string, data: string) => void,
): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      let event = 'message';
      const data: string[] = [];
      for (const line of buffer.slice(0, end).split('\n')) {
        if (line.startsWith('event:')) event = line.slice(6).trim();
        if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      }
      buffer = buffer.slice(end + 2);
      if (data.length > 0) receive(event, data.join('\n'));
    }
  }
}

/** Follows a match. Connects again by itself when the connection is lost. */
export function follow<T>(
  match: string,
  theme: string,
  receive: (view: T) => void,
  status: (text: 'live' | 'lost' | 'refused', why?: string) => void,
): () => void {
  const stop = new AbortController();
  void (async () => {
    let pause = 500;
    while (!stop.signal.aborted) {
      try {
        const response = await fetch(`/api/v1/matches/${match}/events?theme=${theme}`, {
          headers: headers(match),
          signal: stop.signal,
        });
        if (!response.ok) {
          const text = await response.text();
          if (response.status < 500) {
            let why = text;
            try {
              why = JSON.parse(text).error;
            } catch {
              // The text itself is the reason.
            }
            status('refused', why);
            return;
          }
          throw new Error(text);
        }
        status('live');
        pause = 500;
        await readEvents(response, (event, data) => {
          if (event === 'match') receive(JSON.parse(data));
          if (event === 'failure') status('lost', JSON.parse(data));
        });
      } catch {
        // The server has gone or the network failed: try again below.
      }
      if (stop.signal.aborted) return;
      status('lost');
      await new Promise((wake) => setTimeout(wake, pause));
      pause = Math.min(pause * 1.6, 5000);
    }
  })();
  return () => stop.abort();
}

/** Streams reports of an analysis until it is stopped. */
export function analyse<T>(
  body: unknown,
  receive: (report: T) => void,
  ended: (problem?: string) => void,
): () => void {
  const stop = new AbortController();
  void (async () => {
    try {
      const response = await send('/analysis', {
        method: 'POST',
        headers: { ...headers(), 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: stop.signal,
      });
      await readEvents(response, (_, data) => {
        if (!stop.signal.aborted) receive(JSON.parse(data));
      });
      ended();
    } catch (error) {
      if (!stop.signal.aborted) ended(error instanceof Error ? error.message : String(error));
    }
  })();
  return () => stop.abort();
}
