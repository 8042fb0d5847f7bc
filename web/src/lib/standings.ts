// The standings of tournaments and of the columns of experiments.

export interface Estimate { mean: number; low: number; high: number }

export interface Row {
  player: string;
  spec: string;
  points: Estimate | null;
  rating: { elo: number; low: number; high: number } | null;
  matches: number;
  wins: number;
  draws: number;
  losses: number;
  slips: number;
  against: (Estimate & { player: string })[];
}

export interface Table { game: string | null; players: Row[] }

export interface Standings {
  name: string;
  matches: number;
  played: number;
  is_complete: boolean;
  overall: Table;
  games: Table[];
}

export interface Played {
  id: string;
  game: string;
  players: string[];
  status: string;
  goals: number[] | null;
  steps: number;
  seconds: number;
}

export const percent = (value: number) => `${(100 * value).toFixed(0)} %`;

export function sorted(table: Table): Row[] {
  return [...table.players].sort((a, b) => (b.points?.mean ?? -1) - (a.points?.mean ?? -1));
}

/**
 * Returns for each player its mean share of the points after each of its matches, in the order in
 * which they were played. `matches` has the newest first.
 */
export function progress(matches: Played[], players: string[]): { player: string; means: number[] }[] {
  const lines = players.map((player) => ({ player, sum: 0, means: [] as number[] }));
  for (const match of [...matches].reverse()) {
    if (!match.goals) continue;
    const total = match.goals.reduce((sum, goal) => sum + goal, 0);
    match.players.forEach((name, seat) => {
      const line = lines.find((one) => one.player === name);
      if (!line || match.goals![seat] === undefined) return;
      line.sum += total > 0 ? match.goals![seat] / total : 1 / match.players.length;
      line.means.push(line.sum / (line.means.length + 1));
    });
  }
  return lines.map(({ player, means }) => ({ player, means }));
}
