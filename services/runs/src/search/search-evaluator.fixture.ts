import type { Filter } from "@tidemark/values/run-search";
import type { DisplayStatus, RunStatus } from "@tidemark/run-state";
import type { RegexField, SearchTree, TextField } from "./tree.rules.ts";

/** The parts of a run that are searched. `config` and `metadata` are compact JSON objects, as they are stored. */
export type SearchedRun = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly config: string;
  readonly status: RunStatus;
  readonly displayStatus: DisplayStatus;
};

/** Returns whether a pattern occurs in a text, in any case. */
export type MatchesRegex = (pattern: string, text: string) => boolean;

/**
 * Returns whether a search finds a run: the rules of the API specification, Run search, written as
 * plainly as possible, to compare the real implementation with.
 */
export function matches(tree: SearchTree, run: SearchedRun, regex: MatchesRegex): boolean {
  switch (tree.kind) {
    case "and":
      return tree.nodes.every((node) => matches(node, run, regex));
    case "or":
      return tree.nodes.some((node) => matches(node, run, regex));
    case "not":
      return !matches(tree.node, run, regex);
    case "text":
      return textsOf(run, tree.field).some((text) => text.includes(tree.text));
    case "tag":
      return searchedTags(run).includes(tree.tag);
    case "status":
      return run.displayStatus === tree.status;
    case "id":
      return run.id.startsWith(tree.prefix);
    case "filter":
      // These runs have neither metrics nor attributes.
      return tree.column.kind === "config" && compares(configValue(run.config, tree.column.path), tree);
    case "regex":
      return textsOf(run, tree.field).some((text) => regex(tree.pattern, text));
  }
}

/** Returns the texts that are searched, each separately. */
function textsOf(run: SearchedRun, field: RegexField): readonly string[] {
  switch (field) {
    case "all":
      return [searched(summary(run)), searched(run.config), searched(run.metadata)];
    case "tag":
      return searchedTags(run);
    case "status":
      return [run.displayStatus];
    default:
      return [searched(textOf(run, field))];
  }
}

function textOf(run: SearchedRun, field: Exclude<TextField, "all">): string {
  return field === "notes" ? notes(run) : run[field];
}

/** Returns the parts of the summary that a run has, joined by single spaces, with the display status if it differs. */
function summary(run: SearchedRun): string {
  const shown = run.displayStatus === run.status ? "" : run.displayStatus;
  const parts = [run.project, run.name, run.tags.join(" "), notes(run), run.status, run.id, shown];
  return parts.filter((part) => part !== "").join(" ");
}

/** Returns the notes in the metadata. U+FFFD replaces characters that no database text can store. */
function notes(run: SearchedRun): string {
  const metadata = JSON.parse(run.metadata) as Record<string, unknown>;
  const texts = ["notes", "note", "description", "summary", "comment"]
    .filter((key) => Object.hasOwn(metadata, key))
    .map((key) => metadata[key])
    .filter((value) => typeof value === "string");
  return texts.join(" ").toWellFormed().replaceAll("\0", "\u{FFFD}");
}

/** Returns the tags that end within the first 32 KiB of all tags joined by spaces. */
function searchedTags(run: SearchedRun): readonly string[] {
  const endOf = (index: number) => Buffer.byteLength(run.tags.slice(0, index + 1).join(" "));
  return run.tags.filter((_tag, index) => endOf(index) <= 32_768).map(lowered);
}

/** Returns the whole characters in the first 32 KiB of a text, with its ASCII letters in lower case. */
function searched(text: string): string {
  // Writes whole characters only.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(32_768));
  return lowered(text.slice(0, read));
}

function lowered(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Returns the value that a config, compact JSON, has at a path: of the key that is the whole path, else of nested keys; undefined: none. */
export function configValue(config: string, path: string): unknown {
  const at = (value: unknown, names: readonly string[]): unknown => {
    if (names.length === 0) return value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    for (let end = names.length; end > 0; end -= 1) {
      const key = names.slice(0, end).join(".");
      const found = Object.hasOwn(value, key)
        ? at((value as Record<string, unknown>)[key], names.slice(end))
        : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return at(JSON.parse(config), path.split("."));
}

/** Whether a value passes a filter: the rules, written as plainly as possible. */
export function compares(value: unknown, { comparison, operand }: Pick<Filter, "comparison" | "operand">): boolean {
  const shown = typeof value === "boolean" ? String(value) : value;
  // The values of tests are doubles.
  const wanted = typeof operand === "object" ? Number(operand.digits) : operand;
  if (typeof shown !== typeof wanted) return false;
  const order =
    typeof shown === "string"
      ? Buffer.compare(Buffer.from(shown), Buffer.from(wanted as string))
      : (shown as number) - (wanted as number);
  switch (comparison) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
  }
}
