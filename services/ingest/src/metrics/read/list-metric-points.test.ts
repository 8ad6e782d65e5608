import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

test.each([
  ["does not exist", () => randomUUID()],
  ["has an id that is not a UUID", () => "nothing"],
  ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
  [
    "lies in a project that the key does not see",
    async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId)),
  ],
])("a run that %s is not found", async (_, idOf) => {
  const hidden = await idOf();
  for (const query of [{ limit: 1 }, { queryFault: { text: "no", field: "limit" } }]) {
    await expect(
      ingest.read.listMetricPoints({ runId: hidden, ...query }, callOf(tenant, tenant.projectId)),
    ).rejects.toMatchObject({ reason: "not_found", message: "run not found" });
  }
});
