import { parseArgs } from "node:util";

/** `all`: ingest and reads of points in both modes; the others are named by their subject. */
const NAMES = ["all", "transport", "runs", "regex", "stop-signal", "logs"] as const;

type BenchName = (typeof NAMES)[number];

/** What `npm run bench -- …` takes. */
export type BenchOptions = {
  what: BenchName;
  modes: ("embedded" | "split")[];
  /** Seconds that each case is measured. */
  seconds: number;
  /** Only cases whose name contains this. */
  only: string;
  json: boolean;
};

/** @throws Error with one line about what is wrong. */
export function parseBenchArguments(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      mode: { type: "string", default: "both" },
      seconds: { type: "string", default: "6" },
      only: { type: "string", default: "" },
      json: { type: "boolean", default: false },
    },
  });
  const what = NAMES.find((name) => name === (positionals[0] ?? "all"));
  if (what === undefined) throw new Error(`there is no benchmark ${positionals[0]}; there are ${NAMES.join(", ")}`);
  const mode = values.mode;
  if (mode !== "both" && mode !== "embedded" && mode !== "split") throw new Error("--mode is embedded, split or both");
  const seconds = Number(values.seconds);
  if (!(seconds >= 1 && seconds <= 600)) throw new Error("--seconds is 1 to 600");
  return {
    what,
    modes: mode === "both" ? ["embedded", "split"] : [mode],
    seconds,
    only: values.only,
    json: values.json,
  };
}
