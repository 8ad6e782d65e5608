import { expect, test } from "@jest/globals";
import { testServerUrl } from "@tidemark/testkit";
import pg from "pg";
import { binaryArray, textArray } from "./binary-arrays.ts";
import { copyBuffer, copyIn } from "./copy-rows.ts";

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: testServerUrl() });
  await client.connect();
  return client;
};

test("PostgreSQL reads the arrays as they were meant", async () => {
  const client = await connect();
  try {
    const { rows } = await client.query(
      "SELECT $1::int4[]::text AS a, $2::int8[]::text AS b, $3::float8[]::text AS c, $4::text[]::text AS d, (SELECT array_agg(t AT TIME ZONE 'UTC')::text FROM unnest($5::timestamptz[]) AS t) AS e",
      [
        binaryArray("int4", [1, -2, 2_000_000_000]),
        binaryArray("int8", [0, 4_000_000_000]),
        binaryArray("float8", [0.1, -1e-320]),
        textArray(["loss", "größe"], 4),
        binaryArray("timestamptz", [1_767_323_045_678_901, 946_684_800_000_000, -1]),
      ],
    );
    expect(rows).toEqual([
      {
        a: "{1,-2,2000000000}",
        b: "{0,4000000000}",
        c: "{0.1,-1e-320}",
        d: "{loss,größe,loss,größe}",
        e: '{"2026-01-02 03:04:05.678901","2000-01-01 00:00:00","1969-12-31 23:59:59.999999"}',
      },
    ]);
  } finally {
    await client.end();
  }
});

test("a COPY takes all rows, and a refused one leaves the connection usable", async () => {
  const client = await connect();
  try {
    await client.query(
      "CREATE TEMPORARY TABLE copied (series integer, step bigint, at timestamptz, value double precision CHECK (value > 0))",
    );
    const buffer = copyBuffer(2);
    buffer.add(7, 4_000_000_000, 1_767_323_045_678_901, 0.5);
    buffer.add(8, 1, 0, 1e300);
    await copyIn(client, "COPY copied FROM STDIN (FORMAT binary)", buffer.finish());
    const refused = copyBuffer(1);
    refused.add(1, 1, 0, -1);
    await expect(copyIn(client, "COPY copied FROM STDIN (FORMAT binary)", refused.finish())).rejects.toThrow("check");
    const { rows } = await client.query(
      "SELECT series, step::text, extract(epoch FROM at)::text AS at, value FROM copied ORDER BY series",
    );
    expect(rows).toEqual([
      { series: 7, step: "4000000000", at: "1767323045.678901", value: 0.5 },
      { series: 8, step: "1", at: "0.000000", value: 1e300 },
    ]);
  } finally {
    await client.end();
  }
});
