-- Organizations whose time of grace is over are removed.
GRANT DELETE ON usage.month_requests TO tidemark_usage_worker;
