-- denied: not a query
ANALYZE
