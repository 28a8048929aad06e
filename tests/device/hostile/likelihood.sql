-- denied: likelihood
SELECT age FROM keyboard_ngrams WHERE likelihood(age > 20, 0.5)
