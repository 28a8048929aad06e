-- denied: INDEXED BY and NOT INDEXED
SELECT age FROM [keyboard_ngrams] INDEXED BY [sotto_time_of_keyboard_ngrams] LIMIT 1
