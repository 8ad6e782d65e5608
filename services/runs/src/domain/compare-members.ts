import type { TextRow } from "./comparison.ts";
import { openDocument, type Cursor } from "./document-cursor.ts";

/** A row for each top member that some of the stored documents have. */
export function documentRows(prefix: string, documents: readonly string[]): Iterable<TextRow> {
  return memberRows(prefix, documents.map(openDocument));
}

/** A row for each tag that some of the runs have; it is true where a run has it. */
export function tagRows(prefix: string, tags: readonly (readonly string[])[]): Iterable<TextRow> {
  return memberRows(prefix, tags.map(openTags));
}

function openTags(tags: readonly string[]): Cursor {
  const sorted = [...new Set(tags)].toSorted();
  let at = 0;
  return {
    key: () => sorted[at],
    take() {
      at += 1;
      return "true";
    },
  };
}

/** Merges sorted members, one row at a time: whoever reads the rows may stop before the end. */
function* memberRows(prefix: string, cursors: readonly Cursor[]): Iterable<TextRow> {
  for (let key = leastKey(cursors); key !== undefined; key = leastKey(cursors)) {
    const next = key;
    yield { path: prefix + next, values: cursors.map((cursor) => (cursor.key() === next ? cursor.take() : "")) };
  }
}

function leastKey(cursors: readonly Cursor[]): string | undefined {
  let least: string | undefined;
  for (const cursor of cursors) {
    const key = cursor.key();
    if (key !== undefined && (least === undefined || key < least)) least = key;
  }
  return least;
}
