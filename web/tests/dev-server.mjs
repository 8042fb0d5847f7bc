// Serves built pages from a folder and passes the API on to a running server, so that pages can be
// tested without building the program again: AGON_ASSETS=../crates/agon-web/assets npm test

import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { extname, join } from 'node:path';

const KINDS = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** The policy of the real server (security.rs). */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; " +
  "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** Starts the server and returns its origin. `target` returns the origin of the API. */
export function serveAssets(folder, target) {
  const server = createServer((incoming, outgoing) => {
    const path = new URL(incoming.url, 'http://x').pathname;
    if (path.startsWith('/api/')) {
      const { host, origin } = new URL(target());
      const headers = { ...incoming.headers, host };
      if (headers.origin) headers.origin = origin;
      const passed = request(origin + incoming.url, { method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.on('close', () => outgoing.destroy());
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      incoming.pipe(passed);
      return;
    }
    const name = extname(path) && !path.includes('..') ? path : '/index.html';
    try {
      const body = readFileSync(join(folder, name));
      outgoing.writeHead(200, {
        'content-type': KINDS[extname(name)] ?? 'text/plain', 'content-security-policy': POLICY,
      });
      outgoing.end(body);
    } catch {
      outgoing.writeHead(404).end();
    }
  });
  // The language server of the editor is a WebSocket.
  server.on('upgrade', (incoming, socket) => {
    const { host, hostname, port, origin } = new URL(target());
    const headers = { ...incoming.headers, host, origin };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const passed = connect(Number(port), hostname, () => {
      passed.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      passed.pipe(socket).pipe(passed);
    });
    for (const [one, other] of [[passed, socket], [socket, passed]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  return new Promise((ready) => {
    server.listen(0, '127.0.0.1', () => {
      ready({ origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
    });
  });
}
