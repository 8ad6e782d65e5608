import { cpus, totalmem } from "node:os";
import { UNTIMED, type Case } from "./cases.ts";
import type { Ceilings } from "./ceilings.ts";
import type { LoadResult } from "./load.ts";

/** CPU microseconds per request of each side; absent where the system does not tell. */
export type CpuPerRequest = { server: number; database: number; client: number };

/** A measured case. */
export type Row = Case & { mode: string; result: LoadResult; cpu: CpuPerRequest | undefined };

const round = (value: number, digits = 0): string => value.toFixed(digits);

/** Requests per second. */
function rate({ result }: Row): number {
  return result.requests / result.seconds;
}

function share(row: Row, ceilings: Ceilings): string {
  if (row.ceiling === "commits") {
    const commits = ceilings.commitsPerSecond[row.concurrency] ?? Number.NaN;
    return `${round((rate(row) / commits) * 100)} % of commits`;
  }
  if (row.ceiling === "parse") {
    return `${round(((rate(row) * row.scalars) / ceilings.parsedScalarsPerSecond) * 100)} % of JSON.parse`;
  }
  return "";
}

/** The machine and its ceilings, as Markdown. */
export function describeMachine(ceilings: Ceilings): string {
  const commits = Object.entries(ceilings.commitsPerSecond).map(
    ([connections, value]) => `${round(value)} at ${connections}`,
  );
  return [
    `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${round(totalmem() / 2 ** 30)} GiB, Node ${process.version}.`,
    `Ceilings: ${round(ceilings.fsyncPerSecond)} fdatasync/s of 8 KiB; PostgreSQL commits/s: ${commits.join(", ")} connections;`,
    `JSON.parse ${round(ceilings.parsedScalarsPerSecond / 1e6, 1)} M scalars/s on one core.`,
  ].join("\n");
}

export const tableHead = [
  "| mode | case | connections | requests/s | scalars/s | p50 ms | p95 ms | p99 ms | CPU µs/request: server + PostgreSQL + client | share of ceiling | errors |",
  "|---|---|---|---|---|---|---|---|---|---|---|",
].join("\n");

/** One measured case as a Markdown row. */
export function describeRow(row: Row, ceilings: Ceilings): string {
  const { result, cpu } = row;
  const scalars = row.scalars === 0 ? "" : round(rate(row) * row.scalars);
  const split = cpu === undefined ? "" : `${round(cpu.server)} + ${round(cpu.database)} + ${round(cpu.client)}`;
  const cells = [
    row.mode,
    row.name,
    row.concurrency,
    round(rate(row)),
    scalars,
    round(result.p50, 1),
    round(result.p95, 1),
    round(result.p99, 1),
    split,
    share(row, ceilings),
  ];
  return `| ${cells.join(" | ")} | ${result.errors === 0 ? 0 : `${result.errors}: ${result.firstError}`} |`;
}

/** Says what client times cost, a line for each case that was also measured without them. */
export function describeTimes(rows: readonly Row[]): string[] {
  return rows
    .filter(({ name }) => name.endsWith(UNTIMED))
    .flatMap((without) => {
      const name = without.name.slice(0, -UNTIMED.length);
      const { mode, concurrency } = without;
      const timed = rows.find((row) => row.name === name && row.mode === mode && row.concurrency === concurrency);
      if (timed === undefined) return [];
      const cpu = round((timed.cpu?.server ?? Number.NaN) / (without.cpu?.server ?? Number.NaN), 2);
      const share = round(rate(timed) / rate(without), 2);
      return [`\n${mode}, ${name}: with client times ${cpu} x the server's CPU and ${share} x the rate of without.`];
    });
}
