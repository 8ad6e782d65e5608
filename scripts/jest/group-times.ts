import { relative, sep } from "node:path";
import { describeTimes } from "./group-times.rules.ts";

/** A reporter of Jest that prints, after all tests, how long each group of test files took, so that growth is seen. */
export default class GroupTimes {
  readonly #root: string;
  readonly #startedMs = new Map<string, number>();
  readonly #seconds = new Map<string, number>();

  constructor({ rootDir }: { readonly rootDir: string }) {
    this.#root = rootDir;
  }

  onTestFileStart({ path }: { readonly path: string }): void {
    this.#startedMs.set(path, performance.now());
  }

  onTestFileResult({ path }: { readonly path: string }): void {
    const started = this.#startedMs.get(path) ?? performance.now();
    this.#seconds.set(relative(this.#root, path).split(sep).join("/"), (performance.now() - started) / 1000);
  }

  onRunComplete(): void {
    process.stderr.write(
      describeTimes(this.#seconds)
        .map((line) => `${line}\n`)
        .join(""),
    );
  }
}
