import { readImports, type Package } from "./workspace.ts";
import { judge } from "./rules.ts";

const manifest = (
  name: string,
  folder: string,
  uses: readonly string[] = [],
  forTests: readonly string[] = [],
): Package => ({
  name,
  folder,
  exports: ["."],
  dependencies: uses,
  devDependencies: forTests,
});
const everything = [
  "@t/proto",
  "@t/pure",
  "@t/errors",
  "@t/pg",
  "@t/rpc",
  "@t/host",
  "@t/bus",
  "@t/config",
  "@t/telemetry",
];

const packages: readonly Package[] = [
  manifest("@t/root", "", ["@t/local", "@t/all"]),
  { ...manifest("@t/proto", "proto"), exports: ["./*", "./grpc/*"] },
  manifest("@t/pure", "packages/pure", ["@t/purer", "@t/errors"]),
  manifest("@t/purer", "packages/purer"),
  manifest("@t/errors", "infra/errors", ["@t/runs"]),
  manifest("@t/pg", "infra/pg", ["@t/errors"], ["@t/testkit"]),
  manifest("@t/rpc", "infra/rpc", ["@t/errors", "@t/proto"]),
  manifest("@t/host", "infra/host", ["@t/config"]),
  manifest("@t/bus", "infra/bus"),
  manifest("@t/config", "infra/config", ["@t/telemetry"]),
  manifest("@t/telemetry", "infra/telemetry", ["@t/config"]),
  manifest("@t/testkit", "infra/testkit", ["@t/pg"]),
  manifest("@t/local", "infra/local"),
  manifest("@t/runs", "services/runs", [...everything, "@t/ingest"], ["@t/testkit"]),
  manifest("@t/ingest", "services/ingest", everything),
  manifest("@t/all", "services/all", ["@t/runs", "@t/gateway", "@t/host", "@t/tests"]),
  manifest("@t/gateway", "gateway", [...everything, "@t/runs"]),
  manifest("@t/tests", "test", ["@t/all", "@t/proto"]),
  manifest("@t/example", "examples/typescript", ["@t/proto"]),
];

/** The faults of a tree: path -> text of a module. */
export function faultsOf(tree: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.entries(tree).map(([path, text]) => ({ path, imports: readImports(path, text) }));
  return judge({ packages, files }).map(({ file, line, text }) => `${file}:${line} ${text}`);
}
