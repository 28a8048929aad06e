-- denied: parameters
SELECT age FROM keyboard_ngrams WHERE age > $a
