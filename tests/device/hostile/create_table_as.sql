-- denied: not a query
CREATE TABLE stolen AS SELECT secret FROM keyboard_ngrams
