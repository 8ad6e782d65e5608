import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { partBytesOf, planUpload, UPLOAD_LIMITS } from "./upload-plan.rules.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const TiB = 1024 ** 4;

describe("how a file is sent", () => {
  test.each([
    [0, "inline", 0],
    [256 * KiB, "inline", 0],
    [256 * KiB + 1, "put", 1],
    [32 * MiB, "put", 1],
    [32 * MiB + 1, "multipart", 3],
    [160 * MiB, "multipart", 10],
    [160 * MiB + 1, "multipart", 11],
  ] as const)("%d bytes", (size, uploadKind, partCount) => {
    const { partSizeBytes, files } = planUpload([size]);
    expect(files).toEqual([{ uploadKind, partCount }]);
    expect(partSizeBytes).toBe(16 * MiB);
  });

  test("inline files have at most 24 MiB together; those that do not fit have addresses of their own", () => {
    const { files } = planUpload(Array.from({ length: 100 }, () => 256 * KiB));
    expect(files.filter(({ uploadKind }) => uploadKind === "inline")).toHaveLength(96);
    expect(files.filter(({ uploadKind }) => uploadKind === "put")).toHaveLength(4);
  });

  test("a file of 5 TiB has at most 10,000 parts", () => {
    const { partSizeBytes, files } = planUpload([5 * TiB]);
    expect(partSizeBytes).toBe(1024 * MiB);
    expect(files[0]!.partCount).toBe(5120);
  });
});

test("any sizes stay within the bounds, and parts make up their files", () => {
  const sizes = fc.array(
    fc.oneof(
      fc.integer({ min: 0, max: 64 * MiB }),
      fc.maxSafeInteger().map((n) => Math.abs(n) % (5 * TiB)),
    ),
    {
      minLength: 1,
      maxLength: 1000,
    },
  );
  fc.assert(
    fc.property(sizes, (all) => {
      const { partSizeBytes, files } = planUpload(all);
      expect(files.reduce((sum, { partCount }) => sum + partCount, 0)).toBeLessThanOrEqual(
        UPLOAD_LIMITS.partsOfSessionMax,
      );
      files.forEach(({ uploadKind, partCount }, i) => {
        expect(partCount).toBeLessThanOrEqual(UPLOAD_LIMITS.partsOfFileMax);
        if (uploadKind === "inline") return;
        const file = { sizeBytes: all[i]!, partCount };
        const last = partBytesOf(file, partSizeBytes, partCount);
        expect(last).toBeGreaterThan(0);
        expect(last).toBeLessThanOrEqual(Math.max(partSizeBytes, UPLOAD_LIMITS.putBytesMax));
        const whole = partCount === 1 ? 0 : (partCount - 1) * partBytesOf(file, partSizeBytes, 1);
        expect(whole + last).toBe(all[i]);
      });
    }),
  );
});
