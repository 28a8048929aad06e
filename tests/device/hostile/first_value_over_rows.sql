-- denied: first_value
SELECT first_value(age) OVER () FROM keyboard_ngrams
