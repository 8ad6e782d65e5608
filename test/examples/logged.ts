import { type LoggedCall, parseExact } from "./run-example.ts";
import { expect } from "@jest/globals";
import type { Api } from "../stack/client.ts";

/** Step and value, in the order of the steps. */
export type Series = readonly (readonly [step: number, value: number])[];

/** What the `log` calls of an example say about each key. Both examples give the step by name or as second argument. */
export function loggedMetrics(calls: readonly LoggedCall[]): Record<string, Series> {
  const series: Record<string, [number, number][]> = {};
  for (const { args, kwargs } of callsOf(calls, "log")) {
    const step = (kwargs?.["step"] ?? args[1]) as number;
    for (const [key, value] of Object.entries(args[0] as Record<string, number>)) {
      (series[key] ??= []).push([step, value]);
    }
  }
  return series;
}

/** The calls of one method. */
export function callsOf(calls: readonly LoggedCall[], method: string): readonly LoggedCall[] {
  return calls.filter((call) => call.method === method);
}

/** The lists that were the first argument of a method's calls, as one list. */
export function listed(
  calls: readonly LoggedCall[],
  method: string,
  where: (call: LoggedCall) => boolean = () => true,
): unknown[] {
  return callsOf(calls, method)
    .filter(where)
    .flatMap(({ args }) => args[0] as unknown[]);
}

/** Path and value of every leaf of a document; lists are leaves. */
export function leaves(document: unknown, path: string): [path: string, value: unknown][] {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return [[path, document]];
  return Object.entries(document).flatMap(([name, value]) => leaves(value, `${path}/${name}`));
}

/** The aggregates that a run shows for a series; for a loss less is better. */
export function aggregatesOf(key: string, series: Series): Record<string, unknown> {
  const values = series.map(([, value]) => value);
  const min = Math.min(...values);
  const max = Math.max(...values);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const best = key.endsWith("loss") ? min : max;
  return {
    count: series.length,
    latest: values.at(-1),
    min,
    max,
    mean: nearly(mean),
    variance: nearly(variance),
    best_step: series.find(([, value]) => value === best)?.[0],
  };
}

/** Equal but for the last few of about 16 digits: sums depend on their order. */
function nearly(value: number): { asymmetricMatch(other: unknown): boolean; toString(): string } {
  return {
    asymmetricMatch: (other) => typeof other === "number" && Math.abs(other - value) <= Math.abs(value) * 1e-9 + 1e-12,
    toString: () => `nearly ${value}`,
  };
}

/** An attribute as REST shows it. */
export type Attribute = { path: string; type: string; step: number | null; value: unknown; summary: unknown };

/** A console line as REST shows it. */
export type Line = { line_number: number; message: string; timestamp: string; stream: string };

async function get(api: Api, path: string): Promise<Record<string, unknown>> {
  const answer = await api.get(path);
  expect(answer).toMatchObject({ status: 200 });
  return parseExact(answer.text) as Record<string, unknown>;
}

/** A run with its aggregates, integers beyond 2^53 as bigint. */
export async function readRun(api: Api, id: string): Promise<Record<string, unknown>> {
  return (await get(api, `/runs/${id}`))["run"] as Record<string, unknown>;
}

/** All points of some keys, in the order of the answers. */
export async function readMetrics(api: Api, id: string, keys: readonly string[]): Promise<Record<string, Series>> {
  const series: Record<string, Series> = {};
  for (const key of keys) {
    const answer = await get(api, `/runs/${id}/metrics?limit=5000&key=${encodeURIComponent(key)}`);
    expect(answer["truncated"]).toBe(false);
    series[key] = (answer["metrics"] as { step: number; value: number }[]).map(({ step, value }) => [step, value]);
  }
  return series;
}

/** The attributes of one type. */
export async function readAttributes(api: Api, id: string, type: string): Promise<Attribute[]> {
  return (await get(api, `/api/runs/${id}/attributes?limit=5000&type=${type}`))["attributes"] as Attribute[];
}

/** All console lines of a stream, following the cursor. */
export async function readLines(api: Api, id: string, stream: "stdout" | "stderr"): Promise<Line[]> {
  const lines: Line[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = `stream=${stream}&limit=25${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const page = await get(api, `/api/runs/${id}/logs?${query}`);
    lines.push(...(page["lines"] as Line[]));
    cursor = page["next_cursor"] as string | null;
  }
  return lines;
}
