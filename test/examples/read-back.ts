import { expect } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import type { Series } from "./logged.ts";
import { parseExact } from "./parse-exact.ts";

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
