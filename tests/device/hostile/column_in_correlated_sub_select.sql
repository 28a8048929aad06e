-- denied: keyboard_ngrams.secret
SELECT age FROM keyboard_ngrams AS k WHERE age = (SELECT max(pulse) FROM health WHERE ngram = k.secret)
