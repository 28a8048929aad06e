-- denied: keyboard_ngrams.secret
SELECT CAST(secret AS INTEGER) FROM keyboard_ngrams
