-- denied: random
SELECT age FROM keyboard_ngrams ORDER BY random()
