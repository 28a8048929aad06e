-- denied: sqlite_master
SELECT name FROM sqlite_master
