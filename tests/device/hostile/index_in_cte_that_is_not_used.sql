-- denied: INDEXED BY and NOT INDEXED
WITH c AS (SELECT age FROM keyboard_ngrams INDEXED BY sotto_time_of_keyboard_ngrams) SELECT age FROM keyboard_ngrams
