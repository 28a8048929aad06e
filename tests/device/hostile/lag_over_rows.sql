-- denied: lag
SELECT age - lag(age) OVER () FROM keyboard_ngrams
