import fc from "fast-check";
import type { SearchedRun } from "./search-evaluator.fixture.ts";
import { QUERY_BYTES_MAX, REGEXES_MAX } from "./words.rules.ts";

const FIELDS = ["", "all:", "name:", "project:", "notes:", "config:", "metadata:"] as const;
const STATUSES = ["running", "stopping", "stopped", "finished", "failed"] as const;

/**
 * Returns queries that find some of the runs and not others, because they are made of pieces of them.
 * Every query is accepted: it is within all limits, and its regular expressions are valid in every
 * engine. A few queries are incomplete.
 */
export function searchText(runs: readonly SearchedRun[]): fc.Arbitrary<string> {
  const term = termOf(runs);
  const { query } = fc.letrec<{ query: string }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 2, arbitrary: term },
      fc.tuple(tie("query"), fc.constantFrom(" ", " AND ", " OR "), tie("query")).map((parts) => parts.join("")),
      fc.tuple(tie("query"), tie("query")).map(([left, right]) => `(${left} OR ${right})`),
      tie("query").map((inner) => `-(${inner})`),
      term.map((inner) => `NOT ${inner}`),
    ),
  }));
  return fc
    .oneof(
      { weight: 20, arbitrary: query },
      query.map((text) => `${text} AND`),
      query.map((text) => `(${text}`),
    )
    .filter((text) => Buffer.byteLength(text) <= QUERY_BYTES_MAX && text.split("re:/").length <= REGEXES_MAX + 1);
}

function termOf(runs: readonly SearchedRun[]): fc.Arbitrary<string> {
  const piece = pieceOf(runs.flatMap(textsOf));
  const field = fc.constantFrom(...FIELDS);
  const tags = runs.flatMap((run) => run.tags).filter((tag) => Buffer.byteLength(tag) < 100);
  const tag = fc.oneof(inAnyCase(fc.constantFrom("a", ...tags)), piece);
  const status = fc.constantFrom(...STATUSES).map((value) => `status:${value}`);
  const id = fc
    .tuple(inAnyCase(fc.constantFrom(...runs.map((run) => run.id))), fc.integer({ min: 4, max: 36 }))
    .map(([value, length]) => `id:${value.slice(0, length)}`);
  const filter = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.constantFrom("config.lr", "config.seed", "config.a", "config.a.b", "config.b", "metrics.k", "attributes.a"),
      fc.constantFrom("<", "<=", ">", ">=", "=", "!="),
      fc.oneof(fc.constantFrom("0.1", "1", "13", "1e21", '""'), piece.map(quoted)),
    )
    .map((parts) => parts.join(""));
  return fc.oneof(
    { weight: 3, arbitrary: filter },
    { weight: 6, arbitrary: fc.tuple(field, piece).map(([prefix, text]) => prefix + written(text)) },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom("tag:", "tags:"), tag).map(([prefix, text]) => prefix + written(text)),
    },
    status,
    id,
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...FIELDS, "tag:", "status:"), patternOf(piece))
        .map(([prefix, pattern]) => `${prefix}re:/${pattern.replaceAll("/", String.raw`\/`)}/`),
    },
  );
}

/** Returns the texts that pieces are cut from: each text of a run, its decoded notes, and its joined summary. */
function textsOf(run: SearchedRun): string[] {
  const metadata = JSON.parse(run.metadata) as Record<string, unknown>;
  const notes = Object.values(metadata).filter((value) => typeof value === "string" && value !== "") as string[];
  const joined = `${run.project} ${run.name} ${run.tags.join(" ")} ${run.status} ${run.id} ${run.displayStatus}`;
  return [run.project, run.name, run.config, run.metadata, joined, run.displayStatus, ...run.tags, ...notes];
}

/** Returns 1 to 10 characters of one of the texts, from anywhere or near its end, in any case, never blank. */
function pieceOf(texts: readonly string[]): fc.Arbitrary<string> {
  const indexes = fc.oneof(fc.nat(), fc.integer({ min: -80, max: -1 }));
  const piece = fc
    .tuple(
      fc.constantFrom(...texts.map((text) => Array.from(text.toWellFormed()))),
      indexes,
      fc.integer({ min: 1, max: 10 }),
    )
    .map(([chars, index, length]) => {
      const start = index < 0 ? Math.max(0, chars.length + index) : index % chars.length;
      return chars.slice(start, start + length).join("");
    });
  return inAnyCase(piece).map((text) => (text.trim() === "" ? `${text}a` : text));
}

function inAnyCase(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(text, fc.constantFrom("as it is", "lower", "upper")).map(([value, how]) => {
    if (how === "as it is") return value;
    return value.replace(/[a-z]/gi, (letter) => (how === "lower" ? letter.toLowerCase() : letter.toUpperCase()));
  });
}

/** Returns a text as a word if that is safe, otherwise as a phrase. */
function written(text: string): string {
  if (/^[\p{L}\p{N}_%][\p{L}\p{N}_%.'"\\/-]*$/u.test(text)) return text;
  return quoted(text);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;
}

/** Returns patterns that contain a piece; empty text matches none of them. */
function patternOf(piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const literal = piece.map((text) =>
    Array.from(text.replaceAll("\0", ""))
      .slice(0, 5)
      .join("")
      .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
  );
  const some = literal.map((text) => text || "a");
  return fc.oneof(
    some,
    some.map((text) => `^${text}`),
    some.map((text) => `${text}$`),
    some.map((text) => `.${text}+`),
    some.map((text) => String.raw`[^a]${text}|\d[ks]`),
    fc.tuple(some, some).map(([left, right]) => `${left}.*${right}`),
    fc.tuple(some, some).map(([left, right]) => `(?:${left}|${right})`),
  );
}
