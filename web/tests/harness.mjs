// Starts the server and a browser for the tests. Needs no test framework.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serveAssets } from './dev-server.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Returns the program to test: $AGON, or the release build. */
export function program() {
  const path = process.env.AGON ?? join(root, 'target/release/agon');
  return existsSync(path) ? path : null;
}

/** Returns the browser: $CHROMIUM, or the one of the system. */
export function browserPath() {
  const all = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
  return all.find((path) => path && existsSync(path)) ?? null;
}

export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** A server in a folder of its own, which can be killed and started again. */
export class Server {
  constructor(options = []) {
    this.folder = mkdtempSync(join(tmpdir(), 'agon-web-'));
    this.options = options;
    this.port = 0;
  }

  async start() {
    const args = ['serve', '--port', String(this.port), '--store', join(this.folder, 'web.db')];
    this.process = spawn(program(), [...args, ...this.options], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    });
    this.log = '';
    this.process.stderr.on('data', (data) => (this.log += data));
    this.link = await new Promise((found, failed) => {
      let text = '';
      this.process.stdout.on('data', (data) => {
        text += data;
        const link = text.match(/http:\/\/\S+/);
        if (link) found(link[0]);
      });
      this.process.on('exit', (code) => failed(new Error(`the server ended (${code}): ${this.log}`)));
    });
    const address = new URL(this.link);
    this.port = Number(address.port);
    this.api = address.origin;
    if (process.env.AGON_ASSETS) {
      this.pages ??= await serveAssets(resolve(process.env.AGON_ASSETS), () => this.api);
    }
    this.origin = this.pages?.origin ?? this.api;
    this.link = this.link.replace(this.api, this.origin);
    return this;
  }

  /** Ends the process as a crash would. */
  async kill(signal = 'SIGKILL') {
    const ended = new Promise((done) => this.process.once('exit', done));
    this.process.kill(signal);
    await ended;
  }

  async post(path, body, key = '') {
    const response = await fetch(`${this.api}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'agon-key': key },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${answer.error}`);
    return answer;
  }

  async get(path, key = '') {
    const response = await fetch(`${this.api}/api/v1${path}`, { headers: { 'agon-key': key } });
    return response.json();
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill();
    this.pages?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Waits until a condition holds; the page is asked again and again. */
export async function until(what, test, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await test();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited for ${what} in vain`);
    await new Promise((wake) => setTimeout(wake, 40));
  }
}

/** Opens a page and collects what must not happen: script errors and refused content. */
export async function openPage(context, address) {
  const page = await context.newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) {
      page.problems.push(message.text());
    }
  });
  await page.goto(address);
  return page;
}

/** Returns the sentence above the board. */
export const status = async (page) =>
  ((await page.locator('[data-testid=status]').first().textContent()) ?? '').trim();

/** Waits for the turn of the person or the end of the match. */
export async function turnOrEnd(page, seconds = 60) {
  return until(
    'a turn or the end',
    async () => {
      const text = await status(page).catch(() => '');
      return /^(Your move|You win|You lose|Draw|Done|.* wins?:)/.test(text) ? text : null;
    },
    seconds,
  );
}

/** Clicks a place of the board as a person would. */
export async function clickPlace(page, place) {
  const target = page.locator(`.board [data-place="${place}"]`).first();
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

/** Makes any legal move by clicks: a place, then what is offered next. */
export async function clickAnyMove(page, pick = 0) {
  const before = await page.locator('.steps span').textContent();
  // The moves of a position come a moment after its number.
  const some = '.choices button.primary, .choices button.move, .board [data-place][tabindex]';
  await page.locator(some).first().waitFor({ state: 'attached', timeout: 10000 }).catch(() => undefined);
  for (let click = 0; click < 6; click += 1) {
    const offered = page.locator('.choices button.primary, .choices button.move');
    if ((await offered.count()) > 0) {
      await offered.nth(pick % (await offered.count())).click();
    } else {
      const open = await page.$$eval('.board [data-place][tabindex]', (all) =>
        [...new Set(all.map((element) => element.dataset.place))]);
      const dots = await page.locator('.board .layer .dot').count();
      if (open.length === 0) return;
      await clickPlace(page, open[dots > 0 ? click % open.length : pick % open.length]);
    }
    const moved = await until('a move or a choice', async () => {
      const now = await page.locator('.steps span').textContent();
      if (now !== before) return 'moved';
      const chosen = await page.locator('.board .layer .chosen').count();
      const choices = await page.locator('.choices button.primary').count();
      return chosen > 0 || choices > 0 ? 'chosen' : null;
    }, 20).catch(() => 'nothing');
    if (moved === 'moved') return;
  }
}

/**
 * Runs in the page. Lists texts whose contrast with their background is less than 4.5 (3 for large
 * ones, WCAG 2.1 AA), and controls without a name.
 */
export function accessibilityFaults() {
  const faults = [];
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.5) return colour;
    }
    return [255, 255, 255];
  };
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && element.checkVisibility();
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('svg, .sr, option, :disabled')) continue;
    if (!isVisible(element)) continue;
    const style = getComputedStyle(element);
    const [one, other] = [parse(style.color), background(element)].map(luminance);
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) {
      faults.push(`“${walker.currentNode.data.trim().slice(0, 30)}” has a contrast of ${ratio.toFixed(2)}`);
    }
  }
  for (const control of document.querySelectorAll('button, a[href], input, select, textarea')) {
    if (!isVisible(control) || control.type === 'hidden') continue;
    const name = control.getAttribute('aria-label') ?? control.getAttribute('title')
      ?? [...(control.labels ?? [])].map((label) => label.textContent).join('');
    if (!(name || control.textContent).trim()) faults.push(`no name: ${control.outerHTML.slice(0, 80)}`);
  }
  for (const image of document.querySelectorAll('svg, img')) {
    const isNamed = image.closest('[aria-label], [aria-hidden], [role=group]') || image.getAttribute('alt') !== null;
    if (isVisible(image) && !isNamed && !image.querySelector('title')) {
      faults.push(`a picture without a name: ${image.outerHTML.slice(0, 60)}`);
    }
  }
  return faults;
}
