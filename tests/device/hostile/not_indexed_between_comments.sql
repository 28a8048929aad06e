-- denied: INDEXED BY and NOT INDEXED
SELECT age FROM keyboard_ngrams NOT/**/INDEXED LIMIT 1
