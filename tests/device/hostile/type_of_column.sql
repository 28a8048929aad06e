-- denied: typeof
SELECT typeof(secret) FROM keyboard_ngrams
