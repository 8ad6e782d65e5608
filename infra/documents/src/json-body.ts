import { isUtf8 } from "node:buffer";
import { badRequest, type AppError } from "@tidemark/errors";
import { isExactNumber, parseKeeping, type KeptNumbers } from "@tidemark/values";
import { finishInTurns } from "@tidemark/work";
import { parseInSlices } from "./sliced-json.ts";

/** Deepest nesting of a body; its own braces are level 1. */
export const BODY_DEPTH_MAX = 64;

/** Which numbers of a body keep their digits: none, integers beyond 2^53, or all whose digits JavaScript would change, such as `1.0`. */
export type ExactNumbers = boolean | Extract<KeptNumbers, "every digit">;

/**
 * Parses a JSON body. Numbers that keep their digits become `JSON.rawJSON` values, which
 * `JSON.stringify` writes back digit for digit. Numbers beyond double range arrive as infinite. With `bareTokens` NaN, Infinity and
 * -Infinity, as Python writes them, are values that `nonFiniteOf` reads.
 * @throws bad_request for invalid UTF-8 or JSON, anything except an object, nesting above 64, and keys
 * that could reach an object's prototype (`__proto__`, `constructor` with `prototype`)
 */
export function parseJsonObject(
  bytes: Buffer,
  exactNumbers: ExactNumbers,
  bareTokens = false,
): Readonly<Record<string, unknown>> {
  const value = parse(bytes, { exactNumbers, bareTokens });
  if (!isNested(value) || Array.isArray(value)) throw badRequest("the body must be a JSON object");
  checkShape(value, 1);
  return value as Record<string, unknown>;
}

/** Most objects and lists of a body unless said, and keys of one object: each costs a hundred times its bytes on the wire. */
const BODY_CONTAINERS_MAX = 100_000;
const OBJECT_KEYS_MAX = 50_000;

/**
 * Parses as `parseJsonObject` does, in turns with other work of the process: for bodies that would block it. The bytes must not change until it resolves.
 * @throws bad_request as there
 */
export async function parseJsonObjectInTurns(
  bytes: Buffer,
  exactNumbers: ExactNumbers,
  { bareTokens = false, containersMax = BODY_CONTAINERS_MAX } = {},
): Promise<Readonly<Record<string, unknown>>> {
  if (!isUtf8(bytes)) throw badRequest("the body is not valid UTF-8");
  let containers = 0;
  const slices = parseInSlices(bytes, {
    parse: (piece, before, after) => parseText(piece, { exactNumbers, bareTokens }, before, after),
    check: checkShape,
    opened(depth) {
      containers += 1;
      if (depth > BODY_DEPTH_MAX) throw tooDeep();
      if (containers > containersMax) throw badRequest(`the body has more than ${containersMax} objects and lists`);
    },
    keyed(keys) {
      if (keys > OBJECT_KEYS_MAX) throw badRequest(`an object of the body has more than ${OBJECT_KEYS_MAX} keys`);
    },
  });
  try {
    const value = await finishInTurns(slices);
    if (Array.isArray(value)) throw badRequest("the body must be a JSON object");
    return value as Record<string, unknown>;
  } catch (cause) {
    throw refusalOf(cause);
  }
}

/**
 * Parses JSON that this product wrote itself, an object or a list, in turns with other work of the process. There are no checks. The bytes must not change
 * until it resolves.
 * @throws SyntaxError
 */
export function parseOwnJsonInTurns(bytes: Buffer): Promise<unknown> {
  const nothing = (): void => {};
  const parsePiece = (piece: Buffer, before: string, after: string): unknown => parseText(piece, OWN, before, after);
  return finishInTurns(parseInSlices(bytes, { parse: parsePiece, check: nothing, opened: nothing, keyed: nothing }));
}

/** How the values of a body are read. */
type Values = { readonly exactNumbers: ExactNumbers; readonly bareTokens: boolean };

const OWN: Values = { exactNumbers: false, bareTokens: false };

function parse(bytes: Buffer, values: Values): unknown {
  if (!isUtf8(bytes)) throw badRequest("the body is not valid UTF-8");
  try {
    return parseText(bytes, values, "", "");
  } catch (cause) {
    throw refusalOf(cause);
  }
}

function parseText(bytes: Buffer, { exactNumbers, bareTokens }: Values, before: string, after: string): unknown {
  const kept = exactNumbers === true ? "long integers" : exactNumbers === false ? "nothing" : exactNumbers;
  try {
    if (kept === "nothing") return JSON.parse(before + bytes.toString("utf8") + after);
    return parseKeeping(bytes, kept, { before, after });
  } catch (cause) {
    // Only a body that is not JSON can have the tokens, so bodies without them cost nothing more.
    if (!bareTokens || !(cause instanceof SyntaxError)) throw cause;
    return parseKeeping(bytes, kept, { bareTokens, before, after });
  }
}

/** The engine's message quotes the body, which may contain anything. */
function refusalOf(cause: unknown): unknown {
  return cause instanceof SyntaxError ? badRequest("the body is not valid JSON") : cause;
}

function checkShape(value: object, depth: number): void {
  if (depth > BODY_DEPTH_MAX) throw tooDeep();
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[]) if (isNested(part)) checkShape(part, depth + 1);
    return;
  }
  // Objects of JSON.parse inherit nothing enumerable, so this visits exactly the keys that were sent.
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key];
    if (key === "__proto__" || (key === "constructor" && isNested(part) && Object.hasOwn(part, "prototype"))) {
      throw badRequest(`the key ${key} is not allowed`);
    }
    if (isNested(part)) checkShape(part, depth + 1);
  }
}

function tooDeep(): AppError {
  return badRequest(`the body is nested deeper than ${BODY_DEPTH_MAX} levels`);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isExactNumber(value);
}
