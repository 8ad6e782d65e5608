import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { create } from "@bufbuild/protobuf";
import { knownNames } from "@tidemark/all";
import { startHost, type ModuleDefinition } from "@tidemark/host";
import { ingestModule } from "@tidemark/ingest";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { IngestService } from "@tidemark/proto/ingest/v1/ingest";
import { createCall, createLocalClient, type Implementation } from "@tidemark/rpc";
import { runClosedLoop } from "../closed-loop.ts";
import type { Timing } from "./metric-store.ts";
import { valueTape } from "./metric-values.ts";
import { pointTimeUs } from "./point-times.ts";
import { keyNames, writeAt, type WriteLoad } from "./write-load.ts";

// The module that takes metrics, alone in this process with its load: no HTTP, no JSON, no RPC. Argument: the URL of a database
// in which the product works. Each line of the input is a load to write; each is answered with a line.

export type StoreCommand = Timing & WriteLoad & { readonly orgId: string; readonly runIds: readonly string[] };

let implementation: Implementation | undefined;
const module: ModuleDefinition = {
  ...ingestModule,
  async start(context) {
    const running = await ingestModule.start(context);
    implementation = running.implementations.find(({ service }) => service === IngestService);
    return running;
  },
};
const host = await startHost({
  name: "ingest",
  modules: [module],
  alsoKnown: knownNames,
  environment: {
    TIDEMARK_DATABASE_URL: process.argv[2],
    TIDEMARK_INTERNAL_TOKEN: "internal-token-of-a-benchmark-0123456789",
    TIDEMARK_INTERNAL_PORT: "0",
    TIDEMARK_GRPC_PORT: "0",
    TIDEMARK_LOG_LEVEL: "error",
    TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: process.argv[3],
  },
  logDestination: { write: (line) => void process.stderr.write(line) },
});
if (implementation === undefined) throw new Error("the module has no service that takes metrics");
const client = createLocalClient(IngestService, implementation);
const tape = valueTape();

for await (const line of createInterface({ input: process.stdin })) {
  const { orgId, runIds, warmUp, seconds, ...load } = JSON.parse(line) as StoreCommand;
  const keys = [...keyNames(load.keys)];
  const identity = create(IdentitySchema, { orgId, kind: CallerKind.API_KEY, scopes: ["sdk:ingest"] });
  const once = async (index: number): Promise<void> => {
    const { run, firstStep, tapeFrom } = writeAt(load, index);
    const { points } = load;
    const steps = new Float64Array(points);
    const timestampsUs = new Float64Array(points);
    const values = new Float64Array(points * keys.length);
    for (let point = 0; point < points; point += 1) {
      steps[point] = firstStep + point;
      timestampsUs[point] = pointTimeUs(firstStep + point);
      for (let key = 0; key < keys.length; key += 1) {
        values[key * points + point] = tape[tapeFrom + point * keys.length + key]!;
      }
    }
    // The gateway hands its arrays over as they are, too.
    const dense = { offsets: new Uint32Array(), pointIndexes: new Uint32Array() };
    const columns = { keys, steps, timestampsUs, values, ...dense } as unknown as { keys: string[] };
    const request = { runId: runIds[run]!, batch: points > 1, columns, idempotencyKey: randomUUID() };
    await client.appendMetrics(request, createCall({ identity }));
  };
  const result = await runClosedLoop({ concurrency: load.concurrency, warmUp, seconds, once });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
await host.stop();
