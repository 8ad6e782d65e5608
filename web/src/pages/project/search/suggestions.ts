import { useEffect, useState } from "preact/hooks";
import { call } from "../../../api/client.ts";

/** A text that takes the place of a part of a query. */
export type Suggestion = { readonly text: string; readonly hint: string; readonly from: number; readonly to: number };

const WORDS: readonly (readonly [text: string, hint: string])[] = [
  ["status:running", "runs that have not ended"],
  ["status:finished", "runs that ended well"],
  ["status:failed", "runs that failed or were stopped"],
  ["name:", "part of the name"],
  ["tag:", "has this tag"],
  ["notes:", "part of the notes"],
  ["config:", "text in the config"],
  ["metadata:", "text in the metadata"],
  ["id:", "run ID"],
  ["config.", "config value, such as config.lr<0.1"],
  ["metrics.", "metric, such as metrics.loss.best<=0.2"],
  ["attributes.", "attribute, such as attributes.path!=1"],
  ["re:/", "regular expression: re:/…/"],
  ["AND", "both sides match"],
  ["OR", "either side matches"],
  ["NOT", "what follows does not match"],
];

/** Suggestions that are shown at a time. */
const SHOWN_MAX = 8;

/** Returns the word of a query that the caret is in or behind. Phrases are not words. */
export function wordAt(
  query: string,
  caret: number,
): { readonly text: string; readonly from: number; readonly to: number } {
  let from = caret;
  while (from > 0 && !/[\s()]/.test(query[from - 1]!)) from -= 1;
  if (query[from] === "-") from += from < caret ? 1 : 0;
  let to = caret;
  while (to < query.length && !/[\s()]/.test(query[to]!)) to += 1;
  return { text: query.slice(from, caret), from, to };
}

/** Suggests how to continue a query: words of its language, and keys of the project by their names as columns have them. */
export function suggest(query: string, caret: number, keys: readonly string[]): readonly Suggestion[] {
  const { text, from, to } = wordAt(query, caret);
  const isInPhrase = query.slice(0, caret).split('"').length % 2 === 0;
  if (text === "" || isInPhrase) return [];
  const typed = text.toLowerCase();
  const all = [...WORDS, ...keys.map((key) => [key, "key of this project"] as const)];
  const begins = all.filter(([word]) => word.toLowerCase().startsWith(typed) && word !== text);
  const contains = all.filter(([word]) => !word.toLowerCase().startsWith(typed) && word.toLowerCase().includes(typed));
  return [...begins, ...(typed.length < 2 ? [] : contains)]
    .slice(0, SHOWN_MAX)
    .map(([word, hint]) => ({ text: word, hint, from, to }));
}

/** Puts a suggestion into a query; returns the query and the new position of the caret. A complete suggestion is followed by a blank. */
export function taken(
  query: string,
  { text, from, to }: Suggestion,
): { readonly query: string; readonly caret: number } {
  const isWhole = /^(status:.+|AND|OR|NOT)$/.test(text);
  const insert = isWhole && query[to] !== " " ? `${text} ` : text;
  return { query: query.slice(0, from) + insert + query.slice(to), caret: from + insert.length };
}

/** A key of the catalogue of a project. */
export type ProjectKey = {
  readonly name: string;
  readonly kind: "metric" | "attribute" | "config";
  readonly run_count: number;
};

const SHOWN = 200;
const PAUSE_MS = 120;

/** Reads the keys of a project whose names contain a text, the first 200. */
export function useProjectKeys(projectId: string | undefined, text: string): readonly ProjectKey[] {
  const [keys, setKeys] = useState<readonly ProjectKey[]>([]);
  useEffect(() => {
    if (projectId === undefined) return undefined;
    const ending = new AbortController();
    const timer = setTimeout(
      () => {
        const query = new URLSearchParams({ limit: String(SHOWN), ...(text === "" ? {} : { q: text }) });
        const path = `/api/projects/${projectId}/keys?${query}`;
        // A half-typed expression finds nothing until it is whole.
        call<{ keys: readonly ProjectKey[] }>(path, { signal: ending.signal }).then(
          ({ keys: found }) => setKeys(found),
          () => undefined,
        );
      },
      text === "" ? 0 : PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [projectId, text]);
  return keys;
}
