import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeModes } from "../stack/modes.ts";
import { facingTheWorld } from "../stack/settings.ts";

describeModes(
  "a share link with a short life",
  (stack) => {
    test("ends by itself", async () => {
      const { api } = await stack().organization();
      const id = (await api.post("/api/reports", { title: "Weekly" })).json.report.id as string;
      const token = (await api.post(`/api/reports/${id}/share`)).json.report.share_token as string;
      const { report } = (await api.get(`/api/reports/${id}`)).json;
      const endsAt = Date.parse(report.share_token_issued_at as string) + 2000;
      const statusOf = async () => (await stack().api.get(`/api/reports/share/${token}`)).status;
      expect(await until("the end of the link", async () => (await statusOf()) !== 200 && statusOf())).toBe(404);
      expect(Date.now()).toBeGreaterThanOrEqual(endsAt);
      expect((await api.get("/api/reports")).json.reports[0].has_share_token).toBe(false);
    });
  },
  facingTheWorld,
);
