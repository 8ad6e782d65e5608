-- Runs, projects and organizations whose time of grace is over are removed, by the role that no request runs as.
GRANT SELECT, DELETE ON traces.traces, traces.segments, traces.minutes, traces.event_counts, traces.compaction_work
  TO tidemark_traces_worker;
GRANT UPDATE (version) ON traces.traces TO tidemark_traces_worker;
