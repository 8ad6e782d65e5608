/** Saves a text as a file of the person who reads the page. The name is reduced to what every file system takes. */
export function saveText(parts: readonly string[], name: string, type = "text/plain"): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replaceAll(/[^\w.-]+/g, "_").slice(0, 120);
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
