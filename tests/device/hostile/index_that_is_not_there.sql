-- denied: INDEXED BY and NOT INDEXED
SELECT age FROM keyboard_ngrams INDEXED BY nothing
