/** The headers of every export: a file that no cache keeps and no browser runs. */
export function exportHeaders(fileName: string, contentType: string): Record<string, string> {
  return {
    "content-type": contentType,
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    pragma: "no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  };
}
