-- denied: sqlite_version
SELECT sqlite_version()
