// Takes the pictures of docs/images: node tests/screenshots.mjs [FOLDER]

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { Server, clickAnyMove, launch, openPage, root, turnOrEnd, until } from './harness.mjs';

const folder = process.argv[2] ?? join(root, 'docs/images');
mkdirSync(folder, { recursive: true });
const server = await new Server().start();
const browser = await launch();

async function shot(name, path, prepare, options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1200, height: options.height ?? 800 },
    colorScheme: options.dark ? 'dark' : 'light',
  });
  const page = await openPage(context, server.origin + path);
  try {
    await prepare?.(page);
    await page.waitForTimeout(500);
  } catch (error) {
    console.log(`${name}: ${error.message.split('\n')[0]}`);
  }
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(name, page.problems.join('; '));
  await context.close();
}

const startMatch = (game, players, more = {}) =>
  server.post('/matches', { game, players, play_clock: 0.4, start_clock: 0, ...more });
const withKeys = (made) => `/match/${made.id}#key=${made.role_keys.find(Boolean)}`;


/** Types moves at the analysis board, one after the other. */
async function typeMoves(page, moves) {
  for (const [index, move] of moves.entries()) {
    await page.getByPlaceholder('or type a move').fill(move);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.locator('.steps span', { hasText: new RegExp(`^${index + 1}$`) }).waitFor();
  }
}

await shot('web-library', '/', (page) => page.waitForLoadState('networkidle'));
await shot('web-library-dark', '/', (page) => page.waitForLoadState('networkidle'), { dark: true });
await shot('web-library-narrow', '/', (page) => page.waitForLoadState('networkidle'), {
  width: 400, height: 800,
});
await shot('web-game', '/game/tic-tac-toe', async (page) => {
  await page.getByRole('button', { name: 'Assess' }).click();
  await page.getByLabel('Assessment').waitFor();
}, { height: 1100 });
const breakthrough = await startMatch('breakthrough', ['human', 'random']);
await shot('web-play', withKeys(breakthrough), async (page) => {
  for (let step = 0; step < 4; step += 1) {
    await turnOrEnd(page);
    await clickAnyMove(page, 3 + step);
  }
  await turnOrEnd(page);
  await page.locator('.board [data-place][tabindex]').nth(5).click();
});
const narrow = await startMatch('connect-four', ['human', 'random']);
await shot('web-play-narrow', withKeys(narrow), async (page) => {
  for (let step = 0; step < 3; step += 1) {
    await turnOrEnd(page);
    await clickAnyMove(page, 2 + step * 2);
  }
  await turnOrEnd(page);
}, { width: 400, height: 800, dark: true });
const hidden = await startMatch('krieg-tic-tac-toe', ['human', 'random']);
await shot('web-hidden', withKeys(hidden), async (page) => {
  await turnOrEnd(page);
  await clickAnyMove(page, 4);
  await turnOrEnd(page);
});
await shot('web-analysis', '/analysis/connect-four', async (page) => {
  await page.locator('.board svg').waitFor();
  await typeMoves(page, ['drop 4', 'drop 4', 'drop 3', 'drop 5', 'drop 3', 'drop 3']);
  await page.getByLabel('Analyse').check();
  await page.locator('.lines tbody tr').first().waitFor();
  await page.waitForTimeout(2500);
});
await shot('web-why', '/analysis/tic-tac-toe', async (page) => {
  await page.locator('.board svg').waitFor();
  await clickAnyMove(page, 0);
  await page.getByLabel('Sentence to prove').fill('(legal oplayer (mark 1 1))');
  await page.getByRole('button', { name: 'Prove', exact: true }).click();
  await page.locator('.proof').waitFor();
});
await shot('web-formula', '/analysis/toss-tic-tac-toe', async (page) => {
  await page.locator('.board svg').waitFor();
  await clickAnyMove(page, 4);
  await page.getByLabel('Sentence to prove').fill('R(x, y) and not P(x)');
  await page.getByRole('button', { name: 'Prove', exact: true }).click();
  await page.locator('.witnesses li').first().waitFor();
  await page.locator('.witnesses li button').nth(2).hover();
});
await shot('web-motion', '/analysis/toss-cat-and-mouse', async (page) => {
  const form = page.locator('form.parameters');
  await form.getByLabel('px as a number').fill('1');
  await form.getByLabel('py as a number').fill('0.5');
  await form.getByLabel('py as a number').press('Tab');
  await form.getByRole('button', { name: 'Play Chase c' }).click();
  await form.getByRole('button', { name: 'Play Run m' }).click();
  const motion = page.getByTestId('motion');
  await motion.waitFor();
  await motion.getByRole('slider', { name: 'Time within the step' }).fill('600');
});
await shot('web-place', '/analysis/tic-tac-toe', async (page) => {
  await page.locator('.board svg').waitFor();
  await clickAnyMove(page, 4);
  await page.getByLabel('Ask about places').check();
  await page.locator('.board [data-place="board/2/2"]').click();
  await page.getByLabel('Questions about the place').getByRole('button').nth(2).click();
  await page.locator('.proof').waitFor();
});
await shot('web-editor', '/editor', async (page) => {
  await page.locator('.board svg').waitFor();
  await page.locator('.editor .cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('(<= (goal ?p ?points) (role ?p))\n(<= (cell 6))\n');
  await page.locator('.findings li').first().waitFor();
});
const spec = 'name = "small games"\ngames = ["tic-tac-toe", "connect-three"]\n'
  + 'players = ["mcts", "uct", "random"]\nrepeats = 2\nopenings = 1\niterations = 60\n';
const made = await server.post('/tournaments', { spec });
await until('the tournament', async () => {
  const view = await server.get(`/tournaments/${made.id}`);
  return view.standings?.is_complete;
}, 120);
await shot('web-tournament', `/tournament/${made.id}`, (page) => page.locator('table').first().waitFor());
const run = await server.post('/experiments', {
  name: 'trutman-table-5.2', iterations: 5, repeats: 1, only: 'Connect 4',
});
await until('the experiment', async () => (await server.get(`/experiments/${run.id}`)).report, 120);
await shot('web-experiment', `/experiment/${run.id}`, (page) => page.locator('table').first().waitFor());
await shot('web-tournaments', '/tournaments', (page) => page.waitForLoadState('networkidle'));
await shot('web-matches', '/matches', (page) => page.locator('table').waitFor());
await browser.close();
await server.end();
