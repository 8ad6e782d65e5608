import { shown, tableHead, tableRow } from "../markdown-table.ts";
import { spreadOf } from "../percentiles.ts";
import type { ByteStore } from "./byte-store.ts";
import type { FileSet } from "./file-sets.ts";
import { wholeSeconds, type CpuByProcess, type Trial } from "./measure-bytes.ts";
import type { MemoryPeak } from "./watch-memory.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

const median = (values: readonly number[]): number => spreadOf(values).median;
const total = (cpu: CpuByProcess): number => [...cpu.values()].reduce((sum, seconds) => sum + seconds, 0);

/** The heading lines of the table of transfers. */
export const transferHead = tableHead([
  "store",
  "begin ms",
  "PUT MiB/s",
  "complete s",
  "upload MiB/s",
  "with flush of the disk",
  "download MiB/s",
  "CPU s/GiB up, servers",
  "down",
]);

/** Which processes worked, the one that worked most first: `1.52 (MinIO 1.10, artifacts 0.40)`. */
function cpuCell(cpus: readonly CpuByProcess[], bytes: number): string {
  const perGib = (values: readonly number[]): number => (median(values) * GIB) / bytes;
  const names = [...(cpus[0]?.keys() ?? [])];
  const each = names
    .map((name) => [name, perGib(cpus.map((cpu) => cpu.get(name)!))] as const)
    .filter(([, seconds]) => seconds >= 0.02)
    .toSorted(([, a], [, b]) => b - a);
  const whole = shown(perGib(cpus.map(total)), 2);
  return each.length < 2
    ? whole
    : `${whole} (${each.map(([name, seconds]) => `${name} ${shown(seconds, 2)}`).join(", ")})`;
}

/** A line of that table: medians of the rounds. */
export function transferLine({ name }: ByteStore, { bytes }: FileSet, trials: readonly Trial[]): string {
  const rate = (seconds: (trial: Trial) => number): string => shown(bytes / MIB / median(trials.map(seconds)));
  return tableRow([
    name,
    shown(median(trials.map(({ phases }) => phases.begin)) * 1000),
    rate(({ phases }) => phases.send),
    shown(median(trials.map(({ phases }) => phases.complete)), 2),
    rate(({ phases }) => wholeSeconds(phases)),
    rate(({ phases, flush }) => wholeSeconds(phases) + flush),
    rate(({ down }) => down),
    cpuCell(
      trials.map(({ cpuUp }) => cpuUp),
      bytes,
    ),
    cpuCell(
      trials.map(({ cpuDown }) => cpuDown),
      bytes,
    ),
  ]);
}

/** How many times as fast one store is as another: the median of the rounds, and their range. */
export type SpeedRatio = { readonly what: string; readonly median: number; readonly min: number; readonly max: number };

/** Compares round by round, as the machine is not equally fast in all of them. */
export function speedRatio(
  what: string,
  ours: readonly Trial[],
  other: readonly Trial[],
  seconds: (trial: Trial) => number,
): SpeedRatio {
  return { what, ...spreadOf(ours.map((trial, round) => seconds(other[round]!) / seconds(trial))) };
}

/** A sentence on a ratio and its target. */
export function ratioLine({ what, median: middle, min, max }: SpeedRatio, target: number): string {
  const verdict = middle >= target ? "met" : "missed";
  return `- ${what}: ${shown(middle, 2)} times (${shown(min, 2)} to ${shown(max, 2)}); target ${target}: ${verdict}.`;
}

/** The heading lines of the table of memory. */
export const memoryHead = tableHead([
  "store",
  "process",
  "MiB before",
  "most above it, up",
  "down",
  "outside the heap before",
  "most above it, up",
  "down",
]);

/** Lines of that table: the worst round of each process whose memory grew by more than 4 MiB. */
export function memoryLines({ name, processes }: ByteStore, trials: readonly Trial[]): string[] {
  const most = (peaks: readonly MemoryPeak[], grown: (peak: MemoryPeak) => number): number =>
    spreadOf(peaks.map(grown)).max;
  return [...processes.keys()].flatMap((process) => {
    const [up, down] = [
      trials.map(({ memoryUp }) => memoryUp.get(process)!),
      trials.map(({ memoryDown }) => memoryDown.get(process)!),
    ];
    const resident = ({ before, peak }: MemoryPeak): number => peak - before;
    const outside = ({ outsideBefore, outsidePeak }: MemoryPeak): number => outsidePeak - outsideBefore;
    const grown = [most(up, resident), most(down, resident)];
    if (Math.max(...grown) < 4) return [];
    return [
      tableRow([
        name,
        process,
        shown(up[0]!.before),
        ...grown.map((megabytes) => shown(megabytes)),
        shown(up[0]!.outsideBefore),
        shown(most(up, outside)),
        shown(most(down, outside)),
      ]),
    ];
  });
}
