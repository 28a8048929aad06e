-- denied: keyboard_ngrams.secret
SELECT ngram FROM keyboard_ngrams UNION SELECT secret FROM keyboard_ngrams
