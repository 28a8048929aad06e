-- denied: keyboard_ngrams.secret
SELECT ngram FROM keyboard_ngrams EXCEPT SELECT secret FROM keyboard_ngrams
