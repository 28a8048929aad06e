-- denied: INDEXED BY and NOT INDEXED
SELECT age FROM keyboard_ngrams INDEXED BY sqlite_autoindex_keyboard_ngrams_1 LIMIT 1
