-- malformed: no such table
SELECT value FROM generate_series(1, 1000000000)
