-- denied: sqlite_master
SELECT sql FROM sqlite_schema
