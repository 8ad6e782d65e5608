-- Rows that were deleted and can still be restored are hidden by the policies of their tables.
CREATE FUNCTION platform.sees_deleted() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('app.sees_deleted', true), '') = 'on';
COMMENT ON FUNCTION platform.sees_deleted IS
  'Whether this transaction sees deleted rows beside the others: only those that delete, restore, list and remove them do.';
