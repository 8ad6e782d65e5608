import { doubleOf, eachField, textOf, type WireField } from "../bytes/wire-fields.ts";
import type { JsonObject, JsonValue } from "../items.ts";
import { jsonInteger, jsonNumber, readPythonJson } from "../json.ts";
import type { Warnings } from "../warnings.ts";

// The numbers of the fields are those of wandb/proto/wandb_internal.proto (0.15 to 0.31).

/** A value at a path of keys, or its removal. */
export type KeyedItem = { readonly path: readonly string[]; readonly value: JsonValue | undefined };

/** The content of a record, as far as it is read. Times in milliseconds since 1970. */
export type WandbRecord =
  | { readonly type: "run"; readonly run: RunRecord }
  | { readonly type: "history"; readonly items: readonly KeyedItem[]; readonly step: number }
  | { readonly type: "summary"; readonly items: readonly KeyedItem[] }
  | { readonly type: "config"; readonly items: readonly KeyedItem[] }
  | { readonly type: "stats"; readonly items: readonly KeyedItem[]; readonly time: number }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly time: number; readonly text: string }
  | { readonly type: "artifact"; readonly artifact: ArtifactRecord }
  | { readonly type: "environment"; readonly metadata: JsonObject }
  | { readonly type: "exit"; readonly exitCode: number }
  /** A record without content that a run keeps. */
  | { readonly type: "other" };

export type RunRecord = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly notes: string;
  readonly tags: readonly string[];
  readonly config: readonly KeyedItem[];
  readonly startedAt: number;
  readonly metadata: JsonObject;
  readonly branch?: { readonly run: string; readonly value: number; readonly metric: string };
};

export type ArtifactRecord = {
  readonly name: string;
  readonly type: string;
  readonly aliases: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly digest: string;
    readonly ref: string;
    readonly size: number;
  }[];
};

/** Reads a `Record`. Damaged parts are counted, and the rest is read. */
export function readRecord(bytes: Buffer, warnings: Warnings): WandbRecord {
  let record: WandbRecord = { type: "other" };
  const whole = eachField(bytes, (field) => {
    if (field.wire === 2) record = readKnown(field, warnings) ?? record;
  });
  if (!whole) warnings.add("damaged", "a record");
  return record;
}

function readKnown({ number, bytes }: WireField, warnings: Warnings): WandbRecord | undefined {
  switch (number) {
    case 2:
      return { type: "history", ...readHistory(bytes, warnings) };
    case 3:
    case 5:
      return { type: number === 3 ? "summary" : "config", items: readUpdates(bytes, warnings) } as const;
    case 4:
    case 13:
      return readOutput(bytes);
    case 7:
      return readStats(bytes, warnings);
    case 8:
      return { type: "artifact", artifact: readArtifact(bytes) };
    case 17:
      return { type: "run", run: readRun(bytes, warnings) };
    case 18:
      return { type: "exit", exitCode: readInt(bytes, 1) };
    case 26:
      return { type: "environment", metadata: readEnvironment(bytes) };
    default:
      return undefined;
  }
}

/** Returns an integer of a message; 0 if it is absent. */
function readInt(message: Buffer, wanted: number): number {
  let found = 0;
  eachField(message, ({ number, wire, int }) => {
    if (number === wanted && wire === 0) found = int;
  });
  return found;
}

function readHistory(message: Buffer, warnings: Warnings): { items: KeyedItem[]; step: number } {
  const items: KeyedItem[] = [];
  let step = Number.NaN;
  eachField(message, ({ number, wire, bytes }) => {
    if (wire !== 2) return;
    if (number === 1) items.push(readItem(bytes, warnings));
    else if (number === 2) step = readInt(bytes, 1);
  });
  return { items, step };
}

/** Reads updates and removals of a config or a summary. */
function readUpdates(message: Buffer, warnings: Warnings): KeyedItem[] {
  const items: KeyedItem[] = [];
  eachField(message, ({ number, wire, bytes }) => {
    if (wire !== 2) return;
    if (number === 1) items.push(readItem(bytes, warnings));
    else if (number === 2) items.push({ path: readItem(bytes, undefined).path, value: undefined });
  });
  return items;
}

/** Reads an item: a key or a path of keys, and a value as JSON or, in newer files, of its own type. */
function readItem(message: Buffer, warnings: Warnings | undefined): KeyedItem {
  let key = "";
  const nested: string[] = [];
  let value: JsonValue | undefined;
  eachField(message, (field) => {
    if (field.number === 1 && field.wire === 2) key = textOf(field);
    else if (field.number === 2 && field.wire === 2) nested.push(textOf(field));
    else if (field.number > 2) {
      const typed = readTyped(field);
      if (typed !== undefined) value = typed;
    }
  });
  const path = nested.length > 0 ? nested : [key];
  if (value === undefined) warnings?.add("malformed_value", path.join("."));
  return { path, value };
}

function readTyped(field: WireField): JsonValue | undefined {
  if (field.number === 3) return null;
  if (field.number === 4 && field.wire === 0) return field.int !== 0;
  if (field.number === 5 && field.wire === 0) return jsonInteger(signedOf(field));
  if (field.number === 6 && field.wire === 1) return jsonNumber(doubleOf(field));
  if (field.number === 7 && field.wire === 2) return textOf(field);
  if ((field.number === 8 || field.number === 16) && field.wire === 2) return readPythonJson(textOf(field));
  return undefined;
}

/** Returns an integer of the type sint64: the lowest bit is the sign. */
function signedOf({ int, long = BigInt(int) }: WireField): bigint {
  const bits = BigInt.asUintN(64, long);
  return (bits & 1n) === 0n ? bits >> 1n : -(bits >> 1n) - 1n;
}

/** Reads a `google.protobuf.Timestamp`. */
function readTime(message: Buffer): number {
  return readInt(message, 1) * 1000 + readInt(message, 2) / 1_000_000;
}

function readOutput(message: Buffer): WandbRecord {
  let [stream, time, text]: ["stdout" | "stderr", number, string] = ["stderr", Number.NaN, ""];
  eachField(message, (field) => {
    if (field.number === 1 && field.wire === 0) stream = field.int === 1 ? "stdout" : "stderr";
    else if (field.number === 2 && field.wire === 2) time = readTime(field.bytes);
    else if (field.number === 3 && field.wire === 2) text = textOf(field);
  });
  return { type: "output", stream, time, text };
}

function readStats(message: Buffer, warnings: Warnings): WandbRecord {
  const items: KeyedItem[] = [];
  let time = Number.NaN;
  eachField(message, ({ number, wire, bytes }) => {
    if (wire !== 2) return;
    if (number === 2) time = readTime(bytes);
    else if (number === 3) items.push(readItem(bytes, warnings));
  });
  return { type: "stats", items, time };
}

function readRun(message: Buffer, warnings: Warnings): RunRecord {
  const texts = new Map<number, string>();
  const tags: string[] = [];
  const git = new Map<number, string>();
  let config: KeyedItem[] = [];
  let startedAt = Number.NaN;
  let branch: RunRecord["branch"];
  eachField(message, (field) => {
    const { number, wire, bytes } = field;
    if (wire !== 2) return;
    if (number === 4) config = readUpdates(bytes, warnings);
    else if (number === 10) tags.push(textOf(field));
    else if (number === 17) startedAt = readTime(bytes);
    else if (number === 21) readTexts(bytes).forEach((text, part) => git.set(part, text));
    else if (number === 23) branch = readBranch(bytes);
    else texts.set(number, textOf(field));
  });
  const named: readonly (readonly [string, string | undefined])[] = [
    ["entity", texts.get(2)],
    ["group", texts.get(6)],
    ["job_type", texts.get(7)],
    ["sweep", texts.get(12)],
    ["host", texts.get(13)],
    ["git_remote", git.get(1)],
    ["git_commit", git.get(2)],
  ];
  return {
    id: texts.get(1) ?? "",
    project: texts.get(3) ?? "",
    name: texts.get(8) ?? "",
    notes: texts.get(9) ?? "",
    tags,
    config,
    startedAt,
    metadata: Object.fromEntries(named.flatMap(([key, text]) => (text ? [[key, text]] : []))),
    ...(branch === undefined ? {} : { branch }),
  };
}

function readTexts(message: Buffer): Map<number, string> {
  const texts = new Map<number, string>();
  eachField(message, (field) => {
    if (field.wire === 2) texts.set(field.number, textOf(field));
  });
  return texts;
}

function readBranch(message: Buffer): NonNullable<RunRecord["branch"]> {
  const texts = readTexts(message);
  let value = 0;
  eachField(message, (field) => {
    if (field.number === 2) value = doubleOf(field);
  });
  return { run: texts.get(1) ?? "", value, metric: texts.get(3) ?? "" };
}

function readArtifact(message: Buffer): ArtifactRecord {
  const texts = new Map<number, string>();
  const aliases: string[] = [];
  const files: ArtifactRecord["files"][number][] = [];
  eachField(message, (field) => {
    if (field.wire !== 2) return;
    if (field.number === 11) aliases.push(textOf(field));
    else if (field.number !== 12) texts.set(field.number, textOf(field));
    else {
      eachField(field.bytes, ({ number, wire, bytes }) => {
        if (number !== 4 || wire !== 2) return;
        const entry = readTexts(bytes);
        const [path = "", digest = "", ref = ""] = [entry.get(1), entry.get(2), entry.get(3)];
        files.push({ path, digest, ref, size: readInt(bytes, 4) });
      });
    }
  });
  return { type: texts.get(4) ?? "", name: texts.get(5) ?? "", aliases, files };
}

/** Reads what a program ran on; nothing that names a person or a folder. */
function readEnvironment(message: Buffer): JsonObject {
  const names: Readonly<Record<number, string>> = { 1: "os", 2: "python", 12: "host", 18: "gpu", 25: "cuda" };
  const entries: [string, string][] = [];
  eachField(message, (field) => {
    const name = names[field.number];
    if (name !== undefined && field.wire === 2) entries.push([name, textOf(field)]);
  });
  return Object.fromEntries(entries);
}
