import { build } from "esbuild";
import type { EmbedParts } from "./bundle-index.ts";
import { common, components } from "./options.ts";

/** Bundles the page of embedded views. @throws Error that names the fault in the sources */
export async function bundleEmbed(): Promise<EmbedParts> {
  const { outputFiles } = await build({
    ...common,
    ...components,
    entryPoints: ["src/embed/main.tsx"],
    format: "esm",
    // Preact could turn a text into markup. No element knows the property by another name, so the page cannot.
    mangleProps: /^innerHTML$/,
  });
  const textOf = (extension: string): string => outputFiles.find(({ path }) => path.endsWith(extension))!.text.trim();
  return { script: textOf(".js"), style: textOf(".css") };
}
