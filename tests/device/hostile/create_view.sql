-- denied: not a query
CREATE TEMP VIEW v AS SELECT secret FROM keyboard_ngrams
