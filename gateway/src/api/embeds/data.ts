import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import type { Call } from "@tidemark/rpc";
import type { Run, RunSummary } from "@tidemark/proto/runs/v1/runs";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import { isObject, object, optional, withDefault } from "../fields/field.ts";
import { textOrEmpty } from "../fields/text.ts";
import { readViewData, viewOptions, warningsOf, type ViewData } from "../view-data/read.ts";
import { requireMessage } from "../replies.ts";
import { contentOf, LINE, type ViewContent, type ViewPanel } from "../view-data/panels.ts";
import { sessionOf } from "./session.ts";

/** Body of POST /api/embed/sessions/{session_id}/runs/data. */
export const embedDataBody = object({
  options: withDefault(optional(viewOptions), undefined),
  refresh_reason: textOrEmpty(),
});

/** The requested data, within what the session allows. */
type EmbedDataAsk = {
  readonly session: EmbedSession;
  readonly panelsMax: number;
  readonly pointLimit: number;
  readonly warnings: readonly string[];
};

/** POST /api/embed/sessions/{session_id}/runs/data. @throws bad_request */
export function decodeEmbedData({ body, embedSession }: Pick<RouteInput, "body" | "embedSession">): EmbedDataAsk {
  const session = sessionOf({ embedSession });
  const { options } = embedDataBody.read(body);
  if (options === undefined) {
    return { session, panelsMax: session.panelsMax, pointLimit: session.pointsMax, warnings: [] };
  }
  const { maxPanels, metricPointLimit } = options;
  return {
    session,
    panelsMax: Math.min(maxPanels.value, session.panelsMax),
    pointLimit: Math.min(metricPointLimit.value, session.pointsMax),
    warnings: warningsOf(maxPanels, metricPointLimit),
  };
}

/** Reads the runs of a session and makes a view of the keys with the most points. @throws not_found, bad_request */
export async function composeEmbedData(
  clients: Pick<Clients, "runs" | "ingestRead">,
  { session, ...bounds }: EmbedDataAsk,
  call: Call,
): Promise<ViewData> {
  const { runIds } = session;
  const { runs, rankedKeys } = await clients.runs.getRuns({ runIds, rankedKeysMax: bounds.panelsMax }, call);
  const content = generateView(runs, rankedKeys, bounds.panelsMax);
  return readViewData(clients, { content, runIds, ...bounds }, call, runs);
}

const SECTION = { sectionId: "embed-section", sectionName: "Metrics" };

/** The panels of the first key besides its line, in their order. */
const KINDS = ["histogram", "bar", "dot", "scatter", "distribution"] as const;

/**
 * Makes the view of an embed session (contract of embed sessions, generated view): lines of the first two keys, the other kinds of panels for the first key,
 * then lines of the other keys.
 * @param keys those with the most points first
 */
export function generateView(runs: readonly RunSummary[], keys: readonly string[], panelsMax: number): ViewContent {
  const [first, second, ...others] = keys;
  if (first === undefined) return contentOf([]);
  const wanted = [
    ...[first, ...(second === undefined ? [] : [second])].map((key) => ({ type: LINE, key })),
    ...KINDS.map((type) => ({ type, key: first })),
    ...others.map((key) => ({ type: LINE, key })),
  ].slice(0, panelsMax);
  const needsFields = wanted.some(({ type }) => type === "scatter" || type === "distribution");
  const fields = needsFields ? chooseFields(runs.map(({ run }) => requireMessage(run))) : {};
  return contentOf(
    wanted.map(({ type, key }, i): ViewPanel => ({
      ...SECTION,
      id: `embed-${type}-${i + 1}`,
      title: type === LINE ? key : `${key}: ${type}`,
      type,
      metricKey: key,
      fields: fieldsOf(type, key, fields),
      warnings: [],
    })),
  );
}

function fieldsOf(type: string, key: string, { x, group, replicate }: RunFields): Record<string, string> {
  const best = `metric:${encodeURIComponent(key.toWellFormed())}:best`;
  switch (type) {
    case LINE:
      return {};
    case "scatter":
      return { x_field: x ?? "run:duration_seconds", y_field: best };
    case "distribution":
      return {
        value_field: best,
        ...(group === undefined ? {} : { group_field: group }),
        ...(replicate === undefined ? {} : { replicate_field: replicate }),
      };
    default:
      return { value_field: best };
  }
}

/** Fields of runs by which panels arrange them; absent where no field fits. */
type RunFields = {
  /** A number that differs among the runs. */
  readonly x?: string;
  /** A text or truth value with a few different values. */
  readonly group?: string;
  /** The seed of the runs. */
  readonly replicate?: string;
};

/** Larger documents are not looked at, nor more of their members. */
const CONFIG_BYTES_MAX = 16 * 1024;
const LEAVES_MAX = 200;
const DEPTH_MAX = 4;

/** How many different values make a group. */
const GROUP_VALUES = { min: 2, max: 12 };

const SEED_SHAPE = /(?:^|[/_.-])seed$/i;

const utf8 = new TextDecoder();

/** Chooses the fields of the config of runs that fit, the first ones by their place in it. */
export function chooseFields(runs: readonly Run[]): RunFields {
  const values = new Map<string, unknown[]>();
  for (const { configJson } of runs) {
    if (configJson.length > CONFIG_BYTES_MAX) continue;
    for (const [pointer, value] of leavesOf(JSON.parse(utf8.decode(configJson)) as unknown)) {
      const known = values.get(pointer);
      if (known === undefined) values.set(pointer, [value]);
      else known.push(value);
    }
  }
  const find = (fits: (pointer: string, found: readonly unknown[]) => boolean): string | undefined => {
    for (const [pointer, found] of values) if (fits(pointer, found)) return `config:${encodeURIComponent(pointer)}`;
    return undefined;
  };
  const x = find((pointer, found) => !SEED_SHAPE.test(pointer) && isAll(found, "number") && new Set(found).size > 1);
  const group =
    find((_, found) => (isAll(found, "string") || isAll(found, "boolean")) && isGroup(found)) ?? groupOfRun(runs);
  const replicate = find((pointer, found) => SEED_SHAPE.test(pointer) && found.every((value) => !isObject(value)));
  return {
    ...(x === undefined ? {} : { x }),
    ...(group === undefined ? {} : { group }),
    ...(replicate === undefined ? {} : { replicate }),
  };
}

function groupOfRun(runs: readonly Run[]): string | undefined {
  if (isGroup(runs.flatMap(({ tags }) => tags.slice(0, 1)))) return "run:first_tag";
  return isGroup(runs.map(({ status }) => status)) ? "run:status" : undefined;
}

function isAll(values: readonly unknown[], type: "number" | "string" | "boolean"): boolean {
  return values.every((value) => typeof value === type);
}

function isGroup(values: readonly unknown[]): boolean {
  const { size } = new Set(values);
  return size >= GROUP_VALUES.min && size <= GROUP_VALUES.max;
}

/** Returns the members of a document that are not objects or lists, by their JSON pointers (RFC 6901). */
function leavesOf(document: unknown): [string, unknown][] {
  const leaves: [string, unknown][] = [];
  const walk = (value: unknown, pointer: string, depth: number): void => {
    if (leaves.length >= LEAVES_MAX || depth > DEPTH_MAX || Array.isArray(value)) return;
    if (!isObject(value)) {
      leaves.push([pointer, value]);
      return;
    }
    for (const [key, member] of Object.entries(value)) {
      if (key.isWellFormed()) walk(member, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1);
    }
  };
  walk(document, "", 0);
  return leaves;
}
