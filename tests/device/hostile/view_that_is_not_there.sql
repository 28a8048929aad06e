-- malformed: no such table
SELECT x FROM v
