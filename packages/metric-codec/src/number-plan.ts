import type { ByteWriter } from "./byte-writer.ts";
import { NUMBER_HEADER_BYTES } from "./number-layout.ts";

/** A way to write some numbers: what its header says, the bytes behind that (a multiple of 8), and how to write them at `writer.at`. */
export type NumberPlan = {
  readonly codec: number;
  readonly width: number;
  readonly parameter: number;
  readonly bytes: number;
  /** Writes exactly `bytes` from `writer.at`, which stays as it is. */
  readonly write: (writer: ByteWriter) => void;
};

/** Writes the header and what the plan says, and moves `writer.at` behind them. */
export function writePlan(writer: ByteWriter, plan: NumberPlan, count: number): void {
  const start = writer.at;
  writer.u8[start] = plan.codec;
  writer.u8[start + 1] = plan.width;
  writer.u8[start + 2] = plan.parameter;
  writer.u32[start / 4 + 1] = count;
  writer.at = start + NUMBER_HEADER_BYTES;
  plan.write(writer);
  writer.at += plan.bytes;
}
