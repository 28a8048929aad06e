-- denied: identifies an event
SELECT a FROM (SELECT 1 AS a UNION ALL SELECT * FROM health)
