import { expect, test } from "@jest/globals";
import { systemSections } from "./system-charts.ts";

const shown = (keys: readonly string[]) =>
  systemSections(keys).map(({ name, charts }) => [
    name,
    charts.map(({ title, devices, isPercent }) => [title, [...devices.values()].join(), isPercent]),
  ]);

test("metrics of the SDK are a chart for each quantity, with a line for each device", () => {
  const gpus = [0, 1, 10].flatMap((i) => [`system/gpu/${i}/gpu_percent`, `system/gpu/${i}/memory_used_bytes`]);
  const others = ["cpu_percent", "memory_percent", "network_bytes_sent", "process_rss_bytes", "disk_percent"];
  const keys = ["loss", "system/instantml/upload_lag_seconds", ...others.map((name) => `system/${name}`), ...gpus];
  expect(shown(keys)).toEqual([
    [
      "GPU",
      [
        ["GPU (%)", "GPU 0,GPU 1,GPU 10", true],
        ["GPU memory used (bytes)", "GPU 0,GPU 1,GPU 10", false],
      ],
    ],
    ["CPU", [["CPU (%)", "", true]]],
    ["Memory", [["Memory (%)", "", true]]],
    ["Disk", [["Disk (%)", "", true]]],
    ["Network", [["Network bytes sent", "", false]]],
    ["Process", [["Process RSS (bytes)", "", false]]],
    ["Uploads", [["Upload lag (s)", "", false]]],
  ]);
});

test("metrics of imports have points instead of slashes, and percentages that do not say so", () => {
  const keys = [
    "cpu",
    "gpu.0.gpu",
    "gpu.1.gpu",
    "gpu.0.powerWatts",
    "proc.memory.percent",
    "cpu.0.cpu_percent",
    "uptime",
  ];
  expect(shown(keys.map((key) => `system/${key}`))).toEqual([
    [
      "GPU",
      [
        ["GPU (%)", "GPU 0,GPU 1", true],
        ["GPU power (W)", "GPU 0", false],
      ],
    ],
    [
      "CPU",
      [
        ["CPU (%)", "", true],
        ["CPU (%)", "CPU 0", true],
      ],
    ],
    ["Process", [["Proc memory (%)", "", false]]],
    ["Other", [["Uptime", "", false]]],
  ]);
});
