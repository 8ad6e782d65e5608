/** Characters of the name of a file before its ending. */
const STEM_MAX = 100;

/** Saves a file for the person who reads the page. The part of the name before its last dot is reduced to what every file system takes. */
export function saveFile(parts: readonly BlobPart[], name: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName(name);
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Returns a name that every file system takes: `val/loss.png` is `val_loss.png`. Long ones keep their ending. */
export function fileName(name: string): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
  return `${reduced(stem).slice(0, STEM_MAX) || "file"}${reduced(ending)}`;
}

const reduced = (text: string): string => text.replaceAll(/[^\w.-]+/g, "_");
