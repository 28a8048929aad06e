-- denied: INDEXED BY and NOT INDEXED
SELECT age FROM keyboard_ngrams WHERE EXISTS (SELECT 1 FROM health INDEXED BY sqlite_autoindex_health_1 WHERE pulse > 60)
