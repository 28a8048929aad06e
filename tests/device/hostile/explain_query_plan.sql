-- denied: EXPLAIN
EXPLAIN QUERY PLAN SELECT age FROM keyboard_ngrams
