/** Characters that no path of an entry has: control characters (Unicode category Cc). */
// eslint-disable-next-line no-control-regex -- these are the ones that are looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Returns paths of entries after the names of imported artifacts: relative, without empty parts, "." and "..", all different. */
export function entryPathsOf(names: readonly string[]): string[] {
  const taken = new Map<string, number>();
  return names.map((name) => {
    const parts = name.replaceAll("\\", "/").replaceAll(CONTROL, "").split("/");
    const path = parts.filter((part) => part !== "" && part !== "." && part !== "..").join("/") || "artifact";
    for (;;) {
      const count = (taken.get(path) ?? 0) + 1;
      taken.set(path, count);
      const numbered = count === 1 ? path : `${path}#${count}`;
      if (count === 1) return numbered;
      if (!taken.has(numbered)) {
        taken.set(numbered, 1);
        return numbered;
      }
    }
  });
}
