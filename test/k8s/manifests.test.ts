import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { allModules, knownNames } from "@tidemark/all";
import { isPlaceholder } from "@tidemark/host";
import { parseAllDocuments } from "yaml";

// There is no cluster here. What can be checked without one is that the manifests match the program:
// its modules, settings, ports and arguments.

type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template?: {
      spec: {
        containers: { args?: string[]; command?: string[]; ports?: { name: string; containerPort: number }[] }[];
      };
    };
    ports?: { name: string; targetPort: string }[];
    selector?: Record<string, string>;
    ingress?: { from?: unknown; ports?: { port: string | number; protocol?: string }[] }[];
  };
};

const base = join(import.meta.dirname, "../../k8s/base");
const files = readdirSync(base).filter((name) => name.endsWith(".yaml"));
const manifests = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(base, file), "utf8"), { strict: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as Manifest;
  }),
);
const find = (kind: string, name: string): Manifest | undefined =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
const settings = find("ConfigMap", "tidemark")?.data ?? {};

describe("the Kubernetes manifests", () => {
  test.each(allModules.map(({ name }) => name))(
    "run module %s as a Deployment with a Service and a disruption budget",
    (name) => {
      const deployment = manifests.find(
        (manifest) =>
          manifest.kind === "Deployment" &&
          manifest.spec?.template?.spec.containers[0]?.args?.[0] === `--target=${name}`,
      );
      expect(deployment?.metadata.name).toBe(name);
      expect(find("Service", name)?.spec?.selector).toEqual({ "app.kubernetes.io/component": name });
      expect(find("PodDisruptionBudget", name)).toBeDefined();
    },
  );

  test("name only settings that exist, and the address of every module that another one needs", () => {
    expect(Object.keys(settings).filter((name) => !knownNames.includes(name))).toEqual([]);
    const secrets = readFileSync(join(base, "../overlays/example/secret.env.example"), "utf8").trim().split("\n");
    expect(secrets.map((line) => line.split("=")[0]).filter((name) => !knownNames.includes(name ?? ""))).toEqual([]);
    const addressed = (settings["TIDEMARK_PEERS"] ?? "").split(",").map((item) => item.split("=")[0]);
    const needed = new Set(allModules.flatMap(({ needs }) => needs.map(({ module }) => module)));
    expect(new Set(addressed)).toEqual(needed);
  });

  test("open the ports that the settings name", () => {
    const ports = Object.fromEntries(
      manifests
        .filter(({ kind }) => kind === "Deployment")
        .flatMap((manifest) => manifest.spec?.template?.spec.containers[0]?.ports ?? [])
        .map(({ name, containerPort }) => [name, String(containerPort)]),
    );
    expect(ports).toEqual({
      http: settings["TIDEMARK_PORT"],
      internal: settings["TIDEMARK_INTERNAL_PORT"],
      grpc: settings["TIDEMARK_GRPC_PORT"],
      metrics: settings["TIDEMARK_METRICS_PORT"],
    });
  });

  test("let Prometheus reach the port of the figures alone, and peers those where a token is asked for", () => {
    const rules = find("NetworkPolicy", "internal-ports")?.spec?.ingress ?? [];
    const portsFor = (text: string) =>
      rules.filter(({ from }) => JSON.stringify(from).includes(text)).flatMap(({ ports = [] }) => ports);
    expect(portsFor("monitoring")).toEqual([{ port: "metrics" }]);
    expect(portsFor("tidemark")).toEqual([{ port: "internal" }, { port: "grpc" }]);
    expect(rules).toHaveLength(2);
  });

  test("name no internal token that a process would start with", () => {
    const text = readFileSync(join(base, "../overlays/example/secret.env.example"), "utf8");
    const token = /^TIDEMARK_INTERNAL_TOKEN=(.*)$/m.exec(text)?.[1];
    expect(token).toEqual(expect.any(String));
    expect(isPlaceholder(token!)).toBe(true);
  });

  test("are all listed in the kustomization", () => {
    const text = readFileSync(join(base, "kustomization.yaml"), "utf8");
    for (const file of files.filter((name) => name !== "kustomization.yaml")) expect(text).toContain(file);
  });
});
