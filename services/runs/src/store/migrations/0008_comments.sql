-- What every function and view promises, so that schema.sql can be read alone.

COMMENT ON FUNCTION runs.adopt_changes_v1 IS
  'Rows from another server (a restored dump) carry transaction numbers that this server has not reached; every '
  'look for changes would return them until it has. Gives some of them a number of this server and returns how '
  'many.';

COMMENT ON FUNCTION runs.changed_page_v1 IS
  'Returns a page of the runs whose last change the given snapshot did not see, whatever their status, in the order '
  '(changed_xid, id), behind the given position. A reader that goes on with the snapshot of its first page misses '
  'nothing, in whatever order transactions commit, and gets nothing twice.';

COMMENT ON FUNCTION runs.index_run IS
  'Keeps texts and counters with the run, in the statement that writes it.';

COMMENT ON FUNCTION runs.lock_state_v1 IS
  'Locks a run until the end of the transaction. No row: the organization has no such run. locked_at is the time to '
  'give to a transition: read after the lock was obtained, and from one clock for all processes.';

COMMENT ON FUNCTION runs.mark_change IS
  'Notes the transaction that changed the status or the stop request of a run, so that no writer can forget it.';

COMMENT ON FUNCTION runs.notes_of IS
  'Returns the texts in a run''s metadata that are about the run. A NUL and half of a surrogate pair, which JSON '
  'can write and a text cannot hold, are read as U+FFFD.';

COMMENT ON FUNCTION runs.running_page_v1 IS
  'Returns a page of running runs of all organizations, in the order (org_id, id), behind the given position. The '
  'snapshot that saw them is in every row, and in a row without a run when there is none. The plan is fixed to the '
  'index: a few rows are wanted at the end of very many, which statistics do not say.';

COMMENT ON FUNCTION runs.searchable IS
  'Returns what searches read of a text: its first 32 KiB, its ASCII letters lowered. Collation C knows no other '
  'letters.';

COMMENT ON FUNCTION runs.searchable_tags IS
  'Returns the tags that end within the first 32 KiB of all of them, joined by spaces.';

COMMENT ON FUNCTION runs.set_state_v1 IS
  'Writes the state of a run that lock_state_v1 locked, and keeps its project''s counters. new_lifecycle null: the '
  'entries stay as they are.';

COMMENT ON FUNCTION runs.take_run_id IS
  'Takes an id for an organization, in the transaction that creates the run; false when it is taken already, by any '
  'organization. Waits for a transaction that is about to take or to give up the same id.';

COMMENT ON FUNCTION runs.texts_of IS
  'Returns what searches read of a run of the named project.';

COMMENT ON VIEW runs.found_runs IS
  'What searches read, with the rights of its owner, a role without login: row level security would keep PostgreSQL '
  'from using the indexes. Compares the organization itself.';

COMMENT ON VIEW runs.project_refs_v1 IS
  'The projects that API keys can be bound to.';

COMMENT ON VIEW runs.run_control_v1 IS
  'The control state of runs, for the control service: of its transaction''s organization only, because the view '
  'checks rights and rows as its reader.';

COMMENT ON VIEW runs.run_refs_v1 IS
  'Whether a run exists, and in which project, for writes of run data.';
