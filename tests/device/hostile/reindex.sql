-- denied: not a query
REINDEX keyboard_ngrams
