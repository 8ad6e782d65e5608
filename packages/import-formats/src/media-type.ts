/** The first bytes of kinds of images. */
const signatures: readonly (readonly [string, readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46]],
];

/** Returns the type of an image by its first bytes, as a member to spread; nothing if it is not known. */
export function imageType(bytes: Uint8Array): { mimeType?: string } {
  const found = signatures.find(([, signature]) => signature.every((byte, i) => bytes[i] === byte));
  return found === undefined ? {} : { mimeType: found[0] };
}
