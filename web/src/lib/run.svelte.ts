// A tournament or experiment that the server plays: loaded again and again while it runs.

import { ApiFailure, UNREACHABLE, get, post } from './api';

export interface RunState {
  running: boolean;
  log: string;
}

/** Follows the run at an address of the API. Must be called while a component is made. */
export function followRun<View extends RunState>(path: string) {
  const state: { view: View | null; problem: string } = $state({ view: null, problem: '' });

  let isMissing = false;
  async function load(): Promise<void> {
    try {
      state.view = await get<View>(path);
      if (state.problem === UNREACHABLE) state.problem = '';
    } catch (error) {
      state.problem = (error as Error).message;
      // What is missing does not appear later.
      isMissing = error instanceof ApiFailure && error.status === 404;
    }
  }
  void load();
  $effect(() => {
    const timer = setInterval(() => {
      if (!isMissing && state.view?.running !== false) void load();
    }, 2000);
    return () => clearInterval(timer);
  });

  /** Stops or continues the run. */
  async function act(what: 'stop' | 'resume'): Promise<void> {
    state.problem = '';
    try {
      await post(`${path}/${what}`, {});
      await load();
    } catch (error) {
      state.problem = (error as Error).message;
    }
  }

  return { state, act };
}
