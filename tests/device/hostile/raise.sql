-- refused
SELECT RAISE(IGNORE) FROM keyboard_ngrams
