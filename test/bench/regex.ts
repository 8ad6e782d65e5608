/**
 * How fast patterns are searched: `npm run bench -- regex [megabytes]` (16 by default). Every pattern reads that many
 * megabytes of texts of 32 KiB, none twice, so nothing is warm that would not be in use, but for at most five seconds. CPU
 * time of the process, the better of two rounds.
 */
import { compileRegex, type Regex } from "@tidemark/regex";

const TEXT_LENGTH = 32 * 1024;
const SECONDS_MAX = 5;
const megabytes = Number(process.argv[3] ?? 16);
const texts = Math.max(1, Math.round((megabytes * 1024 * 1024) / TEXT_LENGTH));

/** A linear congruential generator, so that every run reads the same texts. */
let seed = 1;
function below(limit: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function textsOf(piece: () => string): string[] {
  return Array.from({ length: texts }, () => {
    const pieces: string[] = [];
    for (let length = 0; length < TEXT_LENGTH; length += pieces.at(-1)!.length) pieces.push(piece());
    // Through UTF-8, as a text comes from a database: flat, and of one byte per character where that is enough.
    return Buffer.from(pieces.join("").slice(0, TEXT_LENGTH)).toString();
  });
}

const pick = (of: string) => of[below(of.length)]!;
const notes = ["diverged at step", "loss is nan", "resumed from checkpoint", "cuda error: out of memory", "ok"];
const kinds: Readonly<Record<string, () => string>> = {
  json: () =>
    `{"lr":0.00${below(1000)},"seed":${below(9999)},"model":{"name":"resnet-${below(200)}","layers":${below(99)}},` +
    `"optimizer":"adam","notes":"run ${below(1000)} ${notes[below(notes.length)]} ${below(100_000)}"},`,
  "random a, b": () => pick("ab"),
  "mostly a, b": () => (below(60) === 0 ? pick("c ") : pick("ab")),
  words: () => `${pick("abcdefgh")}${pick("abcdefgh_019")}${pick("abc ")}`,
  "not ASCII": () => pick("éаж日本語ü я"),
  astral: () => (below(2) === 0 ? "😀" : "𝒳a"),
};

const typical: readonly [pattern: string, kind: string][] = [
  ["diverged.*inf", "json"],
  ["resnet-[0-9]+x", "json"],
  ['"seed":1[0-9]{4}', "json"],
  ["\\bfoo\\w+", "json"],
  ["(?:adamw|sgd|rmsprop)", "json"],
  ["cuda.{0,200}nccl", "json"],
  ["(?:\\d{1,3}\\.){3}\\d{1,3}", "json"],
  ["[0-9a-f]{64}", "json"],
  ["^.*nan$", "json"],
  ["(?:\\w+ ){3,8}zz", "json"],
  ["error (?:\\w+ ){1,100}failed", "words"],
  ["é.*xyz", "not ASCII"],
  ["\\pL{100}!", "not ASCII"],
  ["\\x{1F600}b", "astral"],
];

const adversarial: readonly [pattern: string, kind: string][] = [
  ["[0-9]{1,3}.{0,80}error.{0,80}[0-9]{3}x", "json"],
  ["x[^q]{60}y[^q]{30}q", "words"],
  ["(?:a|ab|abc|abcd){100}z", "mostly a, b"],
  ["a (?:\\w+ ){1,100}zz", "words"],
  ["a(?:.\\w){55}z", "words"],
  ["[ab]*a[ab]{20}c", "random a, b"],
  ["[ab]*a[ab]{1000}c", "random a, b"],
  ["[ab]*a(?:|[ab]{30}){9}\\W{2,9}zz", "random a, b"],
  ["a.{0,300}b.{0,300}c.{0,300}[ab].{0,300}\\n", "words"],
];

type Round = { readonly seconds: number; readonly characters: number };

function secondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Reads the texts one by one until they end or the time does. */
function readTexts(regex: Regex, list: readonly string[]): Round {
  const before = process.cpuUsage();
  let characters = 0;
  for (const text of list) {
    regex.test(text);
    characters += text.length;
    if (secondsSince(before) > SECONDS_MAX) break;
  }
  return { seconds: secondsSince(before), characters };
}

function measure(pattern: string, kind: string, list: readonly string[]): string {
  const before = process.cpuUsage();
  compileRegex(pattern);
  const compiling = secondsSince(before);
  // A new one for each round: what states cost to make belongs to it.
  const nanoseconds = Math.min(
    ...[0, 1].map(() => {
      const { seconds, characters } = readTexts(compileRegex(pattern), list);
      return (seconds * 1e9) / characters;
    }),
  );
  const all = (nanoseconds * 128 * 1024 * 1024) / 1e9;
  return (
    `${pattern.padEnd(46)} ${kind.padEnd(12)} ${nanoseconds.toFixed(1).padStart(8)} ns/char ` +
    `${(1000 / nanoseconds).toFixed(1).padStart(6)} M char/s ${all.toFixed(1).padStart(7)} s per 128 Mi ` +
    `${(compiling * 1000).toFixed(0).padStart(4)} ms to compile`
  );
}

for (const [title, cases] of Object.entries({ typical, adversarial })) {
  process.stdout.write(`${title}\n`);
  for (const [pattern, kind] of cases) process.stdout.write(`  ${measure(pattern, kind, textsOf(kinds[kind]!))}\n`);
}
