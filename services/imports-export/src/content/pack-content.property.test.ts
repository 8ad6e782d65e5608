import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { createContentBuilder, packContent, unpackContent } from "./content.rules.ts";

const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const point = fc.tuple(
  id,
  id,
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.option(fc.integer()),
);

test("packed content is read back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(point, { maxLength: 50 }), fc.array(id, { maxLength: 5 }), async (points, names) => {
      const builder = createContentBuilder();
      for (const each of points) builder.addPoint(...each);
      for (const name of names) {
        const facts = { type: "file" as const, uri: name, step: null, sizeBytes: 1, mimeType: "x", metadata: "{}" };
        builder.addArtifact(name, { name, ...facts });
        const times = { timeUs: 5, step: 0, value: "[1]", summary: "{}" };
        builder.addAttribute(name, { path: name, type: "tag", ...times });
      }
      const content = builder.build();
      expect(await unpackContent(packContent(content))).toEqual(content);
    }),
  );
});
