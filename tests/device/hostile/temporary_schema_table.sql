-- denied: sqlite_temp_master
SELECT name FROM sqlite_temp_schema
