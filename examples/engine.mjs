// Plays tic-tac-toe by looking one step ahead, in JavaScript. It speaks the protocol of
// docs/engine.md; nothing but Node.js and the command `agon` is needed.
//
//     node examples/engine.mjs [path of agon]

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const engine = spawn(process.argv[2] ?? "agon", ["engine"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const lines = createInterface({ input: engine.stdout })[Symbol.asyncIterator]();

async function call(request) {
  engine.stdin.write(JSON.stringify(request) + "\n");
  const answer = JSON.parse((await lines.next()).value);
  if (!answer.ok) throw new Error(answer.error);
  return answer;
}

// The move after which random play ends best for the role.
async function greedy(position) {
  const { legal } = await call({ call: "legal", state: position.state, role: position.turn });
  let best = { value: -1 };
  for (const move of legal) {
    const next = await call({ call: "next", state: position.state, moves: move });
    const { means } = await call({ call: "playout", state: next.state, n: 256, seed: 1 });
    await call({ call: "drop", states: [next.state] });
    if (means[position.turn] > best.value) best = { move, value: means[position.turn] };
  }
  return best.move;
}

let position = await call({ call: "load", game: "tic-tac-toe" });
while (!position.terminal) {
  // Where no role has a choice, all make their only move.
  const move = position.turn === null ? null : await greedy(position);
  console.log(move === null ? "forced" : `${position.turn} ${move}`);
  position = await call({ call: "next", state: position.state, moves: move });
}
console.log(JSON.stringify((await call({ call: "goals", state: position.state })).goals));
engine.stdin.end();
