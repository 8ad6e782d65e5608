import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { badRequest, isAppError } from "@tidemark/errors";
import { isExactNumber, parseKeeping } from "@tidemark/values";
import { finishInTurns } from "@tidemark/work";
import {
  exactDecimal,
  quote,
  readDocument,
  requireDepth,
  sortedKeys,
  writeCanonical,
  type ExactJson,
  type ExactObject,
} from "./exact-json.ts";
import { parseInSlices } from "./sliced-json.ts";

/*
 * Documents of a client in turns with other work of the process: a config of a megabyte takes some 50 ms to be read, to be written and to be compared, each.
 */

/** Up to this size a document takes less than two milliseconds. */
const SMALL_BYTES = 32 * 1024;

/** Units written without a break: values, and texts by their length. */
const UNITS_MAX = 1000;
const UNIT_CHARACTERS = 64;

const OPEN_OBJECT = 0x7b;

/** Reads as `readDocument` does, a large document in turns. The bytes must not change until it resolves. @throws bad_request as there, deadline_exceeded */
export async function readDocumentInTurns(bytes: Uint8Array, field: string): Promise<ExactObject> {
  if (bytes.length <= SMALL_BYTES || bytes[0] !== OPEN_OBJECT) return readDocument(bytes, field);
  const beyondRange = (): never => {
    throw badRequest(`${field} contains a number out of range`, field);
  };
  const nothing = (): void => {};
  try {
    if (!isUtf8(bytes)) throw badRequest(`${field} must be JSON`, field);
    const slices = parseInSlices(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      parse: (piece, before, after) => parseKeeping(piece, "every digit", { beyondRange, before, after }),
      check: nothing,
      opened: (depth) => requireDepth(depth - 1),
      keyed: nothing,
    });
    return (await finishInTurns(slices)) as ExactObject;
  } catch (error) {
    throw isAppError(error) ? error : badRequest(`${field} must be JSON`, field);
  }
}

/** Reads a document and returns it as `writeCanonical` writes it, in turns. @throws bad_request, deadline_exceeded */
export async function canonicalInTurns(bytes: Uint8Array, field: string): Promise<string> {
  return writeCanonicalInTurns(await readDocumentInTurns(bytes, field));
}

/** Writes as `writeCanonical` does, in turns. @throws bad_request as there, deadline_exceeded */
export function writeCanonicalInTurns(value: ExactJson): Promise<string> {
  return finishInTurns(canonicalSteps(value));
}

/** Returns the result of `fingerprintOf`, in turns. @throws bad_request as there, deadline_exceeded */
export async function fingerprintInTurns(value: ExactJson): Promise<Uint8Array> {
  const text = await finishInTurns(canonicalSteps(value, exactDecimal));
  return createHash("sha256").update(text).digest();
}

/** Writes as `writeCanonical` does, and yields after each `unitsMax` written units. */
export function canonicalSteps(
  value: ExactJson,
  number: (digits: string) => string = (digits) => digits,
  unitsMax = UNITS_MAX,
): Generator<void, string> {
  return writeInSteps(
    value,
    { keys: sortedKeys, part: (part, depth) => writeCanonical(part, number, depth) },
    unitsMax,
  );
}

/** How a value is written in steps: which keys an object has, in which order, and the JSON of a part that is not large, at its depth. */
export type PartWriter = {
  readonly keys: (object: ExactObject) => readonly string[];
  readonly part: (part: ExactJson, depth: number) => string;
};

/** Writes a value as JSON, and yields after each `unitsMax` written units. @throws bad_request for one that is nested too deep */
export function* writeInSteps(value: ExactJson, writer: PartWriter, unitsMax = UNITS_MAX): Generator<void, string> {
  let units = 0;
  function* write(part: ExactJson, depth: number): Generator<void, string> {
    const weight = weigh(part, unitsMax);
    if (weight <= unitsMax || part === null || typeof part !== "object") {
      units += weight;
      if (units > unitsMax) {
        units = 0;
        yield;
      }
      return writer.part(part, depth);
    }
    requireDepth(depth);
    if (Array.isArray(part)) {
      let items = "";
      for (const item of part as readonly ExactJson[])
        items += `${items === "" ? "" : ","}${yield* write(item, depth + 1)}`;
      return `[${items}]`;
    }
    let members = "";
    for (const key of writer.keys(part as ExactObject)) {
      const member = yield* write((part as ExactObject)[key] as ExactJson, depth + 1);
      members += `${members === "" ? "" : ","}${quote(key)}:${member}`;
    }
    return `{${members}}`;
  }
  return yield* write(value, 0);
}

/** Returns the units of a value, or some number above `unitsMax`; counts no further. */
function weigh(value: ExactJson, unitsMax: number): number {
  if (typeof value === "string") return 1 + value.length / UNIT_CHARACTERS;
  if (value === null || typeof value !== "object") return 1;
  if (isExactNumber(value)) return 1 + value.rawJSON.length / UNIT_CHARACTERS;
  let units = 1;
  if (Array.isArray(value)) {
    for (const item of value as readonly ExactJson[]) {
      units += weigh(item, unitsMax - units);
      if (units > unitsMax) return units;
    }
    return units;
  }
  const members = value as ExactObject;
  for (const key in members) {
    units += key.length / UNIT_CHARACTERS + weigh(members[key]!, unitsMax - units);
    if (units > unitsMax) return units;
  }
  return units;
}
