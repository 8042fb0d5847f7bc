// Measures when many viewers of one match hear of a move: node tests/viewers.mjs [VIEWERS]

import { Server, until } from './harness.mjs';

const N_MOVES = 20;
const viewers = Number(process.argv[2] ?? 100);
const server = await new Server().start();
const made = await server.post('/matches', { game: 'connect-four', players: ['human', 'human'] });
const keys = made.role_keys;
/** By number of steps: when each viewer has heard of them. */
const heard = Array.from({ length: N_MOVES + 1 }, () => []);

async function follow() {
  const response = await fetch(`${server.api}/api/v1/matches/${made.id}/events`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  let last = -1;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const event = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const steps = Number(event.match(/"n_steps":(\d+)/)?.[1] ?? -1);
      if (steps > last) heard[steps]?.push(performance.now());
      last = Math.max(last, steps);
    }
  }
}

for (let viewer = 0; viewer < viewers; viewer += 1) void follow().catch(() => undefined);
await until('all viewers', () => heard[0].length === viewers);
const medians = [];
const latest = [];
for (let step = 0; step < N_MOVES; step += 1) {
  const key = keys[step % 2];
  const asked = () => server.get(`/matches/${made.id}`, key).then((view) => view.asked[0]?.moves);
  const moves = await until('a turn', asked);
  const began = performance.now();
  await server.post(`/matches/${made.id}/moves`, { move: moves[step % moves.length].text }, key);
  await until('all viewers', () => heard[step + 1].length === viewers);
  const times = heard[step + 1].map((time) => time - began).sort((a, b) => a - b);
  medians.push(times[Math.floor(times.length / 2)]);
  latest.push(times.at(-1));
}
const span = (list) => `${Math.min(...list).toFixed(0)} to ${Math.max(...list).toFixed(0)} ms`;
console.log(`${viewers} viewers, ${N_MOVES} moves: the median viewer hears of a move after `
  + `${span(medians)}, the last one after ${span(latest)}`);
await server.end();
process.exit(0);
