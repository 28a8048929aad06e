-- denied: row_number
SELECT row_number() OVER (ORDER BY age) FROM keyboard_ngrams
