-- denied: PRAGMA
PRAGMA query_only = OFF
