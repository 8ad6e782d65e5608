import { parseArgs } from "node:util";
import type { Mode } from "../../stack/stack.ts";

/** The options of `npm run bench -- …`. */
export type BenchOptions = {
  /** Benches to run, one after another. */
  readonly names: readonly string[];
  /** Whether a limit that does not hold fails the command. */
  readonly check: boolean;
  readonly modes: readonly Mode[];
  readonly seconds: number;
  readonly rounds: number;
  readonly only: string;
  readonly scale: number;
};

/** The defaults of a full run and of `--check`, which takes some minutes for all benches together. */
const FULL = { seconds: 6, rounds: 3, scale: 1 };
const CHECK = { seconds: 2, rounds: 3, scale: 0.1 };

/** The rest of the usage, after the names of the benches. */
export const OPTIONS = `  --check          a reduced run that fails where a limit does not hold; of all benches if none is named
  --mode embedded  or split, a process for each module, or both
  --seconds 6      of each case; with --check 2
  --rounds 3       of what is compared in turn
  --scale 1        times the sizes of what is stored, 0.001 to 1; with --check 0.1
  --only TEXT      only cases whose names contain it`;

/** @param checked the benches that `--check` means without a name. @throws Error with one line about what is wrong */
export function parseBenchArguments(
  args: readonly string[],
  known: readonly string[],
  checked: readonly string[],
): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      check: { type: "boolean", default: false },
      mode: { type: "string", default: "embedded" },
      seconds: { type: "string" },
      rounds: { type: "string" },
      scale: { type: "string" },
      only: { type: "string", default: "" },
    },
  });
  const { check, mode, only } = values;
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no bench has the name ${unknown}; the names are ${known.join(", ")}`);
  if (mode !== "both" && mode !== "embedded" && mode !== "split") throw new Error("--mode is embedded, split or both");
  const within = (name: keyof typeof FULL, min: number, max: number): number => {
    const value = Number(values[name] ?? (check ? CHECK : FULL)[name]);
    if (!(value >= min && value <= max)) throw new Error(`--${name} is ${min} to ${max}`);
    return value;
  };
  return {
    names: positionals.length > 0 ? positionals : check ? checked : [],
    check,
    modes: mode === "both" ? ["embedded", "split"] : [mode],
    seconds: within("seconds", 0.1, 600),
    rounds: within("rounds", 1, 100),
    scale: within("scale", 0.001, 1),
    only,
  };
}
