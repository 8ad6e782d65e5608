import { bytes } from "./bytes.ts";
import { charts } from "./charts.ts";
import { type Bench, describeRun, runBench } from "./frame/bench.ts";
import { OPTIONS, parseBenchArguments } from "./frame/command-line.ts";
import { createReport } from "./frame/report.ts";
import { lists } from "./lists.ts";
import { neighbors } from "./neighbors.ts";
import { tenants } from "./tenants.ts";
import { engines } from "./engines.ts";
import { traces } from "./traces.ts";
import { web } from "./web.ts";
import { writes } from "./writes.ts";

const benches: Readonly<Record<string, Bench>> = {
  writes,
  bytes,
  lists,
  tenants,
  traces,
  neighbors,
  charts,
  web,
  engines,
};

const names = Object.keys(benches);
const checked = names.filter((name) => benches[name]!.onlyByName !== true);
const options = parseBenchArguments(process.argv.slice(2), names, checked);

if (options.names.length === 0) {
  const list = names.map((name) => `  ${name.padEnd(16)} ${benches[name]!.about}`);
  process.stdout.write(`usage: npm run bench -- NAME … [options]\n${list.join("\n")}\n${OPTIONS}\n`);
  process.exitCode = 2;
} else {
  const report = createReport((text) => void process.stdout.write(`${text}\n`));
  for (const name of options.names) {
    for (const mode of options.modes) {
      report.say(describeRun(name, mode, options));
      await runBench(benches[name]!, { mode, options, report });
    }
  }
  const holds = report.judge();
  if (options.check && !holds) process.exitCode = 1;
}
