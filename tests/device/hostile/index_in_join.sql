-- denied: INDEXED BY and NOT INDEXED
SELECT h.pulse FROM keyboard_ngrams k JOIN health h INDEXED BY sotto_time_of_health ON h.pulse > k.age LIMIT 1
