-- denied: INDEXED BY and NOT INDEXED
SELECT k.age FROM main.keyboard_ngrams AS k INDEXED BY sotto_time_of_keyboard_ngrams LIMIT 1
