import { doubleOf, eachField, textOf, type WireField } from "../bytes/wire-fields.ts";
import type { JsonObject, JsonValue, RunStatus } from "../items.ts";
import { JSON_DEPTH_MAX, jsonNumber, jsonObject } from "../json.ts";

/** The data of the plugin `hparams` about a run. Times in milliseconds since 1970. */
export type SessionInfo = {
  readonly config?: JsonObject;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly status?: RunStatus;
  readonly group?: string;
};

/** `Status` of tensorboard/plugins/hparams/api.proto. */
const statuses: Readonly<Record<number, RunStatus>> = { 1: "finished", 2: "failed", 3: "running" };

/** Reads `HParamsPluginData`: hyperparameters and start of a session, or its end. */
export function readSessionInfo(pluginData: Buffer): SessionInfo {
  let info: SessionInfo = {};
  eachField(pluginData, ({ number, wire, bytes }) => {
    if (wire === 2 && number === 3) info = { ...info, ...readStart(bytes) };
    else if (wire === 2 && number === 4) info = { ...info, ...readEnd(bytes) };
  });
  return info;
}

function readStart(message: Buffer): SessionInfo {
  const hparams = new Map<string, JsonValue>();
  let [startedAt, group] = [0, ""];
  eachField(message, (field) => {
    if (field.number === 1 && field.wire === 2) readEntry(field.bytes, hparams, 0);
    else if (field.number === 4 && field.wire === 2) group = textOf(field);
    else if (field.number === 5) startedAt = doubleOf(field) * 1000;
  });
  return {
    config: jsonObject(hparams),
    ...(startedAt > 0 && Number.isFinite(startedAt) ? { startedAt } : {}),
    ...(group === "" ? {} : { group }),
  };
}

function readEnd(message: Buffer): SessionInfo {
  let [status, finishedAt] = [0, 0];
  eachField(message, (field) => {
    if (field.number === 1 && field.wire === 0) status = field.int;
    else if (field.number === 2) finishedAt = doubleOf(field) * 1000;
  });
  return {
    ...(statuses[status] === undefined ? {} : { status: statuses[status] }),
    ...(finishedAt > 0 && Number.isFinite(finishedAt) ? { finishedAt } : {}),
  };
}

/** Reads an entry of a map of texts to `google.protobuf.Value`. */
function readEntry(message: Buffer, entries: Map<string, JsonValue>, depth: number): void {
  let key = "";
  let value: JsonValue = null;
  eachField(message, (field) => {
    if (field.number === 1 && field.wire === 2) key = textOf(field);
    else if (field.number === 2 && field.wire === 2) value = readValue(field.bytes, depth);
  });
  entries.set(key, value);
}

function readValue(message: Buffer, depth: number): JsonValue {
  let value: JsonValue = null;
  eachField(message, (field) => {
    if (field.number === 2) value = jsonNumber(doubleOf(field));
    else if (field.number === 4 && field.wire === 0) value = field.int !== 0;
    else if (field.wire !== 2) return;
    else if (field.number === 3) value = textOf(field);
    else if (depth < JSON_DEPTH_MAX) value = readNested(field, depth + 1) ?? value;
  });
  return value;
}

function readNested({ number, bytes }: WireField, depth: number): JsonValue | undefined {
  if (number === 5) {
    const entries = new Map<string, JsonValue>();
    eachField(bytes, (field) => {
      if (field.number === 1 && field.wire === 2) readEntry(field.bytes, entries, depth);
    });
    return jsonObject(entries);
  }
  if (number !== 6) return undefined;
  const values: JsonValue[] = [];
  eachField(bytes, (field) => {
    if (field.number === 1 && field.wire === 2) values.push(readValue(field.bytes, depth));
  });
  return values;
}
