/** Returns an address to link to if a text is one of the web or of mail, without credentials in it; else undefined. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}
