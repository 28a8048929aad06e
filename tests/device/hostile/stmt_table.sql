-- refused
SELECT sql FROM sqlite_stmt
