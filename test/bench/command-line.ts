import { parseArgs } from "node:util";

/** `all`: ingest and reads of points in both modes; the others are named by their subject. */
const NAMES = [
  "all",
  "transport",
  "runs",
  "creates",
  "regex",
  "stop-signal",
  "logs",
  "metrics",
  "steady",
  "wide",
  "bytes",
  "charts",
  "chart-columns",
  "growth",
  "skew",
  "artifacts",
  "objects",
  "traces",
  "views",
  "bulk-update",
  "export",
  "import",
  "archive",
  "limits",
  "neighbors",
  "deletion",
  "changes",
  "web",
] as const;

type BenchName = (typeof NAMES)[number];

/** Those that compare with others or take long, and so are measured in one process unless `--mode` says otherwise. */
const EMBEDDED_FIRST: ReadonlySet<BenchName> = new Set([
  "metrics",
  "steady",
  "wide",
  "bytes",
  "charts",
  "chart-columns",
  "growth",
  "skew",
  "objects",
  "traces",
  "views",
  "import",
  "limits",
  "neighbors",
  "deletion",
  "web",
]);

/** Those whose ratios can be judged. */
const CHECKED: ReadonlySet<BenchName> = new Set(["metrics", "skew"]);

/** What `npm run bench -- …` takes. */
export type BenchOptions = {
  what: BenchName;
  modes: ("embedded" | "split")[];
  /** Seconds that each case is measured. */
  seconds: number;
  /** Only cases whose name contains this. */
  only: string;
  json: boolean;
  /** A reduced run of `metrics` or `skew` that fails on ratios. */
  check: boolean;
  /** How often each store of a comparison is measured, in turn. */
  rounds: number;
  /** For how long the wide profile is kept up. */
  minutes: number;
  /** How many points the growth goes up to. */
  to: number;
  /** Sizes of what is stored are multiplied by it, for a rehearsal. */
  scale: number;
  /** Where figures are written. */
  out: string | undefined;
};

/** @throws Error with one line about what is wrong. */
export function parseBenchArguments(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      mode: { type: "string" },
      seconds: { type: "string" },
      only: { type: "string", default: "" },
      json: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      rounds: { type: "string", default: "3" },
      minutes: { type: "string", default: "10" },
      to: { type: "string", default: "1e8" },
      scale: { type: "string", default: "1" },
      out: { type: "string" },
    },
  });
  const { check } = values;
  const asked = positionals[0] ?? (check ? "metrics" : "all");
  const what = NAMES.find((name) => name === asked);
  if (what === undefined) throw new Error(`there is no benchmark ${asked}; there are ${NAMES.join(", ")}`);
  if (check && !CHECKED.has(what)) throw new Error("--check goes with metrics or skew alone");
  const mode = values.mode ?? (EMBEDDED_FIRST.has(what) ? "embedded" : "both");
  if (mode !== "both" && mode !== "embedded" && mode !== "split") throw new Error("--mode is embedded, split or both");
  const within = (name: string, text: string, min: number, max: number): number => {
    const value = Number(text);
    if (!(value >= min && value <= max)) throw new Error(`--${name} is ${min} to ${max}`);
    return value;
  };
  return {
    what,
    modes: mode === "both" ? ["embedded", "split"] : [mode],
    seconds: within("seconds", values.seconds ?? (check ? "4" : "6"), 1, 600),
    only: values.only,
    json: values.json,
    check,
    rounds: within("rounds", values.rounds, 1, 100),
    minutes: within("minutes", values.minutes, 0.1, 600),
    to: within("to", values.to, 1e4, 1e10),
    scale: within("scale", values.scale, 0.001, 1),
    out: values.out,
  };
}
