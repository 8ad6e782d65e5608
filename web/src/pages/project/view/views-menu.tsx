import { useState } from "preact/hooks";
import { call } from "../../../api/client.ts";
import { hasUser, mayWrite } from "../../../api/session.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { currentLocation, navigate } from "../../../app/location.tsx";
import { attempt } from "../../../ui/fault.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox, TextField } from "../../../ui/field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Menu, type MenuItem } from "../../../ui/menu.tsx";
import { toast } from "../../../ui/toast.tsx";
import { addressOfView, payloadOfView } from "./saved-view.ts";

type ViewRow = {
  readonly id: string;
  readonly name: string;
  readonly project: string | null;
  readonly updated_at: string;
  readonly visibility?: "organization";
  readonly is_owner?: boolean;
};

/** Says why a session of a key has no views. */
const NO_USER: MenuItem = {
  label: "Views belong to users. You are signed in with an API key.",
  disabled: true,
  onSelect: () => undefined,
};

/** Saved views of a project: opens, saves, shares and deletes them. */
export function ViewsMenu({ project, current }: { readonly project: string; readonly current: string | undefined }) {
  const [isSaving, setSaving] = useState(false);
  // Without the views the menu still saves one.
  const { data, reload } = useQuery<{ workspace_views: readonly ViewRow[] }>(
    hasUser() ? "/api/workspace-views?limit=100" : undefined,
  );
  const views = (data?.workspace_views ?? []).filter((one) => one.project === project);
  const view = views.find(({ id }) => id === current);
  const isOwn = view !== undefined && view.is_owner !== false;
  const change = (body: object, note: string) => () =>
    void attempt(
      async () => void (await call(`/api/workspace-views/${current}`, { method: "PUT", body })),
      () => {
        toast(note);
        reload();
      },
    );
  const own: MenuItem[] =
    isOwn && mayWrite()
      ? [
          {
            label: `Update “${view.name}”`,
            icon: "refresh",
            onSelect: change({ payload: payloadOfView(currentLocation.peek().query) }, "Updated the view."),
          },
          view.visibility === "organization"
            ? {
                label: "Make private",
                icon: "lock",
                onSelect: change({ visibility: "private" }, "Only you see the view now."),
              }
            : {
                label: "Share with the organization",
                icon: "share",
                onSelect: change({ visibility: "organization" }, "The organization sees the view now."),
              },
          {
            label: "Delete view",
            icon: "trash",
            danger: true,
            onSelect: () =>
              void attempt(async () => {
                const query = new URLSearchParams({ expected_updated_at: view.updated_at });
                await call(`/api/workspace-views/${view.id}?${query}`, { method: "DELETE" });
              }, reload),
          },
          "line",
        ]
      : [];
  const items: MenuItem[] = [
    ...(hasUser() ? [] : [NO_USER]),
    ...views.map((one): MenuItem => ({
      label: one.name,
      checked: one.id === current,
      onSelect: () => navigate(`${currentLocation.peek().path}?view=${one.id}`),
      hint: one.visibility === "organization" ? "shared" : undefined,
    })),
    ...(views.length > 0 ? (["line"] as const) : []),
    ...own,
    ...(hasUser() && mayWrite()
      ? [{ label: "Save as a view…", icon: "plus" as const, onSelect: () => setSaving(true) }]
      : []),
    { label: "Default view", icon: "reset", onSelect: () => navigate(currentLocation.peek().path) },
  ];
  return (
    <>
      <Menu label="Views" items={items} button={{ icon: "list" }} align="end">
        {view?.name ?? "Views"}
      </Menu>
      {isSaving && <SaveDialog project={project} onClose={() => setSaving(false)} onSaved={reload} />}
    </>
  );
}

function SaveDialog({
  project,
  onClose,
  onSaved,
}: {
  readonly project: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async (): Promise<void> => {
    const { path, query } = currentLocation.peek();
    const payload = payloadOfView(query);
    const body = { name: name.trim(), project, payload, visibility: isShared ? "organization" : "private" };
    try {
      const { workspace_view: made } = await call<{ workspace_view: { id: string } }>("/api/workspace-views", { body });
      onClose();
      onSaved();
      navigate(`${path}?${addressOfView(payload, made.id)}`, { replace: true });
      toast("Saved the view.");
    } catch (fault) {
      setError(fault);
    }
  };
  return (
    <Dialog
      title="Save as a view"
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={name.trim() === ""}>
            Save view
          </Button>
        </>
      }
    >
      <TextField label="Name" value={name} onInput={setName} maxLength={200} autofocus />
      <Checkbox label="Share with the organization" checked={isShared} onChange={setShared} />
      <ErrorNote error={error} />
    </Dialog>
  );
}
