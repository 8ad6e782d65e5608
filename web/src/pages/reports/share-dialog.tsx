import { useState } from "preact/hooks";
import { serverUrl } from "../../api/base-path.ts";
import { call } from "../../api/client.ts";
import { attempt } from "../../ui/fault.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import { Time } from "../../ui/time.tsx";
import type { Report } from "./report-types.ts";

const VISIBILITIES = [
  { value: "private", label: "People in this organization" },
  { value: "org", label: "People in this organization, listed for everyone" },
  { value: "public", label: "Anyone who has the address" },
] as const;

const EXTENTS = [
  { value: "text", label: "Text only" },
  { value: "live", label: "Text and live data" },
  { value: "frozen", label: "Text and data as of now" },
] as const;

type Extent = (typeof EXTENTS)[number]["value"];

const EXTENT_HINTS: Readonly<Record<Extent, string>> = {
  text: "Charts and tables of runs are left out.",
  live: "Anyone with the link sees the data in the charts and tables of this report, including what is logged or added to it later.",
  frozen: "Anyone with the link sees the data in the charts and tables of this report as they are now.",
};

/** Returns what the link of a report opens. */
function extentOf({ share_extent: extent, share_frozen: frozen }: Report): Extent {
  if (extent !== "data") return "text";
  return frozen === true ? "frozen" : "live";
}

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
  const [extent, setExtent] = useState<Extent>(extentOf(report));
  const hasLink = report.share_token_issued_at !== null && !isRevoked;
  const change = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await attempt(work, onChanged);
    setBusy(false);
  };
  const make = (): Promise<void> =>
    change(async () => {
      const body = { extent: extent === "text" ? "blocks" : "data", frozen: extent === "frozen" };
      const { report: shared } = await call<{ report: Report }>(`/api/reports/${report.id}/share`, { body });
      setToken(shared.share_token ?? undefined);
      setRevoked(false);
    });
  const revoke = (): Promise<void> =>
    change(async () => {
      await call(`/api/reports/${report.id}/share`, { method: "DELETE" });
      setToken(undefined);
      setRevoked(true);
    });
  const show = (visibility: Report["visibility"]): void =>
    void attempt(
      async () => void (await call(`/api/reports/${report.id}`, { method: "PATCH", body: { visibility } })),
      onChanged,
    );
  return (
    <Dialog title="Share this report" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <Select
        label="Who can read it"
        hint="Applies to the text. Charts and runs are shown only to people who may see them."
        value={report.visibility}
        options={VISIBILITIES}
        onChange={show}
      />
      <h3>Link without signing in</h3>
      <Select
        label="The link shows"
        hint={EXTENT_HINTS[extent]}
        value={extent}
        options={EXTENTS}
        onChange={(chosen) => setExtent(chosen)}
      />
      {token !== undefined && (
        <>
          <p>Copy it now; it is not shown again. It works for 30 days.</p>
          <Snippet label="Link to the report" text={`${serverUrl()}/r/${token}`} />
        </>
      )}
      {token === undefined && hasLink && (
        <p>
          A link was created <Time at={report.share_token_issued_at} />:{" "}
          {EXTENTS.find(({ value }) => value === extentOf(report))!.label.toLowerCase()}. A new link replaces it.
        </p>
      )}
      {token === undefined && !hasLink && (
        <p class="tm-muted">{isRevoked ? "The link no longer works." : "No link yet."}</p>
      )}
      <p class="tm-form-row">
        <Button icon="link" busy={isBusy} onClick={() => void make()}>
          {hasLink ? "Replace link" : "Create link"}
        </Button>
        {hasLink && (
          <Button icon="lock" kind="danger" busy={isBusy} onClick={() => void revoke()}>
            Revoke link
          </Button>
        )}
      </p>
    </Dialog>
  );
}
