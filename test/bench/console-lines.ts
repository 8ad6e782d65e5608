// Console output as training prints it, the same at every call: progress bars, loss lines with times, JSON lines, tracebacks.

import { seededRandom } from "./seeded-random.ts";

/** What a stream consists of. */
export const consoleKinds = ["progress bars", "loss lines", "JSON lines", "tracebacks", "mixed"] as const;

export type ConsoleKind = (typeof consoleKinds)[number];

/** A printed line and the client's time of it, in microseconds since the Unix epoch. */
export type ConsoleLine = { readonly message: string; readonly timeUs: number };

const FIRST_US = 1_767_323_045_678_901;
const STEPS_PER_EPOCH = 5000;

const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
const clock = (tenths: number): string => `${two(tenths / 600)}:${two((tenths / 10) % 60)}`;

function progressBar(step: number, loss: number, noise: () => number): string {
  const done = step % STEPS_PER_EPOCH;
  const percent = Math.floor((done * 100) / STEPS_PER_EPOCH);
  const bar = "█".repeat(percent / 10).padEnd(10, " ");
  const rate = `${clock(done)}<${clock(STEPS_PER_EPOCH - done)}, ${(10 + noise()).toFixed(2)}it/s`;
  const epoch = 1 + Math.floor(step / STEPS_PER_EPOCH);
  return `Epoch ${epoch}/10: ${String(percent).padStart(3)}%|${bar}| ${done}/${STEPS_PER_EPOCH} [${rate}, loss=${loss.toFixed(4)}]`;
}

function lossLine(step: number, loss: number, timeUs: number, noise: () => number): string {
  const time = new Date(timeUs / 1000).toISOString().replace("T", " ").replace(".", ",").slice(0, -1);
  const rate = (3e-4 * (1 - step / 1e6)).toExponential(4);
  return `${time} INFO trainer: step=${step} loss=${loss.toFixed(5)} lr=${rate} grad_norm=${(1 + noise()).toFixed(4)} tokens/s=${Math.floor(12_000 + 500 * noise())}`;
}

function traceback(noise: () => number): string[] {
  return [
    "Traceback (most recent call last):",
    `  File "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", line ${1000 + Math.floor(noise() * 600)}, in _call_impl`,
    "    return forward_call(*args, **kwargs)",
    `  File "/workspace/train.py", line ${Math.floor(noise() * 400)}, in forward`,
    "    x = self.block(x, mask=mask)",
    `RuntimeError: CUDA out of memory. Tried to allocate ${Math.floor(noise() * 900)}.00 MiB (GPU ${Math.floor(noise() * 8)}; 79.15 GiB total capacity)`,
  ];
}

/** The first `count` lines of a stream of this kind, about ten a second, each with its time. */
export function consoleLines(kind: ConsoleKind, count: number, seed = 1): ConsoleLine[] {
  const noise = seededRandom(seed);
  const lines: ConsoleLine[] = [];
  let timeUs = FIRST_US;
  for (let step = 1; lines.length < count; step += 1) {
    timeUs += Math.floor(50_000 + 100_000 * noise());
    const loss = 2 / Math.sqrt(1 + step / 300) + 0.05 * noise();
    const share = noise();
    const now =
      kind === "mixed"
        ? (["progress bars", "loss lines", "JSON lines", "tracebacks"] as const)[
            share < 0.45 ? 0 : share < 0.84 ? 1 : share < 0.98 ? 2 : 3
          ]
        : kind;
    const printed =
      now === "progress bars"
        ? [progressBar(step, loss, noise)]
        : now === "loss lines"
          ? [lossLine(step, loss, timeUs, noise)]
          : now === "JSON lines"
            ? [JSON.stringify({ step, loss, lr: 3e-4 * (1 - step / 1e6), grad_norm: 1 + noise(), time: timeUs / 1e6 })]
            : traceback(noise);
    for (const message of printed) {
      timeUs += Math.floor(20 + 60 * noise());
      lines.push({ message, timeUs });
    }
  }
  return lines.slice(0, count);
}

/** Microseconds since the Unix epoch as RFC 3339. */
export function timeText(timeUs: number): string {
  return `${new Date(timeUs / 1000).toISOString().slice(0, 19)}.${String(timeUs % 1_000_000).padStart(6, "0")}Z`;
}

/** Returns a text as JSON of ASCII characters alone, as Python's `json` writes it. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
