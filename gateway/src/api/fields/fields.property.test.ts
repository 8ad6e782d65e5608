import { describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { allRoutes } from "../index.ts";
import { freeObject } from "./document.ts";
import { boolean, list, object, optional, readField, someOf, withDefault, type Field } from "./field.ts";
import { integer, limit, number, offset, queryFlag, queryNumber, step } from "./number.ts";
import {
  maybeBlankText,
  querySearch,
  queryText,
  searchText,
  text,
  textOrAbsent,
  textOrEmpty,
  uuid,
  word,
} from "./text.ts";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
formats.default(ajv);

const RUNS = 400;
const NIL = "00000000-0000-0000-0000-000000000000";

/** Characters that trimming, patterns and storage treat differently. */
const character = fc.constantFrom(
  "a",
  "Z",
  "0",
  " ",
  "\t",
  "\n",
  "\u0000",
  "\u0085",
  "\u00a0",
  "\u001c",
  "\ufeff",
  "é",
  "😀",
  "{",
  "-",
);
const someText = fc.oneof(
  fc.string({ unit: character, maxLength: 6 }),
  fc
    .tuple(
      fc.string({ unit: character, maxLength: 2 }),
      fc.integer({ min: 509, max: 515 }),
      fc.constantFrom("x", " ", ""),
    )
    .map(([start, count, end]) => `${start}${"b".repeat(count)}${end}`),
  fc.constantFrom("create", "auto", "true", "1", "0", "1001", "-1", "1.5", " 5 ", "1e400", "0x10"),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.constantFrom(NIL, `{${NIL}}`),
);
const someNumber = fc.oneof(
  fc.constantFrom(-0, 0, 1, 5, 6, -1, 1.5, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e300, Number.POSITIVE_INFINITY),
  fc.double({ noNaN: true }),
);
const anyValue = fc.oneof(
  someText,
  someNumber,
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(someText, someNumber, fc.constant(null)), { maxLength: 4 }),
  fc.dictionary(
    fc.constantFrom("name", "step", "tags", "a\u0000", "other"),
    fc.oneof(someText, someNumber, fc.constant(null)),
  ),
);

/** Why a value is refused; undefined when it is read. */
function refusalOf(field: Field<unknown>, value: unknown): string | undefined {
  try {
    readField(field, { f: value }, "f");
    return undefined;
  } catch (error) {
    if (isAppError(error)) return error.message;
    throw error;
  }
}

/** A schema counts characters where the reader counts bytes of UTF-8, and says nothing of what is deep in a document. */
const beyondSchemas = /must have at most \d+ bytes|contains a number out of range/;

const bodyFields: [string, Field<unknown>][] = [
  ["text", text()],
  ["maybeBlankText", maybeBlankText()],
  ["optional text", optional(text())],
  ["textOrEmpty", textOrEmpty()],
  ["textOrAbsent", textOrAbsent()],
  ["searchText", searchText()],
  ["word", word(["create", "auto"])],
  ["optional word", optional(word(["create", "auto"]))],
  ["uuid", uuid()],
  ["optional uuid", optional(uuid())],
  ["boolean", boolean()],
  ["number", number()],
  ["number in a range", number({ min: 0, max: 5 })],
  ["step", step()],
  ["integer", integer()],
  ["integer in a range", optional(integer({ min: 1, max: 5 }))],
  ["list", list(text(), { itemsMin: 1, itemsMax: 3 })],
  ["optional list", withDefault(list(uuid()), [])],
  ["freeObject", freeObject({ unstorable: "replace" })],
  ["object", object({ name: optional(text()), step: step(), tags: optional(text()) })],
];

describe("a field of a body is read exactly when its schema accepts it", () => {
  test.each(bodyFields)("%s", (_, field) => {
    const validate = ajv.compile(field.schema);
    fc.assert(
      fc.property(anyValue, (value) => {
        const refusal = refusalOf(field, value);
        if (refusal !== undefined && beyondSchemas.test(refusal)) return;
        expect([value, refusal]).toEqual([value, validate(value) ? undefined : expect.any(String)]);
      }),
      { numRuns: RUNS, seed: 1 },
    );
  });

  test("an absent one exactly when it is not required", () => {
    for (const [name, field] of bodyFields) {
      let isRequired = false;
      try {
        field.absent("f");
      } catch {
        isRequired = true;
      }
      expect([name, isRequired]).toEqual([name, field.required]);
    }
  });
});

const queryFields: [string, Field<unknown>][] = [
  ["text", textOrEmpty()],
  ["queryText", queryText()],
  ["querySearch", querySearch("")],
  ["queryFlag", queryFlag()],
];

describe("a parameter of a query is read exactly when its schema accepts it", () => {
  test.each(queryFields)("%s", (name, field) => {
    const validate = ajv.compile(field.schema);
    fc.assert(
      fc.property(someText, (value) => {
        // The parser of queries refuses NUL before any field is read, except in `q`.
        const refusal = name !== "querySearch" && value.includes("\0") ? "NUL" : refusalOf(field, value);
        if (refusal !== undefined && beyondSchemas.test(refusal)) return;
        expect([value, refusal]).toEqual([value, validate(value) ? undefined : expect.any(String)]);
      }),
      { numRuns: RUNS, seed: 1 },
    );
  });

  test.each<[string, Field<unknown>]>([
    ["limit", limit({ default: 100, max: 1000 })],
    ["offset", offset()],
    ["queryNumber", queryNumber({ min: 0 })],
  ])("%s, which a schema describes as the number behind the text", (_, field) => {
    const validate = ajv.compile(field.schema);
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -5, max: 1005 }), fc.constantFrom(2 ** 53, 1e21)), (value) => {
        const refusal = refusalOf(field, String(value));
        // JSON's notation of a large whole number has an exponent, which does not count as a whole number in a query.
        if (refusal !== undefined && String(value).includes("e")) return;
        expect([value, refusal]).toEqual([value, validate(value) ? undefined : expect.any(String)]);
      }),
      { numRuns: RUNS, seed: 1 },
    );
  });
});

test("at least one of some fields must be present and not null", () => {
  const validate = ajv.compile({ type: "object", ...someOf("a", "b") });
  expect([{}, { a: null }, { c: 1 }, { a: 1 }, { b: "", a: null }].map((value) => validate(value))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
});

describe("a JSON Schema validator takes the schemas of", () => {
  test.each(allRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", (_, { schemas }) => {
    const { query = {}, body = {}, response } = schemas;
    for (const schema of [query, body, response]) ajv.compile(schema);
    expect(response).toBeDefined();
  });
});
