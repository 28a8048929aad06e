-- denied: not a query
DELETE FROM keyboard_ngrams
