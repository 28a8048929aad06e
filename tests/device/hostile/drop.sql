-- denied: not a query
DROP TABLE keyboard_ngrams
