-- denied: row_number
SELECT age, row_number() OVER () FROM keyboard_ngrams
