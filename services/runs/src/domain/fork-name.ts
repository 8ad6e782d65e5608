import { NAME_BYTES_MAX } from "../create/run-name.rules.ts";

/**
 * The name of a fork that its client left nameless: `fork-of-<parent>`, and `-step-<n>` where a step
 * was given. Forks of forks grow; where the name would get too long, the parent's is cut.
 */
export function forkName(parent: string, step: number | undefined): string {
  const before = "fork-of-";
  const after = step === undefined ? "" : `-step-${step}`;
  return `${before}${cut(parent, NAME_BYTES_MAX - before.length - after.length)}${after}`;
}

/** The text, or its beginning of at most that many bytes, not in the middle of a character. */
function cut(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
