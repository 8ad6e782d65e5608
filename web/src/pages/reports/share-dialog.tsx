import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { attempt } from "../../ui/fault.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { Time } from "../../ui/time.tsx";
import type { Report } from "./report-types.ts";

const VISIBILITIES = [
  { value: "private", label: "People of this organization" },
  { value: "org", label: "People of this organization, listed for all" },
  { value: "public", label: "Everybody who has the address" },
] as const;

/** Who can read a report, and the link that opens it without signing in. */
export function ShareDialog({
  report,
  onClose,
  onChanged,
}: {
  readonly report: Report;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}) {
  const [token, setToken] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [isRevoked, setRevoked] = useState(false);
  const hasLink = report.share_token_issued_at !== null && !isRevoked;
  const make = async (isShown: boolean): Promise<void> => {
    setBusy(true);
    await attempt(async () => {
      const { report: shared } = await call<{ report: Report }>(`/api/reports/${report.id}/share`, { method: "POST" });
      setToken(isShown ? (shared.share_token ?? undefined) : undefined);
      // The API revokes a link by making another one, which is never shown.
      setRevoked(!isShown);
      onChanged();
    });
    setBusy(false);
  };
  const show = (visibility: Report["visibility"]): void =>
    void attempt(
      async () => void (await call(`/api/reports/${report.id}`, { method: "PATCH", body: { visibility } })),
      onChanged,
    );
  return (
    <Dialog title="Share this report" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <Select
        label="Who can read it"
        hint="Its text only: charts and runs are shown to people who may see them."
        value={report.visibility}
        options={VISIBILITIES}
        onChange={show}
      />
      <h3>Link without signing in</h3>
      {token !== undefined && (
        <>
          <p>Copy it now; it is not shown again. It works for 30 days.</p>
          <Snippet label="Link to the report" text={`${location.origin}/r/${token}`} />
        </>
      )}
      {token === undefined && hasLink && (
        <p>
          There is a link, made <Time at={report.share_token_issued_at} />. A new one takes its place.
        </p>
      )}
      {token === undefined && !hasLink && (
        <p class="tm-muted">{isRevoked ? "The link does not work any more." : "There is no link yet."}</p>
      )}
      <p class="tm-form-row">
        <Button icon="link" busy={isBusy} onClick={() => void make(true)}>
          {hasLink ? "Replace link" : "Create link"}
        </Button>
        {hasLink && (
          <Button icon="lock" kind="danger" busy={isBusy} onClick={() => void make(false)}>
            Revoke link
          </Button>
        )}
      </p>
    </Dialog>
  );
}
