-- denied: health.secret
SELECT age FROM keyboard_ngrams WHERE (age, ngram) = (SELECT pulse, secret FROM health)
