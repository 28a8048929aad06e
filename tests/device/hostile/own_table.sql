-- denied: sotto_streams
SELECT name FROM sotto_streams
