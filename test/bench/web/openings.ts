import type { OpenedPage, Traffic } from "./open-page.ts";
import { seenAt } from "./sight.ts";
import type { WebFigure } from "./figures.ts";

/** Opens a page with an empty cache and waits for what is measured; the caller closes the context. */
export type Opening = () => Promise<OpenedPage>;

/** After this time a page is not opened once more. */
const ENOUGH_MS = 300_000;

/** Opens a page several times and measures its first rows, the same opened again, and what came over the wire until then. */
export async function firstRowFigures(
  open: Opening,
  times: number,
  notes: { readonly cold: string; readonly warm: string; readonly code: string; readonly data: string },
): Promise<WebFigure[]> {
  const [cold, warm, traffic]: [number[], number[], Traffic[]] = [[], [], []];
  for (let i = 0; i < times; i += 1) {
    const opened = await open();
    cold.push(opened.ms);
    traffic.push(opened.traffic);
    await opened.page.reload({ waitUntil: "commit" });
    warm.push(await seenAt(opened.page));
    await opened.context.close();
  }
  const kib = (bytes: number): number => bytes / 1024;
  const until = "until the first rows";
  return [
    { name: "first rows, empty cache", unit: "ms", values: cold, note: notes.cold },
    { name: "first rows, opened again", unit: "ms", values: warm, note: notes.warm },
    {
      name: `page, JavaScript and CSS ${until}, as sent`,
      unit: "KiB",
      values: traffic.map(({ codeBytes }) => kib(codeBytes)),
      note: notes.code,
    },
    {
      name: `page, JavaScript and CSS ${until}, with gzip`,
      unit: "KiB",
      values: traffic.map(({ gzipBytes }) => kib(gzipBytes)),
      note: "",
    },
    { name: `requests ${until}`, unit: "", values: traffic.map(({ requests }) => requests), note: "" },
    {
      name: `requests for data ${until}`,
      unit: "",
      values: traffic.map(({ dataRequests }) => dataRequests),
      note: notes.data,
    },
  ];
}

/** Opens a page several times and measures until it shows what is waited for; `look` measures more of each. */
export async function openingFigure(
  open: Opening,
  times: number,
  { name, note, mayFail = false }: OpeningNotes,
  look: (opened: OpenedPage, time: number) => Promise<void> = () => Promise.resolve(),
): Promise<WebFigure> {
  const values: number[] = [];
  const from = performance.now();
  for (let i = 0; i < times && performance.now() - from < ENOUGH_MS; i += 1) {
    try {
      const opened = await open();
      values.push(opened.ms);
      try {
        await look(opened, i);
      } finally {
        await opened.context.close();
      }
    } catch (error) {
      if (!mayFail) throw error;
      return { name, unit: "ms", values, note: `${note}; then not shown (${String(error).split("\n", 1)[0]})` };
    }
  }
  return { name, unit: "ms", values, note };
}

/** What is said beside a figure. */
export type OpeningNotes = {
  readonly name: string;
  readonly note: string;
  /** Whether a page that is not shown is a result, because the tracker may not be able to show it. */
  readonly mayFail?: boolean;
};

/** Names of what all trackers are measured by. */
export const questions = {
  lines: "100 runs of long series in a chart",
  wide: "the first chart of a run with many keys",
} as const;
