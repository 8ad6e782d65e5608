import { constants, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { consoleKinds, consoleLines } from "./console-lines.ts";

// What the compressors of Node make of console lines, in blocks as large as those of the log store.

const BLOCK_BYTES = 96 * 1024;
const LINES = 40_000;

type Compressor = { name: string; pack: (bytes: Buffer) => Buffer; unpack: (bytes: Buffer) => Buffer };

const compressors: Compressor[] = [
  ...[1, 3, 6, 9].map((level) => ({
    name: `zstd ${level}`,
    pack: (bytes: Buffer) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
    unpack: (bytes: Buffer) => zstdDecompressSync(bytes),
  })),
  ...[1, 6, 9].map((level) => ({
    name: `deflate ${level}`,
    pack: (bytes: Buffer) => deflateRawSync(bytes, { level }),
    unpack: (bytes: Buffer) => inflateRawSync(bytes),
  })),
];

function timed<T>(work: () => T): { result: T; seconds: number } {
  work();
  const started = performance.now();
  const result = work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

/** A Markdown table of ratios and speeds. */
export function compareCompressors(): string {
  const rows = consoleKinds.map((kind) => {
    const text = Buffer.from(
      consoleLines(kind, LINES)
        .map(({ message }) => message)
        .join(""),
    );
    const blocks: Buffer[] = [];
    for (let at = 0; at < text.length; at += BLOCK_BYTES) blocks.push(text.subarray(at, at + BLOCK_BYTES));
    const cells = compressors.map(({ pack, unpack }) => {
      const packed = timed(() => blocks.map(pack));
      const unpacked = timed(() => packed.result.map(unpack));
      const bytes = packed.result.reduce((sum, { length }) => sum + length, 0);
      const speed = (seconds: number): string => (text.length / seconds / 1e6).toFixed(0);
      return `${(text.length / bytes).toFixed(1)} (${speed(packed.seconds)}, ${speed(unpacked.seconds)})`;
    });
    return `| ${kind}, ${(text.length / LINES).toFixed(0)} bytes a line | ${cells.join(" | ")} |`;
  });
  return [
    `| texts alone: ratio (MB/s in, MB/s out) | ${compressors.map(({ name }) => name).join(" | ")} |`,
    `|---|${compressors.map(() => "---|").join("")}`,
    ...rows,
  ].join("\n");
}
