import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { runExample } from "../examples/run-example.ts";
import { describeWith } from "../stack/describe-with.ts";
import { queryDatabase } from "../stack/attach.ts";
import { describeModes } from "../stack/modes.ts";

const root = join(import.meta.dirname, "../..");

const environment = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "artifacts of the instantml SDK",
});

type Stored = {
  run_id: string;
  plain: { rows: Record<string, unknown>[]; same: boolean; fork: Record<string, unknown> };
  versions: {
    id: string;
    version: string;
    again: string;
    downloaded: Record<string, string>;
    sent: Record<string, string>;
    aliases: string[];
    refused: string;
    state: string;
    gone: string;
  };
  shrinking: string;
};

describeWith(environment)("the unmodified SDK", () => {
  describeModes("stores and reads artifacts", (stack) => {
    test("plain ones, versions of small and large files, and a file that shrinks while it is sent", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const { code, stderr, report } = await runExample(
        environment!.python,
        [join(root, "test/examples/store_artifacts.py")],
        { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key },
      );
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
      const { run_id, plain, versions, shrinking } = report as unknown as Stored;

      expect(plain.rows).toMatchObject([
        { name: "weights", storage_backend: "external", size_bytes: 10 },
        { name: "empty.bin", size_bytes: 0 },
        { name: "middle.bin", size_bytes: 3 * 1024 * 1024 },
        { name: "policy.pt", type: "checkpoint", step: 7 },
      ]);
      expect(plain.same).toBe(true);
      expect(plain.fork).toMatchObject({
        parent_run_id: run_id,
        forked_from_step: 7,
        forked_from_artifact_id: plain.rows[3]!["id"],
      });

      expect(versions).toMatchObject({ version: "v0", again: versions.id, state: "soft_deleted" });
      expect(versions.downloaded).toEqual(versions.sent);
      expect(versions.aliases).toEqual(["best", "latest", "prod"]);
      expect(versions.refused).toContain("alias");
      expect(versions.gone).toContain("not found");

      expect(shrinking).not.toBe("no error");
      const { collections } = (await api.get("/api/artifact-collections?q=shrink")).json;
      expect(collections).toMatchObject([{ name: "shrinks", versions_count: 0, retained_bytes: 0 }]);
      expect((await api.get(`/api/runs/${run_id}/artifacts`)).json.artifacts).toHaveLength(4);
    });
  });

  describeModes("resumes an upload", (stack) => {
    test("that was killed between two parts, in another process: in the same session, with all bytes right", async () => {
      const { key, api } = await stack().organization({ plan: "pro" });
      const { code, stderr, report } = await runExample(
        environment!.python,
        [join(root, "test/examples/resume_upload.py")],
        { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key },
      );
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Traceback")]);
      // The SDK does not ask which parts are there: it sends all three again.
      expect(report).toMatchObject({ killed: -9, same: true, sent: 3 });
      const { collections } = (await api.get("/api/artifact-collections?q=resumed")).json;
      expect(collections).toMatchObject([{ versions_count: 1, retained_bytes: 33 * 1024 * 1024 }]);
      const sessions = await queryDatabase<{ state: string }>(
        stack(),
        "SELECT s.state FROM artifacts.upload_sessions s WHERE s.run_id = $1",
        [report!.run_id],
      );
      expect(sessions).toEqual([{ state: "active" }]);
    });
  });
});
