/** Returns a path that a file names, by `/` and without empty and `.` parts, or undefined if it is absolute, leads outside or names nothing. */
export function safePath(sent: string): string | undefined {
  if (/^([/\\]|[A-Za-z]:)|\0/.test(sent)) return undefined;
  const parts = sent.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/");
}
