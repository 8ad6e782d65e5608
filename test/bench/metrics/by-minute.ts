import type { OpenLoopAnswer } from "../open-loop.ts";
import { shown, tableHead, tableRow } from "../markdown-table.ts";
import { percentilesOf, spreadOf, type Percentiles, type Spread } from "../percentiles.ts";
import type { Sample } from "./sample-processes.ts";

/** One minute of a long load. */
export type Minute = {
  /** From 1. */
  readonly minute: number;
  /** Answers that came to requests that were due in it. */
  readonly answered: number;
  readonly errors: number;
  /** Its length in seconds; the last one may be shorter. */
  readonly seconds: number;
  readonly latency: Percentiles;
  /** Memory in MiB by process. */
  readonly memory: ReadonlyMap<string, Spread>;
  readonly lagSeconds: Spread;
  readonly oldestSeconds: Spread;
  readonly rowsWaiting: Spread;
  /** Cores in use. */
  readonly cores: { readonly server: number; readonly database: number; readonly client: number };
};

const MINUTE_MS = 60_000;

/** Cuts answers (by when they were due) and samples into minutes. */
export function byMinute(answers: readonly OpenLoopAnswer[], samples: readonly Sample[], seconds: number): Minute[] {
  const count = Math.ceil((seconds * 1000) / MINUTE_MS);
  return Array.from({ length: count }, (_, index) => {
    const within = (ms: number): boolean => Math.floor(ms / MINUTE_MS) === index;
    const due = answers.filter(({ dueMs }) => within(dueMs));
    const good = due.filter(({ error }) => error === undefined);
    const seen = samples.filter(({ atMs }) => within(atMs));
    const of = (value: (sample: Sample) => number): Spread =>
      spreadOf(seen.map(value).filter((one) => !Number.isNaN(one)));
    const sampled = seen.reduce((total, sample) => total + sample.seconds, 0);
    const cores = (side: keyof Sample["cpu"]): number =>
      seen.reduce((total, { cpu }) => total + cpu[side], 0) / sampled;
    const names = seen[0] === undefined ? [] : [...seen[0].memory.keys()];
    return {
      minute: index + 1,
      answered: good.length,
      errors: due.length - good.length,
      seconds: Math.min(60, seconds - index * 60),
      latency: percentilesOf(good.map(({ latencyMs }) => latencyMs)),
      memory: new Map(names.map((name) => [name, of(({ memory }) => memory.get(name) ?? Number.NaN)])),
      lagSeconds: of((sample) => sample.lagSeconds),
      oldestSeconds: of((sample) => sample.oldestSeconds),
      rowsWaiting: of((sample) => sample.rowsWaiting),
      cores: { server: cores("server"), database: cores("database"), client: cores("client") },
    };
  });
}

const range = ({ min, median, max }: Spread, digits = 0): string =>
  `${shown(min, digits)} / ${shown(median, digits)} / ${shown(max, digits)}`;

/** Minutes as a table; `scalars` is how many values a request carries. */
export function minuteTable(minutes: readonly Minute[], scalars: number): string {
  const processes = [...(minutes[0]?.memory.keys() ?? [])];
  const head = [
    "minute",
    "requests/s",
    "scalars/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "errors",
    ...processes.map((name) => `${name} MiB: min / median / max`),
    "lag s",
    "oldest landing segment s",
    "landing segments waiting",
    "cores: server + PostgreSQL + generator",
  ];
  const lines = minutes.map(({ minute, answered, seconds, errors, latency, memory, cores, ...one }) =>
    tableRow([
      minute,
      shown(answered / seconds, 1),
      shown((answered / seconds) * scalars),
      shown(latency.p50, 1),
      shown(latency.p95, 1),
      shown(latency.p99, 1),
      errors,
      ...processes.map((name) => range(memory.get(name)!)),
      range(one.lagSeconds, 1),
      range(one.oldestSeconds, 1),
      range(one.rowsWaiting),
      `${shown(cores.server, 2)} + ${shown(cores.database, 2)} + ${shown(cores.client, 2)}`,
    ]),
  );
  return [tableHead(head), ...lines].join("\n");
}
