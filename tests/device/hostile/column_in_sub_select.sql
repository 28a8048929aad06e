-- denied: health.secret
SELECT age FROM keyboard_ngrams WHERE ngram IN (SELECT secret FROM health)
