import { afterEach, describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { openChangeStream, type ChangeStream } from "../stack/changes.ts";
import { sessionCookie, createTeam, revokeKeys, type Person } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";
import type { Api } from "../stack/client.ts";

describeModes("the changes of a project", (stack) => {
  const open: ChangeStream[] = [];
  afterEach(() => open.splice(0).forEach((stream) => stream.close()));

  const follow = async (key: string, projectId: string, lastEventId?: string): Promise<ChangeStream> => {
    const stream = await openChangeStream(stack().baseUrl, projectId, {
      authorization: `Bearer ${key}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    });
    open.push(stream);
    return stream;
  };
  const projectOf = async (organization: { api: Pick<Api, "post"> }, name = "p"): Promise<string> =>
    (await organization.api.post("/projects", { name })).json.project.id;

  test("each kind of write has an event that says what it changed", async () => {
    const organization = await stack().organization();
    const { api, key } = organization;
    const project = await projectOf(organization);
    const stream = await follow(key, project);
    expect(stream).toMatchObject({
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
    const { id } = (await api.post("/runs", { project: "p" })).json.run;
    expect((await stream.next("run", id)).data).toEqual({ run_id: id });
    await api.post(`/runs/${id}/metrics`, { metrics: { loss: 1, acc: 2 }, step: 7 });
    expect((await stream.next("points", id)).data).toEqual({ run_id: id, keys: ["acc", "loss"], step: 7 });
    await api.post(`/api/runs/${id}/logs`, {
      lines: [
        { line_number: 3, message: "x" },
        { line_number: 9, message: "y" },
      ],
    });
    expect((await stream.next("lines", id)).data).toEqual({ run_id: id, line: 9 });
    await api.post(`/api/runs/${id}/objects`, {
      key: "h",
      kind: "histogram",
      step: 2,
      value: { bins: [0, 1], counts: [1] },
    });
    expect((await stream.next("objects", id)).data).toEqual({ run_id: id, keys: ["h"], step: 2 });
    await api.post(`/api/runs/${id}/attributes`, { path: "a/b", type: "config", value: 1 });
    await until("an event of attributes", () =>
      Promise.resolve(stream.events.some(({ event, data }) => event === "objects" && data.keys.includes("a/b"))),
    );
    await api.post(`/runs/${id}/rank-metrics`, { metrics: { "gpu/util": 1 }, step: 4, rank: 0, world_size: 2 });
    await until("an event of rank metrics", () =>
      Promise.resolve(stream.events.some(({ event, data }) => event === "points" && data.keys.includes("gpu/util"))),
    );
    await api.post(`/api/runs/${id}/stop`, {});
    expect((await stream.next("stop", id)).data).toEqual({ run_id: id });
    const before = stream.events.length;
    await api.patch(`/runs/${id}`, { name: "new" });
    await stream.next("run", id, before);
    expect(stream.events.filter(({ event }) => event === "reset")).toEqual([]);
    expect(new Set(stream.events.map((event) => event.id)).size).toBe(stream.events.length);
  });

  test("an event arrives within 300 ms, and events of one run and kind are merged", async () => {
    const organization = await stack().organization();
    const { api, key } = organization;
    const project = await projectOf(organization);
    const { id } = (await api.post("/runs", { project: "p" })).json.run;
    const stream = await follow(key, project);
    const startedMs = performance.now();
    for (let step = 0; step < 60; step++)
      await api.post(`/runs/${id}/metrics`, { metrics: { [`k${step % 3}`]: 1 }, step });
    const writtenMs = performance.now();
    await until("the last step", () => Promise.resolve(stream.events.some(({ data }) => data.step === 59)));
    const points = stream.events.filter(({ event }) => event === "points");
    expect(points.length).toBeLessThanOrEqual(Math.floor((performance.now() - startedMs) / 200) + 1);
    expect(points.at(-1)!.data.step).toBe(59);
    expect(writtenMs).toBeGreaterThan(startedMs);
  });

  test("a stream begins now, and continues after the last event without a gap or a repeat", async () => {
    const organization = await stack().organization();
    const { api, key } = organization;
    const project = await projectOf(organization);
    const { id } = (await api.post("/runs", { project: "p" })).json.run;
    await api.post(`/runs/${id}/metrics`, { metrics: { before: 1 }, step: 0 });
    const first = await follow(key, project);
    await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 1 });
    const event = await first.next("points");
    expect(event.data).toEqual({ run_id: id, keys: ["a"], step: 1 });
    expect(first.events).toHaveLength(1);
    first.close();
    await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] });
    await api.patch(`/runs/${id}`, { status: "finished" });
    const second = await follow(key, project, event.id);
    await second.next("run", id);
    await second.next("lines", id);
    expect(second.events.map((one) => one.event).toSorted()).toEqual(["lines", "run"]);
    // The comment of a stream without events has an id as well.
    const third = await follow(key, project, second.lastEventId());
    await api.post(`/runs/${id}/metrics`, { metrics: { b: 1 }, step: 2 });
    await third.next("points");
    expect(third.events.map((one) => one.event)).toEqual(["points"]);
  });

  test.each(["x", "1", "dead", "aaaaaaaaaaaa-1", "aaaaaaaaaaaa-zzzzzzzzzzz", ".", "é"])(
    "after the id %j, which is invalid or too old, reset is sent, and then new events",
    async (lastEventId) => {
      const organization = await stack().organization();
      const { api, key } = organization;
      const project = await projectOf(organization);
      const stream = await follow(key, project, lastEventId);
      expect((await stream.next("reset")).data).toEqual({});
      const { id } = (await api.post("/runs", { project: "p" })).json.run;
      await stream.next("run", id);
      expect(stream.events.map(({ event }) => event)).toEqual(["reset", "run"]);
    },
  );

  test("no event of another organization or project is sent, and other projects do not exist", async () => {
    const [ours, theirs] = [await stack().organization(), await stack().organization()];
    const project = await projectOf(ours);
    const other = await projectOf(ours, "other");
    const stream = await follow(ours.key, project);
    await theirs.api.post("/projects", { name: "p" });
    const canary = (await theirs.api.post("/runs", { project: "p" })).json.run.id;
    const neighbor = (await ours.api.post("/runs", { project: "other" })).json.run.id;
    for (const [api, run] of [
      [theirs.api, canary],
      [ours.api, neighbor],
    ] as const) {
      await api.post(`/runs/${run}/metrics`, { metrics: { canary: 1 }, step: 1 });
      await api.post(`/api/runs/${run}/logs`, { lines: [{ line_number: 1, message: "canary" }] });
      await api.post(`/api/runs/${run}/stop`, {});
    }
    const { id } = (await ours.api.post("/runs", { project: "p" })).json.run;
    await stream.next("run", id);
    expect(stream.text()).not.toMatch(new RegExp(`${canary}|${neighbor}|canary`));
    expect(stream.events).toHaveLength(1);
    for (const [key, id] of [
      [theirs.key, project],
      [ours.key, "0a1b2c3d-0000-4000-8000-0000000000ff"],
      [ours.key, "p"],
    ] as const) {
      const refused = await follow(key, id);
      await until("the answer", () => Promise.resolve(refused.isOver()));
      expect([refused.status, JSON.parse(refused.text())]).toEqual([404, { error: "project not found" }]);
    }
    expect(other).not.toBe(project);
  });

  test("a project-scoped key follows its own project alone", async () => {
    const organization = await stack().organization();
    const [project, other] = [await projectOf(organization), await projectOf(organization, "other")];
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(
      `/api/orgs/${organization.orgId}/api-keys`,
      { name: "scoped", scopes: ["export:read"], project_id: project },
      operator,
    );
    const key = made.json.api_key as string;
    expect((await follow(key, project)).status).toBe(200);
    expect((await follow(key, other)).status).toBe(404);
  });

  test("no credentials are 401, a missing scope is 403, HEAD has the headers alone", async () => {
    const organization = await stack().organization();
    const project = await projectOf(organization);
    const path = `/api/projects/${project}/changes`;
    expect((await stack().api.get(path)).status).toBe(401);
    const writer = await stack().organization({ scopes: ["sdk:ingest"] });
    expect((await writer.api.get(path)).status).toBe(403);
    expect((await organization.api.post(path)).status).toBe(405);
    const head = await organization.api.call("HEAD", path);
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-type": "text/event-stream" } });
  });

  test("a caller has 100 streams, then 429, and one more when one has ended", async () => {
    const organization = await stack().organization();
    const project = await projectOf(organization);
    const streams = await Promise.all(Array.from({ length: 100 }, () => follow(organization.key, project)));
    expect(streams.every(({ status }) => status === 200)).toBe(true);
    const refused = await follow(organization.key, project);
    await until("the answer", () => Promise.resolve(refused.isOver()));
    expect([refused.status, JSON.parse(refused.text())]).toMatchObject([429, { code: "rate_limit_exceeded" }]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    streams[0]!.close();
    await until("a place", async () => {
      const again = await follow(organization.key, project);
      return again.status === 200;
    });
  });

  test("a deleted run is announced, and what is refused for it is not", async () => {
    const organization = await stack().organization();
    const { api, key } = organization;
    const project = await projectOf(organization);
    const { id } = (await api.post("/runs", { project: "p" })).json.run;
    const stream = await follow(key, project);
    expect((await api.call("DELETE", `/runs/${id}`)).status).toBe(200);
    await stream.next("run", id);
    await until("writes to be refused", async () => {
      const answer = await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 1 });
      return answer.status === 404;
    });
    const from = stream.events.length;
    expect((await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] })).status).toBe(404);
    const second = (await api.post("/runs", { project: "p" })).json.run.id;
    await stream.next("run", second, from);
    expect(stream.events.slice(from).map(({ data }) => data.run_id)).toEqual([second]);
  });

  describe("a stream ends within ten seconds", () => {
    const followAs = async (person: Person, projectId: string): Promise<ChangeStream> => {
      const cookie = `${sessionCookie}=${person.browser.token()}`;
      const stream = await openChangeStream(stack().baseUrl, projectId, { cookie });
      open.push(stream);
      return stream;
    };
    const isOver = (stream: ChangeStream): Promise<unknown> =>
      until("the stream to end", () => Promise.resolve(stream.isOver()), 10_000);
    const made = async () => {
      const team = await createTeam(stack());
      const member = await team.join("viewer");
      const projectId = await projectOf({ api: team.owner.browser });
      const [owners, members] = [await followAs(team.owner, projectId), await followAs(member, projectId)];
      expect([owners.status, members.status]).toEqual([200, 200]);
      return { team, member, projectId, owners, members };
    };

    test("after its key was revoked", async () => {
      const organization = await stack().organization();
      const project = await projectOf(organization);
      const stream = await follow(organization.key, project);
      await revokeKeys(stack(), organization.orgId);
      await isOver(stream);
      expect((await follow(organization.key, project)).status).toBe(401);
    });

    test("after its session ended, and others continue", async () => {
      const { member, owners, members } = await made();
      await member.browser.post("/api/auth/logout");
      await isOver(members);
      expect(owners.isOver()).toBe(false);
    });

    test("after its member was removed", async () => {
      const { team, member, owners, members } = await made();
      const { seats } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json;
      const { membership } = seats.find((seat: { user: { id: string } }) => seat.user.id === member.userId);
      const path = `/api/orgs/${team.orgId}/seats/${membership.id}`;
      expect((await team.owner.browser.call("DELETE", path)).status).toBe(200);
      await isOver(members);
      expect(owners.isOver()).toBe(false);
    });

    test("after its project was deleted, and the project does not exist then", async () => {
      const { team, projectId, owners, members } = await made();
      expect((await team.owner.browser.call("DELETE", `/projects/${projectId}`)).status).toBe(200);
      await Promise.all([isOver(owners), isOver(members)]);
      expect((await followAs(team.owner, projectId)).status).toBe(404);
    });

    test("after its organization was deleted", async () => {
      const { team, owners, members } = await made();
      expect((await team.owner.browser.call("DELETE", `/api/orgs/${team.orgId}`)).status).toBe(200);
      await Promise.all([isOver(owners), isOver(members)]);
    });
  });
});
