-- denied: ->>
SELECT ngram ->> 'x' FROM keyboard_ngrams
