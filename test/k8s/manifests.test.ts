import { readdirSync, readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { allModules, knownNames } from "@tidemark/all";
import { ConfigError, parseConfig } from "@tidemark/host/config";
import { isPlaceholder } from "@tidemark/host";
import { parse, parseAllDocuments } from "yaml";

// There is no cluster here. Without one, these tests check that the manifests match the program:
// its modules, settings, ports and arguments.

type Selector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: "In" | "NotIn"; values: string[] }[];
};
type Peer = { podSelector?: Selector; namespaceSelector?: Selector };
type Port = { port: string | number; protocol?: string };
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template?: {
      spec: {
        containers: {
          image?: string;
          args?: string[];
          command?: string[];
          env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
          envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
          ports?: { name: string; containerPort: number }[];
        }[];
      };
    };
    ports?: { name: string; targetPort: string }[];
    selector?: Record<string, string>;
    podSelector?: Selector;
    policyTypes?: string[];
    ingress?: { from?: Peer[]; ports?: Port[] }[];
    egress?: { to?: Peer[]; ports?: Port[] }[];
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

const overlay = join(base, "../overlays/example");
type Kustomization = {
  images: { name: string; newTag?: string; digest?: string }[];
  patches: { target: { kind: string; name: string }; patch: string }[];
  secretGenerator: { name: string; envs: string[] }[];
};
const example = parse(readFileSync(join(overlay, "kustomization.yaml"), "utf8")) as Kustomization;
/** The values of each secret that the example overlay makes. */
const exampleSecrets = new Map(
  example.secretGenerator.map(({ name, envs }) => {
    const lines = envs.flatMap((file) =>
      readFileSync(join(overlay, file.replace(/^secrets\//, "secrets.example/")), "utf8")
        .trim()
        .split("\n"),
    );
    return [name, Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))];
  }),
);

const workloads = manifests.filter(({ kind }) => kind === "Deployment" || kind === "Job");
const variablesOf = ({ spec }: Manifest) => spec?.template?.spec.containers[0]?.env ?? [];
const variables = (workload: string) =>
  workloads.filter(({ metadata }) => metadata.name === workload).flatMap(variablesOf);
/** The secret and its key from which each workload takes a variable; of all that match the name. */
function sourcesOf(workload: string, variable: RegExp): Record<string, string> {
  return Object.fromEntries(
    variables(workload).flatMap(({ name, valueFrom }) =>
      valueFrom === undefined || !variable.test(name)
        ? []
        : [[name, `${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`]],
    ),
  );
}

/** Which of our pods a policy selects. */
function selectedBy(policy: string, components: readonly string[]): string[] {
  const { matchLabels = {}, matchExpressions = [] } = find("NetworkPolicy", policy)!.spec!.podSelector!;
  const labels = (component: string): Record<string, string> => ({
    "app.kubernetes.io/name": "tidemark",
    "app.kubernetes.io/component": component,
  });
  return components.filter(
    (component) =>
      Object.entries(matchLabels).every(([key, value]) => labels(component)[key] === value) &&
      matchExpressions.every(
        ({ key, operator, values }) => values.includes(labels(component)[key] ?? "") === (operator === "In"),
      ),
  );
}
const names = allModules.map(({ name }) => name);
const withDatabase = allModules.filter(({ schema }) => schema !== undefined).map(({ name }) => name);
const loginName = (module: string): string => `LOGIN_URL_${module.replaceAll("-", "_").toUpperCase()}`;

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
    const secrets = [...exampleSecrets.values()].flatMap((values) => Object.keys(values));
    expect(secrets.filter((name) => !knownNames.includes(name))).toEqual([]);
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

  test("let Prometheus reach the port of the figures alone, and peers those where a token is required", () => {
    const rules = find("NetworkPolicy", "internal-ports")?.spec?.ingress ?? [];
    const portsFor = (text: string) =>
      rules.filter(({ from }) => JSON.stringify(from).includes(text)).flatMap(({ ports = [] }) => ports);
    expect(portsFor("monitoring")).toEqual([{ port: "metrics" }]);
    expect(portsFor("tidemark")).toEqual([{ port: "internal" }, { port: "grpc" }]);
    expect(rules).toHaveLength(2);
  });

  test.each([
    ["tidemark", "TIDEMARK_INTERNAL_TOKEN"],
    ["tidemark-gateway", "TIDEMARK_BOOTSTRAP_TOKEN"],
  ])("name in %s no %s that a process would start with", (secret, setting) => {
    const token = exampleSecrets.get(secret)?.[setting];
    expect(token).toEqual(expect.any(String));
    expect(isPlaceholder(token!)).toBe(true);
  });

  test("are all listed in the kustomization", () => {
    const text = readFileSync(join(base, "kustomization.yaml"), "utf8");
    for (const file of files.filter((name) => name !== "kustomization.yaml")) expect(text).toContain(file);
  });
});

describe("the secrets of the manifests", () => {
  test.each(withDatabase)("give %s a database login of its own", (name) => {
    expect(sourcesOf(name, /DATABASE_URL|LOGIN_URL/)).toEqual({
      TIDEMARK_DATABASE_URL: `tidemark-${name}/TIDEMARK_DATABASE_URL`,
    });
  });

  test("give the gateway no database URL", () => {
    expect(sourcesOf("gateway", /DATABASE_URL|LOGIN_URL/)).toEqual({});
  });

  test("give the owner's URL to the migration job alone, which makes the logins of all", () => {
    const logins = withDatabase.map((name) => [loginName(name), `tidemark-${name}/TIDEMARK_DATABASE_URL`]);
    expect(sourcesOf("migrate", /./)).toEqual({
      TIDEMARK_OWNER_DATABASE_URL: "tidemark-owner/TIDEMARK_OWNER_DATABASE_URL",
      ...Object.fromEntries(logins),
    });
    for (const name of names) expect(sourcesOf(name, /OWNER/)).toEqual({});
    // Kubernetes puts in the values of variables that stand before.
    const [list, ...others] = variables("migrate").filter(({ value }) => value !== undefined);
    expect([list?.name, others]).toEqual(["TIDEMARK_LOGIN_URLS", []]);
    expect(new Set(list?.value?.split(" "))).toEqual(
      new Set(withDatabase.map((name) => `${name}=$(${loginName(name)})`)),
    );
    expect(variables("migrate").at(-1)).toBe(list);
  });

  test("give the keys of the store to those that use it, and the operator's token to the gateway", () => {
    const having = (variable: RegExp) => names.filter((name) => Object.keys(sourcesOf(name, variable)).length > 0);
    expect(having(/S3_SECRET_KEY/).toSorted()).toEqual(["artifacts", "gateway"]);
    expect(having(/BOOTSTRAP/)).toEqual(["gateway"]);
  });

  test("give the control service what its provider and its mail server ask for, if it is set", () => {
    expect(Object.keys(sourcesOf("control", /OIDC|MAIL|SMTP/))).toEqual([
      "TIDEMARK_OIDC_ISSUER",
      "TIDEMARK_OIDC_CLIENT_ID",
      "TIDEMARK_OIDC_CLIENT_SECRET",
      "TIDEMARK_MAIL",
      "TIDEMARK_MAIL_FROM",
      "TIDEMARK_SMTP_URL",
    ]);
  });

  test("that all processes share are the tokens of NATS and of the peers", () => {
    const shared = workloads.flatMap((manifest) =>
      (manifest.spec?.template?.spec.containers[0]?.envFrom ?? []).flatMap(({ secretRef }) => secretRef?.name ?? []),
    );
    expect(shared).toEqual(["tidemark"]);
    expect(Object.keys(exampleSecrets.get("tidemark")!)).toEqual(["TIDEMARK_INTERNAL_TOKEN", "TIDEMARK_NATS_TOKEN"]);
    expect(Object.keys(settings).filter((name) => /TOKEN|SECRET|KEY|PASSWORD|DATABASE/.test(name))).toEqual([]);
  });

  test("are all made by the example, with the keys that are requested and a login for each service", () => {
    const asked = workloads.flatMap(variablesOf).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
    expect(asked.length).toBeGreaterThan(20);
    for (const { name, key } of asked) {
      expect([name, key, typeof exampleSecrets.get(name)?.[key]]).toEqual([name, key, "string"]);
    }
    const users = withDatabase.map(
      (name) => new URL(exampleSecrets.get(`tidemark-${name}`)!["TIDEMARK_DATABASE_URL"]!),
    );
    const owner = new URL(exampleSecrets.get("tidemark-owner")!["TIDEMARK_OWNER_DATABASE_URL"]!);
    expect(new Set([owner, ...users].map(({ username }) => username)).size).toBe(withDatabase.length + 1);
  });
});

describe("the network policies", () => {
  const all = [...names, "migrate"];
  test("let nothing in and nothing out that no other policy names", () => {
    const { spec } = find("NetworkPolicy", "nothing-else")!;
    expect(spec).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/name": "tidemark" } },
      policyTypes: ["Ingress", "Egress"],
    });
    const job = find("Job", "migrate") as unknown as { spec: { template: { metadata: { labels: object } } } };
    expect(job.spec.template.metadata.labels).toEqual({ "app.kubernetes.io/component": "migrate" });
  });

  const calling = allModules.filter(({ needs }) => needs.length > 0).map(({ name }) => name);
  test.each([
    ["to-dns", all, { "kubernetes.io/metadata.name": "kube-system" }, ["kube-dns"], [53, 53]],
    ["to-peers", calling, undefined, "tidemark", ["internal"]],
    ["to-postgresql", [...withDatabase, "migrate"], undefined, ["postgres"], [5432]],
    ["to-nats", names, undefined, ["nats"], [4222]],
    ["to-store", ["artifacts", "gateway"], undefined, ["minio"], [9000]],
  ])("%s opens one way out, for those that need it", (policy, components, namespace, pods, ports) => {
    expect(selectedBy(policy, all).toSorted()).toEqual([...components].toSorted());
    const { policyTypes, egress = [] } = find("NetworkPolicy", policy)!.spec!;
    expect(policyTypes).toEqual(["Egress"]);
    expect(egress).toHaveLength(1);
    const [{ to = [], ports: opened = [] } = {}] = egress;
    expect(opened.map(({ port }) => port)).toEqual(ports);
    expect(to).toHaveLength(1);
    const [{ podSelector, namespaceSelector } = {}] = to;
    expect(namespaceSelector?.matchLabels).toEqual(namespace);
    if (pods === "tidemark") {
      expect(podSelector).toEqual({ matchLabels: { "app.kubernetes.io/name": "tidemark" } });
      return;
    }
    // Kustomize adds our own label to matchLabels, which the pods of others do not have.
    expect(podSelector?.matchLabels).toBeUndefined();
    expect(podSelector?.matchExpressions?.map(({ operator, values }) => [operator, values])).toEqual([["In", pods]]);
  });

  test("let the control service alone reach an identity provider and a mail server on the internet, and no private network", () => {
    expect(selectedBy("to-internet", all)).toEqual(["control"]);
    const { egress = [] } = find("NetworkPolicy", "to-internet")!.spec!;
    expect(egress).toEqual([
      {
        to: [{ ipBlock: expect.objectContaining({ cidr: "0.0.0.0/0" }) }],
        ports: [{ port: 443 }, { port: 465 }, { port: 587 }],
      },
    ]);
    const { except } = (egress[0]!.to![0] as unknown as { ipBlock: { except: string[] } }).ipBlock;
    for (const range of [
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "169.254.0.0/16",
      "127.0.0.0/8",
      "100.64.0.0/10",
    ])
      expect(except).toContain(range);
  });

  test("open no way out besides", () => {
    const opening = manifests.filter(({ kind, spec }) => kind === "NetworkPolicy" && spec?.egress !== undefined);
    expect(opening.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      ["to-dns", "to-internet", "to-nats", "to-peers", "to-postgresql", "to-store"].toSorted(),
    );
  });

  test("lead to the servers and ports that the settings name", () => {
    expect(settings["TIDEMARK_NATS_URL"]).toMatch(/:4222$/);
    expect(settings["TIDEMARK_S3_ENDPOINT"]).toMatch(/:9000$/);
    expect(new URL(exampleSecrets.get("tidemark-runs")!["TIDEMARK_DATABASE_URL"]!).port).toBe("5432");
  });
});

describe("the proxies that the gateway believes", () => {
  const gateway = allModules.find(({ name }) => name === "gateway")!;
  const proxies = (value: string | undefined): unknown =>
    parseConfig({ gateway: gateway.config }, { TIDEMARK_TRUSTED_PROXIES: value }).gateway;
  const patched = example.patches.find(({ target }) => target.kind === "ConfigMap")?.patch;
  const value = /path: \/data\/TIDEMARK_TRUSTED_PROXIES, value: "([^"]+)"/.exec(patched ?? "")?.[1];

  test("have to be named: the gateway does not start with what the manifests say before", () => {
    expect(() => proxies(settings["TIDEMARK_TRUSTED_PROXIES"])).toThrow(ConfigError);
  });

  test("are named by the example as a small range of private addresses", () => {
    expect(() => proxies(value)).not.toThrow();
    const [address, bits] = value!.split("/");
    expect(isIPv4(address!)).toBe(true);
    expect(address).toMatch(/^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\./);
    expect(Number(bits)).toBeGreaterThanOrEqual(24);
  });

  test("are the only ones that reach it in the example", () => {
    const narrowed = example.patches.find(({ target }) => target.name === "gateway-http");
    expect(parse(narrowed!.patch)).toEqual([
      {
        op: "add",
        path: "/spec/ingress/0/from",
        value: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }],
      },
    ]);
  });
});

describe("images", () => {
  const digest = /^sha256:[0-9a-f]{64}$/;
  test("of the manifests get a digest from the overlay, never a tag", () => {
    const images = workloads.flatMap((manifest) => manifest.spec?.template?.spec.containers ?? []);
    expect(new Set(images.flatMap(({ image }) => image ?? []))).toEqual(new Set(["tidemark"]));
    expect(example.images).toEqual([
      { name: "tidemark", newName: expect.any(String), digest: expect.stringMatching(digest) },
    ]);
  });

  test("that the Dockerfile builds on are named with a digest, which the build checks", () => {
    const text = readFileSync(join(base, "../../Dockerfile"), "utf8");
    const from = [...text.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, image]) => image!);
    expect(from.length).toBeGreaterThan(0);
    expect(from.filter((image) => image !== "${NODE_IMAGE}" && !/@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
    expect(text).toMatch(/^ARG NODE_IMAGE$/m);
    expect(text).not.toMatch(/^ARG NODE_IMAGE=/m);
    expect(text).toContain('case "$NODE_IMAGE" in *@sha256:*)');
    // Nothing is fetched there without a checksum: the launcher has the one of pnpm, and the lock file those of packages.
    expect(text).not.toMatch(/\bnpm install|curl|wget|apt-get/);
    expect(text).toContain("pnpm install --prod --frozen-lockfile");
  });
});
