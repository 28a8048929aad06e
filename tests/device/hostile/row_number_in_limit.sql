-- denied: identifies an event
SELECT age FROM keyboard_ngrams LIMIT (SELECT min(rowid) FROM health)
