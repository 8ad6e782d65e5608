-- Reports and views of a deleted project are hidden as long as it is. Writers set app.sees_deleted where the rest has to be seen: to remove it.
ALTER POLICY tenant ON reports.reports
  USING (org_id = platform.org_id()
         AND (project_id IS NULL OR platform.sees_deleted()
              -- Asked once for a statement, not for each row.
              OR project_id NOT IN (SELECT d.id FROM runs.deleted_projects_v1(platform.org_id()) AS d (id))));
ALTER POLICY tenant ON reports.views
  USING (org_id = platform.org_id()
         AND (project IS NULL OR platform.sees_deleted() OR NOT runs.names_deleted_project_v1(org_id, project)));
