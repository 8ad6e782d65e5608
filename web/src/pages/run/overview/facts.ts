import { valueAt, type ExactValue } from "../../../api/exact-value.ts";
import type { Aggregate } from "../../../api/run-types.ts";
import { webAddress } from "../../../app/addresses.ts";

/** A fact of the environment of a run: its name as a person says it, and its value. */
export type Fact = { readonly name: string; readonly value: string; readonly href?: string };

/** The name of the fact that says how the process of a run ended. */
export const EXIT_CODE = "Exit code";

/** Facts of a run by where its training or a tracker wrote them: a path in its metadata, or an attribute. */
const KNOWN: readonly { readonly name: string; readonly paths: readonly string[] }[] = [
  {
    name: "Git commit",
    paths: ["git.commit", "git.sha", "git_commit", "git.hash", "sys/git/commit", "source_control/commit"],
  },
  { name: "Git branch", paths: ["git.branch", "git_branch", "sys/git/branch"] },
  { name: "Git remote", paths: ["git.remote", "git.remote_url", "git_remote", "sys/git/remote"] },
  { name: "Uncommitted changes", paths: ["git.dirty", "git_dirty"] },
  { name: "Command", paths: ["command", "argv", "system.command", "sys/command"] },
  { name: EXIT_CODE, paths: ["exit_code", "exitcode", "exitCode", "sys/exit_code"] },
  { name: "Host", paths: ["hostname", "host", "system.hostname", "environment.hostname", "sys/hostname"] },
  { name: "Platform", paths: ["platform", "os", "system.platform", "environment.platform", "sys/platform"] },
  { name: "Python", paths: ["python", "python_version", "system.python", "environment.python", "sys/python"] },
  { name: "GPU", paths: ["gpu", "gpus", "system.gpu", "environment.gpu", "sys/gpu"] },
  { name: "CPU", paths: ["cpu", "cpu_count", "system.cpu", "environment.cpu", "sys/cpu"] },
  { name: "Memory", paths: ["memory", "system.memory", "environment.memory", "sys/memory"] },
  { name: "SDK", paths: ["sdk", "sdk_version", "system.sdk", "sys/sdk"] },
];

type Group = { readonly [key: string]: ExactValue };

/** Returns the facts in a run's metadata and `sys/…` attributes about its environment and its code. */
export function factsOf(
  metadata: Group,
  attributes: readonly { readonly path: string; readonly value: ExactValue }[],
): readonly Fact[] {
  const logged = new Map(attributes.map(({ path, value }) => [path, value]));
  const facts: Fact[] = [];
  for (const { name, paths } of KNOWN) {
    const values = [
      ...paths.map((path) => logged.get(path)),
      ...paths.map((path) => valueAt(metadata, path.split("."))),
    ];
    const text = values.map(textOf).find((one) => one !== undefined);
    if (text === undefined) continue;
    const href = webAddress(text);
    facts.push({ name, value: text, ...(href === undefined ? {} : { href }) });
  }
  return facts;
}

function textOf(value: ExactValue | undefined): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (Array.isArray(value)) return value.map((part: ExactValue) => textOf(part) ?? "").join(" ");
  return typeof value === "object" ? undefined : String(value);
}

/** Returns the metrics that say most of a run first: those of evaluation, then losses and the like, at most `count`; none of the system. */
export function mainMetrics(
  aggregates: { readonly [key: string]: Aggregate },
  count: number,
): readonly (readonly [string, Aggregate])[] {
  const rank = (key: string): number => {
    if (/(^|[/_.])(val|valid|validation|eval|test)([/_.]|$)/i.test(key)) return 0;
    if (/loss|acc|reward|return|score|f1|auc|bleu|perplexity/i.test(key)) return 1;
    return 2;
  };
  return Object.entries(aggregates)
    .filter(([key]) => !/^(system|sys)\//.test(key))
    .toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, count);
}
