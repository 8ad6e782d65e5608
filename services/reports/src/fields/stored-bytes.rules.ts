/** Returns the UTF-8 bytes of some texts together; absent ones have none. */
export function textBytes(...texts: readonly (string | null | undefined)[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}
