const SLOWEST_FILES = 10;

/**
 * Returns the lines about the seconds that test files took: each group (`services/runs`, `test/e2e`, `web`), the longest first, then the
 * slowest files. The threads run files side by side, so the sum is larger than the time of the run.
 */
export function describeTimes(seconds: ReadonlyMap<string, number>): readonly string[] {
  const groups = new Map<string, number>();
  for (const [file, each] of seconds) groups.set(groupOf(file), (groups.get(groupOf(file)) ?? 0) + each);
  const sum = [...seconds.values()].reduce((all, each) => all + each, 0);
  return [
    `Seconds of test files, ${sum.toFixed(0)} in all threads together:`,
    ...longestFirst(groups).map(inLine),
    "Slowest files:",
    ...longestFirst(seconds).slice(0, SLOWEST_FILES).map(inLine),
  ];
}

function groupOf(file: string): string {
  const parts = file.split("/");
  return parts[1] === "src" || parts.length === 2 ? parts[0]! : parts.slice(0, 2).join("/");
}

const longestFirst = (all: ReadonlyMap<string, number>) => [...all].toSorted(([, a], [, b]) => b - a);

const inLine = ([name, each]: readonly [string, number]): string => `${each.toFixed(1).padStart(8)}  ${name}`;
