import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { DataTable } from "./data-table.tsx";
import { storageRows, usageRows, type UsageDocument } from "./usage-rows.ts";

/** The organization's usage and limits. */
export function UsageSection() {
  const { data, error, reload } = useQuery<UsageDocument>("/api/usage");
  const organization = data?.organizations[0];
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={6} height="28px" />}
      {data !== undefined && organization !== undefined && (
        <>
          <p class="tm-muted">
            Plan {organization.plan_tier}. Monthly figures reset <Time at={data.usage_period.reset_at} />.
          </p>
          <DataTable label="Usage" columns={["Limit", "Used", "Included", "Share"]} numbers={["Used", "Included"]}>
            {usageRows(organization).map(({ label, used, included, share }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td class="tm-number">{used}</td>
                <td class="tm-number">{included}</td>
                <td>
                  {share !== undefined && (
                    <meter min={0} max={1} high={0.9} value={share} aria-label={`Share of ${label}`} />
                  )}
                </td>
              </tr>
            ))}
          </DataTable>
          <h2>Storage by kind</h2>
          <p class="tm-muted">Deleted data counts until it is removed for good.</p>
          <DataTable label="Storage by kind" columns={["Kind", "Used", "Share"]} numbers={["Used"]}>
            {storageRows(organization).map(({ label, used, share }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td class="tm-number">{used}</td>
                <td>
                  <meter min={0} max={1} value={share} aria-label={`Share of ${label}`} />
                </td>
              </tr>
            ))}
          </DataTable>
        </>
      )}
    </>
  );
}
