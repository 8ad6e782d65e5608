/** The options of an embed session. */
export type EmbedOptions = {
  readonly runIds: readonly string[];
  readonly origin: string;
  readonly minutes: number;
  readonly theme: "system" | "light" | "dark";
};

/** The body with which the API makes an embed session. */
export function embedBody({ runIds, origin, minutes, theme }: EmbedOptions) {
  return { run_ids: runIds, allowed_parent_origin: origin.trim(), ttl_seconds: minutes * 60, options: { theme } };
}

/** Why an origin cannot be used; undefined where it can. The server decides again. */
export function faultOfOrigin(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null) return "Write the origin of the page, such as https://wiki.example.com.";
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) return "Only https origins can show runs.";
  if (url.origin !== text.trim().replace(/\/$/, "")) return "An origin has no path, no query and no credentials.";
  return undefined;
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command that makes an embed session with a key from the environment. */
export function embedCommand(server: string, options: EmbedOptions): string {
  return [
    `curl -sS ${quoted(`${server}/api/embed/sessions`)} \\`,
    '  -H "Authorization: Bearer $TIDEMARK_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${quoted(JSON.stringify(embedBody(options)))}`,
  ].join("\n");
}

/** The element that shows an embed session in a page. */
export function embedFrame(address: string): string {
  const safe = address.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${safe}" width="100%" height="640" loading="lazy" title="Runs in Tidemark" referrerpolicy="no-referrer"></iframe>`;
}
