import { createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { freePort, isPortFree } from "./free-port.ts";

test("a free port can be listened on, and is not free then", async () => {
  const port = await freePort();
  expect(await isPortFree(port)).toBe(true);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  expect(await isPortFree(port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

test("no port is given out twice, even while no process listens on it yet", async () => {
  const ports: number[] = [];
  for (let i = 0; i < 100; i += 1) ports.push(await freePort());
  expect(new Set(ports).size).toBe(100);
});
