CREATE SCHEMA imports;
GRANT USAGE ON SCHEMA imports TO tidemark_imports, tidemark_imports_worker, tidemark_definer;
